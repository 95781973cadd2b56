/* The library that is preloaded. It knows no MPI: it finds out which one the process uses, and only
 * if that is the one the runtime beside it was built for does it load the runtime. In any other
 * process (a shell, another MPI) it passes calls on and says so once.
 *
 * Arguments are carried as machine words: handles are ints in MPICH and pointers in Open MPI, and
 * both calling conventions in use (System V x86-64, AAPCS64) pass either in one 64-bit slot. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef intptr_t word;
typedef int (*version_fn)(char*, int*);
typedef int (*words7_fn)(word, word, word, word, word, word, word);
typedef int (*words8_fn)(word, word, word, word, word, word, word, word);

/* Who serves each call: the runtime, or else the MPI library. */
enum { ALLTOALL, ALLGATHER, ALLGATHERV, CALLS };
static const char* const runtime_names[CALLS] = {"hocket_alltoall", "hocket_allgather", "hocket_allgatherv"};
static const char* const mpi_names[CALLS] = {"PMPI_Alltoall", "PMPI_Allgather", "PMPI_Allgatherv"};
static void* serves[CALLS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* MPI may have been loaded with local scope (Python extensions do that): then RTLD_NEXT does not
 * see it, but its name finds the copy that is already there. */
static void* find_mpi_symbol(const char* name) {
  static const char* const libraries[] = {"libmpi.so.12", "libmpi.so.40", "libmpi_abi.so.1", "libmpi_abi.so.0",
                                          "libmpi.so"};
  void* symbol = dlsym(RTLD_NEXT, name);
  for (size_t i = 0; symbol == NULL && i < sizeof libraries / sizeof *libraries; ++i) {
    void* library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
    if (library != NULL) symbol = dlsym(library, name);
  }
  return symbol;
}

/* Blanks do not count: MPICH lines its version string up with them. */
static int begins_with(const char* text, const char* start) {
  for (; *start; ++start) {
    if (*start == ' ') continue;
    while (*text == ' ' || *text == '\t') ++text;
    if (*text++ != *start) return 0;
  }
  return 1;
}

static const char* why_no_runtime(void) {
  const char* path = getenv("HOCKET_RUNTIME");
  const char* built_for = getenv("HOCKET_RUNTIME_MPI");
  if (path == NULL || built_for == NULL)
    return "HOCKET_RUNTIME and HOCKET_RUNTIME_MPI are not set; start the program with 'hocket run'";
  version_fn get_version = (version_fn)(uintptr_t)find_mpi_symbol("MPI_Get_library_version");
  char version[8192] = ""; /* MPI_MAX_LIBRARY_VERSION_STRING of every MPI we know is at most this */
  int length = 0;
  if (get_version == NULL || get_version(version, &length) != 0) return "this process has no MPI that Hocket knows";
  version[sizeof version - 1] = 0;
  if (!begins_with(version, built_for))
    return "this process uses another MPI than the runtime was built for; start it with the matching --mpi";
  void* runtime = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (runtime == NULL) return dlerror();
  void* found[CALLS];
  for (int call = 0; call < CALLS; ++call) {
    found[call] = dlsym(runtime, runtime_names[call]);
    if (found[call] == NULL) return "the runtime lacks a call; run 'hocket run' again to rebuild it";
  }
  memcpy(serves, found, sizeof serves);
  return NULL;
}

/* One process speaks: the first rank, as its launcher numbers it, or whoever has no number. */
static int speaks(void) {
  static const char* const names[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    const char* value = getenv(names[i]);
    if (value != NULL) return strcmp(value, "0") == 0;
  }
  return 1;
}

static void find_servers(void) {
  const char* reason = why_no_runtime();
  if (reason == NULL) return;
  if (speaks()) fprintf(stderr, "hocket: not active: %s\n", reason);
  for (int call = 0; call < CALLS; ++call) serves[call] = find_mpi_symbol(mpi_names[call]);
}

static uintptr_t server_of(int call) {
  pthread_once(&once, find_servers);
  if (serves[call] == NULL) {
    fprintf(stderr, "hocket: no %s to pass the call on to\n", mpi_names[call]);
    abort();
  }
  return (uintptr_t)serves[call];
}

int MPI_Alltoall(word sendbuf, word sendcount, word sendtype, word recvbuf, word recvcount, word recvtype, word comm) {
  return ((words7_fn)server_of(ALLTOALL))(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Allgather(word sendbuf, word sendcount, word sendtype, word recvbuf, word recvcount, word recvtype, word comm) {
  return ((words7_fn)server_of(ALLGATHER))(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Allgatherv(word sendbuf, word sendcount, word sendtype, word recvbuf, word recvcounts, word displs,
                   word recvtype, word comm) {
  return ((words8_fn)server_of(ALLGATHERV))(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
}
