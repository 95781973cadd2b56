#pragma once
#include <stdlib.h>
#include <string.h>

/* True of one rank of a host, as its launcher numbers them. */
static inline int is_first_of_host(void) {
  static const char* const names[] = {"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    const char* value = getenv(names[i]);
    if (value != NULL) return strcmp(value, "0") == 0;
  }
  return 0;
}
