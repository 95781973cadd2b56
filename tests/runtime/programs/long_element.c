/* A broadcast of one element of more than 2^30 bytes, with gaps on rank 1 only: the others have it in one piece. Every
 * byte is checked. Knows nothing of Hocket. Usage: long_element ; prints "ok <checks>" from rank 0, and before that how
 * many calls were scheduled. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "scheduled.h"

enum { PIECE = 1024, PIECES = (1 << 20) + 1 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const size_t step = rank == 1 ? 2 * PIECE : PIECE;
  MPI_Datatype piece, element;
  MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
  MPI_Type_create_hvector(PIECES, 1, (MPI_Aint)step, piece, &element);
  MPI_Type_commit(&element);
  unsigned char* const memory = malloc(step * PIECES);
  memset(memory, 0xAB, step * PIECES);
  for (size_t i = 0; rank == 0 && i < PIECES; ++i) memset(memory + i * step, (int)(i * 31 % 251), PIECE);
  MPI_Bcast(memory, 1, element, 0, MPI_COMM_WORLD);
  unsigned char expected[PIECE], gap[PIECE];
  memset(gap, 0xAB, PIECE);
  for (size_t i = 0; i < PIECES; ++i) {
    memset(expected, (int)(i * 31 % 251), PIECE);
    check(memcmp(memory + i * step, expected, PIECE) == 0);
    if (rank == 1) check(memcmp(memory + i * step + PIECE, gap, PIECE) == 0);
  }
  if (rank == 0) printf("scheduled %d\n", (int)scheduled_calls());
  MPI_Type_free(&element);
  MPI_Type_free(&piece);
  free(memory);
  return report();
}
