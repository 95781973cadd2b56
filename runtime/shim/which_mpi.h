#pragma once
/* Tells whether the MPI library of this process is the one that a binary was compiled for. */
#include <stdlib.h>
#include <string.h>

typedef int (*mpi_version_fn)(char*, int*);
typedef int (*mpi_abi_fn)(int*, int*);

/* Blanks do not count: MPICH lines its version string up with them. */
static int begins_with(const char* text, const char* start) {
  for (; *start; ++start) {
    if (*start == ' ') continue;
    while (*text == ' ' || *text == '\t') ++text;
    if (*text++ != *start) return 0;
  }
  return 1;
}

/* `built_for`: "MPI ABI 1." for the ABI of the MPI standard, which any library may speak, else how the library's
 * version begins. The version alone does not do: that of MPICH is the same in both of its ABIs, whose handles differ.
 * `get_version`, `get_abi`: MPI_Get_library_version and MPI_Abi_get_version, NULL where the MPI has none. */
static int is_mpi(const char* built_for, mpi_version_fn get_version, mpi_abi_fn get_abi) {
  static const char standard[] = "MPI ABI ";
  int major = -1, minor = -1, length = 0;
  if (get_abi != NULL && get_abi(&major, &minor) == 0 && major > 0) {
    if (strncmp(built_for, standard, sizeof standard - 1) != 0) return 0;
    return atoi(built_for + sizeof standard - 1) == major;
  }
  enum { MOST = 8192 };                      /* MPI_MAX_LIBRARY_VERSION_STRING of every MPI we know is at most this */
  char* const version = calloc(1, MOST + 1); /* stacks of threads are small */
  const int known = get_version != NULL && version != NULL && get_version(version, &length) == 0;
  const int same = known && begins_with(version, built_for);
  free(version);
  return same;
}
