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

#include "calls.h"
#include "which_mpi.h"

typedef intptr_t word;

enum {
#define NUMBER(mpi_name, runtime_name, arguments) CALL_##mpi_name,
  CALLS(NUMBER) CALL_COUNT
#undef NUMBER
};

static const struct {
  const char *mpi, *runtime;
} names[CALL_COUNT] = {
#define NAMES(mpi_name, runtime_name, arguments) {"PMPI_" #mpi_name, "hocket_" #runtime_name},
    CALLS(NAMES)
#undef NAMES
};

/* Who serves each call: the MPI library, or the runtime if it is active and serves calls that this MPI has. */
static void *of_mpi[CALL_COUNT], *of_runtime[CALL_COUNT];
/* How many requests of the program the runtime serves. */
static const int no_requests = 0;
static const int* live_requests = &no_requests;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* MPI may have been loaded with local scope (Python extensions do that): then RTLD_NEXT does not
 * see it, but its name finds the copy that is already there. */
static void* find_mpi_symbol(const char* name) {
  static const char* const libraries[] = {"libmpi.so.12",    "libmpi.so.40",    "libmpich.so.12",
                                          "libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi.so"};
  void* symbol = dlsym(RTLD_NEXT, name);
  for (size_t i = 0; symbol == NULL && i < sizeof libraries / sizeof *libraries; ++i) {
    void* library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
    if (library != NULL) symbol = dlsym(library, name);
  }
  return symbol;
}

static const char* why_no_runtime(void) {
  const char* path = getenv("HOCKET_RUNTIME");
  const char* built_for = getenv("HOCKET_RUNTIME_MPI");
  if (path == NULL || built_for == NULL)
    return "HOCKET_RUNTIME and HOCKET_RUNTIME_MPI are not set; start the program with 'hocket run'";
  mpi_version_fn get_version = (mpi_version_fn)(uintptr_t)find_mpi_symbol("MPI_Get_library_version");
  mpi_abi_fn get_abi = (mpi_abi_fn)(uintptr_t)find_mpi_symbol("MPI_Abi_get_version");
  if (get_version == NULL) return "this process has no MPI that Hocket knows";
  if (!is_mpi(built_for, get_version, get_abi))
    return "this process uses another MPI than the runtime was built for; start it with the matching --mpi and --abi";
  void* runtime = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (runtime == NULL) return dlerror();
  void* found[CALL_COUNT];
  for (int call = 0; call < CALL_COUNT; ++call) {
    found[call] = dlsym(runtime, names[call].runtime);
    if (found[call] == NULL) return "the runtime lacks a call; run 'hocket run' again to rebuild it";
  }
  const int* requests = dlsym(runtime, "hocket_live_requests");
  if (requests == NULL) return "the runtime lacks its number of requests; run 'hocket run' again to rebuild it";
  live_requests = requests;
  for (int call = 0; call < CALL_COUNT; ++call)
    if (of_mpi[call] != NULL) of_runtime[call] = found[call];
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
  for (int call = 0; call < CALL_COUNT; ++call) of_mpi[call] = find_mpi_symbol(names[call].mpi);
  const char* reason = why_no_runtime();
  if (reason != NULL && speaks()) fprintf(stderr, "hocket: not active: %s\n", reason);
}

/* `wanted`: the runtime has something to do in this call. */
static uintptr_t server_of(int call, int wanted) {
  pthread_once(&once, find_servers);
  void* server = wanted && of_runtime[call] != NULL ? of_runtime[call] : of_mpi[call];
  if (server == NULL) {
    fprintf(stderr, "hocket: no %s to pass the call on to\n", names[call].mpi);
    abort();
  }
  return (uintptr_t)server;
}

static int any_live_requests(void) { return __atomic_load_n(live_requests, __ATOMIC_RELAXED) != 0; }

/* Parameters and arguments, by their number. */
#define P1 word a1
#define P2 P1, word a2
#define P3 P2, word a3
#define P4 P3, word a4
#define P5 P4, word a5
#define P6 P5, word a6
#define P7 P6, word a7
#define P8 P7, word a8
#define P9 P8, word a9
#define P10 P9, word a10
#define P11 P10, word a11
#define P12 P11, word a12
#define A1 a1
#define A2 A1, a2
#define A3 A2, a3
#define A4 A3, a4
#define A5 A4, a5
#define A6 A5, a6
#define A7 A6, a7
#define A8 A7, a8
#define A9 A8, a9
#define A10 A9, a10
#define A11 A10, a11
#define A12 A11, a12

#define CALL_SERVER(server, n) ((int (*)(P##n))(server))(A##n)
#define DEFINE_COLLECTIVE(mpi_name, runtime_name, n) \
  int MPI_##mpi_name(P##n) { return CALL_SERVER(server_of(CALL_##mpi_name, 1), n); }
#define DEFINE_REQUEST(mpi_name, runtime_name, n) \
  int MPI_##mpi_name(P##n) { return CALL_SERVER(server_of(CALL_##mpi_name, any_live_requests()), n); }
#define DEFINE_WAITING(mpi_name, runtime_name, n)                              \
  int MPI_##mpi_name(P##n) {                                                   \
    if (any_live_requests()) ((int (*)(void))server_of(CALL_##mpi_name, 1))(); \
    return CALL_SERVER(server_of(CALL_##mpi_name, 0), n);                      \
  }
COLLECTIVE_CALLS(DEFINE_COLLECTIVE)
SESSION_CALLS(DEFINE_COLLECTIVE)
REQUEST_CALLS(DEFINE_REQUEST)
BLOCKING_CALLS(DEFINE_REQUEST)
WAITING_CALLS(DEFINE_WAITING)
