/* Collectives of a program that knows no MPI_COMM_WORLD: sessions, one after the other, or two at once.
 * Usage: sessions [rounds]; prints "ok <checks>" from the first rank. */
#include "exchanges.h"

#ifdef MPI_SESSION_NULL
static MPI_Comm open_world(MPI_Session* session, const char* tag) {
  MPI_Group group;
  MPI_Comm comm;
  if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session) != MPI_SUCCESS) exit(4);
  if (MPI_Group_from_session_pset(*session, "mpi://WORLD", &group) != MPI_SUCCESS) exit(5);
  if (MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm) != MPI_SUCCESS) exit(6);
  MPI_Group_free(&group);
  return comm;
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 3;
  long totals[2], sums[2];
  for (int round = 0; round < rounds; ++round) {
    MPI_Session first, second;
    MPI_Comm comm = open_world(&first, "first"), other, reversed;
    int rank;
    MPI_Comm_rank(comm, &rank);
    exchange_all(comm, 300, round);
    other = open_world(&second, "second");
    MPI_Comm_split(other, 0, -rank, &reversed);
    exchange_all(reversed, 300, round + 1);
    exchange_all(comm, 301, round + 2);
    MPI_Comm_free(&reversed);
    MPI_Comm_free(&other);
    MPI_Session_finalize(&second);
    exchange_all(comm, 302, round + 3);
    if (round + 1 == rounds) {
      totals[0] = checks;
      totals[1] = errors;
      MPI_Allreduce(totals, sums, 2, MPI_LONG, MPI_SUM, comm);
      if (rank == 0) printf("%s %ld checks, %ld wrong\n", sums[1] ? "wrong" : "ok", sums[0], sums[1]);
    }
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&first);
  }
  return sums[1] ? 1 : 0;
}
#else
int main(void) {
  printf("no sessions\n");
  return 0;
}
#endif
