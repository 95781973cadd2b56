/* Holds many communicators at once and uses the first of them: MPI has few. Usage: held_comms N COUNT USED */
#include "exchanges.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int total = atoi(argv[1]), count = atoi(argv[2]), used = atoi(argv[3]);
  MPI_Comm* comms = malloc(sizeof(MPI_Comm) * total);
  for (int i = 0; i < total; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    if (i < used) exchange_all(comms[i], count, i);
  }
  for (int i = 0; i < total; ++i) {
    if (i < used) exchange_all(comms[i], count, i);
    MPI_Comm_free(&comms[i]);
  }
  free(comms);
  return report();
}
