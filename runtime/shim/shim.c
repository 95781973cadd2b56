/* The library that is preloaded. It knows no MPI: it finds out which one the process uses, and only
 * if that is the one the runtime beside it was built for does it load the runtime. In any other
 * process (a shell, another MPI) it passes calls on and says so once.
 *
 * Calls are caught under both names. MPI_X goes to the tool behind us that wraps it, if there is one,
 * whose PMPI_X comes back; PMPI_X is where Hocket acts. So it acts below all tools, whatever language
 * or tool a call comes through. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

#include "runtime/paths/paths.h"
#include "runtime/shim/calls.h"
#include "runtime/shim/mpi_library.h"

enum {
#define NUMBER(mpi_name, runtime_name, arguments) CALL_##mpi_name,
  CALLS(NUMBER) CALL_COUNT
#undef NUMBER
};

static const struct {
  const char *mpi, *pmpi, *runtime;
} names[CALL_COUNT] = {
#define NAMES(mpi_name, runtime_name, arguments) {"MPI_" #mpi_name, "PMPI_" #mpi_name, "hocket_" #runtime_name},
    CALLS(NAMES)
#undef NAMES
};

/* Where each call leads: to the MPI library; to the runtime, or also to the MPI library as long as there is
 * none; to a tool behind us, or null. */
static void *of_mpi[CALL_COUNT], *of_runtime[CALL_COUNT], *of_tool[CALL_COUNT];
static mpi_library mpi;
/* Hear of every call that the runtime gets: its number, where it returns to, its arguments; and that it is over.
 * Null unless somebody wants a report or a recording. */
static void (*call_begins)(int, const void*, const word*);
static void (*call_ends)(void);
/* Number of the program's requests that the runtime serves. */
static const int no_requests = 0;
static const int* live_requests = &no_requests;
/* Number of communicators that await the collective setup for their nonblocking calls. */
static const int* pending_setups = &no_requests;

/* The state of loading. Programs that make no call that could be scheduled never load the runtime. */
enum { NOTHING, MPI_KNOWN, ACTIVE };
static int known = NOTHING;
/* The state required by calls that matter only to the report and the recording. */
static int noted = MPI_KNOWN;
static pthread_once_t mpi_once = PTHREAD_ONCE_INIT, runtime_once = PTHREAD_ONCE_INIT;

static int missing(void) {
  fputs("hocket: the program calls a function that its MPI library does not have\n", stderr);
  abort();
}

/* The address of a table in an object's dynamic section, which with some C libraries holds an offset instead. */
static const void* table_of(const struct link_map* object, int tag) {
  for (const ElfW(Dyn)* entry = object->l_ld; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == tag) {
      const uintptr_t where = entry->d_un.d_ptr;
      return (const void*)(where < object->l_addr ? object->l_addr + where : where);
    }
  return NULL;
}

/* True if the object that holds `function` imports any MPI function by its PMPI_ name, which leads back to us. A tool
 * that asks the dynamic linker instead gets the MPI library's own. */
static int comes_back(const void* function) {
  struct link_map* object = NULL;
  mpi_library tool = library_with(function);
  if (tool.handle == NULL || dlinfo(tool.handle, RTLD_DI_LINKMAP, &object) != 0) return 0;
  const ElfW(Sym)* symbols = table_of(object, DT_SYMTAB);
  const char* strings = table_of(object, DT_STRTAB);
  const uint32_t *gnu_hash = table_of(object, DT_GNU_HASH), *hash = table_of(object, DT_HASH);
  if (symbols == NULL || strings == NULL || (hash == NULL && gnu_hash == NULL)) return 0;
  /* Imported symbols precede those in the GNU hash table; the old hash table has all symbols. */
  const uint32_t count = gnu_hash != NULL ? gnu_hash[1] : hash[1];
  for (uint32_t i = 1; i < count; ++i)
    if (symbols[i].st_shndx == SHN_UNDEF && strncmp(strings + symbols[i].st_name, "PMPI_", 5) == 0) return 1;
  return 0;
}

/* Where MPI_Comm_spawn of Open MPI has started this process (runtime/calls/entry_sessions.cpp). */
__attribute__((constructor)) static void take_settings(void) {
  const char* kept = getenv("OMPI_MCA_hocket");
  char* lines = kept == NULL || getenv("HOCKET_RUNTIME") != NULL ? NULL : strdup(kept);
  for (char *rest = NULL, *line = lines == NULL ? NULL : strtok_r(lines, "\n", &rest); line != NULL;
       line = strtok_r(NULL, "\n", &rest)) {
    char* equals = strchr(line, '=');
    if (equals == NULL) continue;
    *equals = 0;
    setenv(line, equals + 1, 1);
  }
  free(lines);
}

static int is_set(const char* name) {
  const char* value = getenv(name);
  return value != NULL && *value;
}

static int is(const char* name, const char* wanted) {
  const char* value = getenv(name);
  return value != NULL && strcmp(value, wanted) == 0;
}

static int is_spread(void) {
  const char* value = getenv("HOCKET_PATHS"); /* a file may follow */
  return value != NULL && strncmp(value, "spread", strlen("spread")) == 0;
}

/* The user wants every call passed on, whatever else is set. */
static int is_disabled(void) { return is("HOCKET_DISABLE", "1") || is_spread(); }

static int wants_noted_calls(void) {
  return is_set("HOCKET_REPORT") || is_set("HOCKET_RECORD") || is("HOCKET_LOG", "2");
}

static void find_mpi(void) {
  if (wants_noted_calls()) noted = ACTIVE;
  mpi = find_mpi_library(dlsym(RTLD_NEXT, HOCKET_LANDMARK));
  for (int call = 0; call < CALL_COUNT; ++call) {
    void* own = own_function(&mpi, names[call].pmpi);
    of_mpi[call] = of_runtime[call] = own != NULL ? own : (void*)(uintptr_t)missing;
    void* next = dlsym(RTLD_NEXT, names[call].mpi);
    if (next != own_function(&mpi, names[call].mpi)) of_tool[call] = next;
  }
  __atomic_store_n(&known, MPI_KNOWN, __ATOMIC_RELEASE);
}

/* Calls that the runtime must see from the first to the last: what becomes of its requests, and where a rank waits. */
static int tool_hides_calls(void) {
  static const int calls[] = {
#define LIST(mpi_name, runtime_name, arguments) CALL_##mpi_name,
      REQUEST_CALLS(LIST) BLOCKING_CALLS(LIST)
#undef LIST
  };
  for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i)
    if (of_tool[calls[i]] != NULL && !comes_back(of_tool[calls[i]])) return 1;
  return 0;
}

static const char* why_no_runtime(void) {
  if (is_spread()) return "HOCKET_PATHS=spread leaves every call to the MPI library";
  if (is_disabled()) return "HOCKET_DISABLE=1 passes every call to the MPI library";
  const char* built_for = getenv("HOCKET_RUNTIME"); /* its MPI, then its path */
  const char* path = built_for == NULL ? NULL : strchr(built_for, '/');
  if (path == NULL || path == built_for)
    return "HOCKET_RUNTIME does not name an MPI and its runtime; start the program with 'hocket run'";
  mpi_version_fn get_version = (mpi_version_fn)(uintptr_t)own_function(&mpi, HOCKET_LANDMARK);
  mpi_abi_fn get_abi = (mpi_abi_fn)(uintptr_t)own_function(&mpi, "PMPI_Abi_get_version");
  if (get_version == NULL) return "this process uses no MPI library that Hocket supports";
  if (!is_mpi(built_for, get_version, get_abi))
    return "this process uses another MPI than the runtime was built for; start it with the matching --mpi and --abi";
  if (tool_hides_calls())
    return "a tool loaded after Hocket does not call PMPI_ functions; preload the tool before Hocket";
  void* runtime = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (runtime == NULL) return dlerror();
  void* found[CALL_COUNT];
  for (int call = 0; call < CALL_COUNT; ++call) {
    found[call] = dlsym(runtime, names[call].runtime);
    if (found[call] == NULL) return "the runtime lacks a call; run 'hocket run' again to rebuild it";
  }
  const int* requests = dlsym(runtime, "hocket_live_requests");
  const int* theirs = dlsym(runtime, "hocket_pending_setups");
  int (*reporting)(void) = (int (*)(void))(uintptr_t)dlsym(runtime, "hocket_reporting");
  void* begins = dlsym(runtime, "hocket_call_begins");
  void* ends = dlsym(runtime, "hocket_call_ends");
  if (requests == NULL || theirs == NULL || reporting == NULL || begins == NULL || ends == NULL)
    return "the runtime lacks its counters or its report; run 'hocket run' again to rebuild it";
  if (reporting()) {
    call_begins = (void (*)(int, const void*, const word*))(uintptr_t)begins;
    call_ends = (void (*)(void))(uintptr_t)ends;
  }
  __atomic_store_n(&live_requests, requests, __ATOMIC_RELEASE);
  __atomic_store_n(&pending_setups, theirs, __ATOMIC_RELEASE);
  for (int call = 0; call < CALL_COUNT; ++call)
    if (of_mpi[call] != (void*)(uintptr_t)missing) of_runtime[call] = found[call];
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

static void start_runtime(void) {
  const char* reason = why_no_runtime();
  const int is_told = !is_disabled() || is("HOCKET_LOG", "1") || is("HOCKET_LOG", "2");
  if (reason != NULL && is_told && speaks()) fprintf(stderr, "hocket: not active: %s\n", reason);
  __atomic_store_n(&known, ACTIVE, __ATOMIC_RELEASE);
}

static void learn(int wanted) {
  pthread_once(&mpi_once, find_mpi);
  if (wanted == ACTIVE) pthread_once(&runtime_once, start_runtime);
}

/* MPI has begun: what is needed later is made ready now, as the program's calls are timed. */
static void start(int call) {
  learn(ACTIVE);
  if (of_runtime[call] != of_mpi[call]) ((int (*)(void))(uintptr_t)of_runtime[call])();
}

static void learn_noted(void) {
  learn(MPI_KNOWN);
  learn(noted);
}

static inline int knows(int wanted) { return __atomic_load_n(&known, __ATOMIC_ACQUIRE) >= wanted; }

static inline int any(const int* const* number) {
  return __atomic_load_n(__atomic_load_n(number, __ATOMIC_ACQUIRE), __ATOMIC_RELAXED) != 0;
}
static inline int any_live_requests(void) { return any(&live_requests); }
static inline int any_pending_setups(void) { return any(&pending_setups); }

static void tell(int call) {
  learn(MPI_KNOWN);
  if (any_live_requests()) ((int (*)(void))(uintptr_t)of_runtime[call])();
}

static void join(int call, word comm) {
  learn(MPI_KNOWN);
  if (any_live_requests() || any_pending_setups()) ((int (*)(word))(uintptr_t)of_runtime[call])(comm);
}

/* Calls that the MPI library itself makes by these names (as MPI-IO does) are not scheduled. */
#define FROM_MPI_LIBRARY is_inside(&mpi, __builtin_return_address(0))

/* One name of a call, which goes to `target`. What happens seldom is kept out of the way of all other calls, which
 * are a few loads and a jump. */
#define DEFINE_NAME(name, n, seldom, then_do, target)              \
  static __attribute__((noinline, cold)) int name##_seldom(P##n) { \
    then_do;                                                       \
    return PASS_TO(target, n);                                     \
  }                                                                \
  int name(P##n) {                                                 \
    if (__builtin_expect(seldom, 0)) return name##_seldom(A##n);   \
    return PASS_TO(target, n);                                     \
  }
#define TOOL(call) of_tool[CALL_##call]
#define DEFINE_BOTH(call, n, seldom, then_do, target)  \
  DEFINE_NAME(PMPI_##call, n, seldom, then_do, target) \
  DEFINE_NAME(MPI_##call, n, seldom, then_do, TOOL(call) != NULL ? TOOL(call) : (target))

/* Calls that the report is about. If there is one, it is told before and after the runtime does its part; that
 * is seldom. A function that is jumped to returns where the caller called. */
#define REPORT(call, n) \
  if (call_begins != NULL && !FROM_MPI_LIBRARY) return call##_reported(__builtin_return_address(0), A##n)
#define DEFINE_REPORTED(call, n, seldom, then_do, target)                                        \
  static __attribute__((noinline, cold)) int call##_reported(const void* caller, P##n) {         \
    call_begins(CALL_##call, caller, (const word[]){A##n});                                      \
    const int code = PASS_TO(of_runtime[CALL_##call], n);                                        \
    call_ends();                                                                                 \
    return code;                                                                                 \
  }                                                                                              \
  DEFINE_NAME(PMPI_##call, n, (seldom) || call_begins != NULL, then_do; REPORT(call, n), target) \
  DEFINE_NAME(MPI_##call, n, (seldom) || call_begins != NULL, then_do;                           \
              if (TOOL(call) == NULL) REPORT(call, n), TOOL(call) != NULL ? TOOL(call) : (target))

#define DEFINE_COLLECTIVE(call, runtime_name, n)          \
  DEFINE_REPORTED(call, n, !knows(ACTIVE), learn(ACTIVE), \
                  FROM_MPI_LIBRARY ? of_mpi[CALL_##call] : of_runtime[CALL_##call])
#define DEFINE_STARTING(call, runtime_name, n)                                          \
  static int call##_started(void* target, P##n) {                                       \
    const int code = PASS_TO(target, n);                                                \
    if (code == 0 && is_set("HOCKET_RUNTIME")) start(CALL_##call);                      \
    return code;                                                                        \
  }                                                                                     \
  int PMPI_##call(P##n) {                                                               \
    learn(MPI_KNOWN);                                                                   \
    return call##_started(of_mpi[CALL_##call], A##n);                                   \
  }                                                                                     \
  int MPI_##call(P##n) {                                                                \
    learn(MPI_KNOWN);                                                                   \
    return call##_started(TOOL(call) != NULL ? TOOL(call) : of_mpi[CALL_##call], A##n); \
  }
#define DEFINE_ENDING(call, runtime_name, n) \
  DEFINE_BOTH(call, n, !knows(noted), learn_noted(), noted == ACTIVE ? of_runtime[CALL_##call] : of_mpi[CALL_##call])
#define DEFINE_ALWAYS(call, runtime_name, n) \
  DEFINE_BOTH(call, n, !knows(ACTIVE), learn(ACTIVE), FROM_MPI_LIBRARY ? of_mpi[CALL_##call] : of_runtime[CALL_##call])
#define DEFINE_REQUEST(call, runtime_name, n)               \
  DEFINE_BOTH(call, n, !knows(MPI_KNOWN), learn(MPI_KNOWN), \
              any_live_requests() ? of_runtime[CALL_##call] : of_mpi[CALL_##call])
/* The runtime is told on the way to a tool, too: it may take the MPI library's function by other ways than its
 * name and not come back. */
#define DEFINE_WAITING(call, runtime_name, n) \
  DEFINE_BOTH(call, n, !knows(MPI_KNOWN) || any_live_requests(), tell(CALL_##call), of_mpi[CALL_##call])
#define DEFINE_JOINING(call, runtime_name, n)                                                                     \
  DEFINE_BOTH(call, n, !knows(MPI_KNOWN) || any_live_requests() || any_pending_setups(), join(CALL_##call, a##n), \
              of_mpi[CALL_##call])
COLLECTIVE_CALLS(DEFINE_COLLECTIVE)
STARTING_CALLS(DEFINE_STARTING)
ENDING_CALLS(DEFINE_ENDING)
SESSION_CALLS(DEFINE_ALWAYS)
SPAWNING_CALLS(DEFINE_ALWAYS)
TOPOLOGY_CALLS(DEFINE_ALWAYS)
REQUEST_CALLS(DEFINE_REQUEST)
BLOCKING_CALLS(DEFINE_REQUEST)
WAITING_CALLS(DEFINE_WAITING)
JOINING_CALLS(DEFINE_JOINING)
