/* The grid of calls in programs that end, and that grow, in one way after the other. Knows nothing of Hocket.
 * Usage: lives WAY [WORD...]   with words of call_grid; rows are made
 *    returns=PLUGIN  by main; by the destructor of a library that is closed; after main by an exit handler that was
 * there before MPI, and by a destructor, which ends MPI. The library is made of this file, too (PLUGIN). signalled by
 * main; by a signal handler, which leaves; by an exit handler, which ends MPI leaves          by main, which ends MPI
 * and leaves without exit handlers grows           in MPI_COMM_WORLD; when its halves have connected; with processes
 * that it has started by one call and by the other, and by each side alone sessions        in a session; with Open MPI
 * also connected, and with started processes: MPICH 5.0.2 crashes there Prints "ok <checks>" once for each
 * MPI_COMM_WORLD. */
#define HAS_OWN_MAIN
#include "call_grid.c"

#ifdef PLUGIN
void prepare_plugin(int argc, char** argv) { prepare_rows(argc, argv); }
__attribute__((destructor)) static void end_of_plugin(void) {
  make_rows(MPI_COMM_WORLD);
  check(world_ranks > 0);
  if (errors > 0) puts("wrong in the library");
}
#else
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef OPEN_MPI
enum { HAS_PORTS = 1, STARTS_FROM_SESSIONS = 1 };
#else /* MPICH 5.0.2: MPI_Open_port fails, and MPI_Comm_spawn from a session crashes */
enum { HAS_PORTS = 0, STARTS_FROM_SESSIONS = 0 };
#endif

static const char* way;

static int is_way(const char* name) { return strncmp(way, name, strlen(name)) == 0; }

static void end_by_handler(void) {
  if (is_way("returns") || is_way("signalled")) make_rows(MPI_COMM_WORLD);
  if (is_way("signalled")) report();
}

__attribute__((destructor)) static void end_by_destructor(void) {
  if (way == NULL || !is_way("returns")) return;
  make_rows(MPI_COMM_WORLD);
  report();
}

static void end_by_signal(int number) {
  make_rows(MPI_COMM_WORLD);
  exit(number == SIGTERM ? 0 : 1);
}

static void close_plugin(int argc, char** argv) {
  void* const plugin = dlopen(way + strlen("returns="), RTLD_NOW | RTLD_LOCAL);
  void (*const prepare)(int, char**) = plugin == NULL ? NULL : (void (*)(int, char**))dlsym(plugin, "prepare_plugin");
  check(prepare != NULL);
  if (prepare == NULL) return;
  prepare(argc, argv);
  check(dlclose(plugin) == 0);
}

/* Both sides of an intercommunicator together, and each alone. */
static void make_rows_with(MPI_Comm inter, int high) {
  MPI_Comm all, own;
  MPI_Intercomm_merge(inter, high, &all);
  make_rows(all);
  MPI_Comm_split(all, high, 0, &own);
  make_rows(own);
  MPI_Comm_free(&own);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&inter);
}

static void connect_halves(MPI_Comm comm) {
  char port[MPI_MAX_PORT_NAME];
  int rank, n;
  MPI_Comm half, inter;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  const int high = rank >= n / 2;
  MPI_Comm_split(comm, high, rank, &half);
  if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, comm);
  if (high)
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter);
  else
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter);
  if (rank == 0) MPI_Close_port(port);
  make_rows_with(inter, high);
  MPI_Comm_free(&half);
}

static void start_processes(MPI_Comm comm, char** argv) {
  int n;
  MPI_Comm inter;
  MPI_Comm_size(comm, &n);
  argv[1] = (char*)"grows";
  MPI_Comm_spawn(argv[0], argv + 1, n, MPI_INFO_NULL, 0, comm, &inter, MPI_ERRCODES_IGNORE);
  make_rows_with(inter, 0);
  char *commands[2] = {argv[0], argv[0]}, **arguments[2] = {argv + 1, argv + 1};
  const int numbers[2] = {1, n - 1};
  const MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
  MPI_Comm_spawn_multiple(2, commands, arguments, numbers, infos, 0, comm, &inter, MPI_ERRCODES_IGNORE);
  make_rows_with(inter, 0);
}

static int in_sessions(char** argv) {
#ifdef MPI_SESSION_NULL
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS) return 4;
  if (MPI_Group_from_session_pset(session, "mpi://WORLD", &group) != MPI_SUCCESS) return 5;
  if (MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm) != MPI_SUCCESS) return 6;
  MPI_Group_free(&group);
  make_rows(comm);
  if (HAS_PORTS) connect_halves(comm);
  if (STARTS_FROM_SESSIONS) start_processes(comm, argv);
  const int status = report_on(comm);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  return status;
#else
  (void)argv;
  puts("no sessions");
  return 0;
#endif
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  int threads;
  MPI_Comm parent;
  way = argv[1];
  prepare_rows(argc, argv);
  if (is_way("sessions")) return in_sessions(argv);
  atexit(end_by_handler);
  MPI_Init_thread(&argc, &argv, words.threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &threads);
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL) make_rows(MPI_COMM_WORLD);
  if (is_way("returns")) {
    close_plugin(argc, argv);
    return 0;
  }
  if (is_way("signalled")) {
    signal(SIGTERM, end_by_signal);
    raise(SIGTERM);
  }
  if (parent != MPI_COMM_NULL) {
    make_rows_with(parent, 1);
  } else if (is_way("grows")) {
    if (HAS_PORTS) connect_halves(MPI_COMM_WORLD);
    start_processes(MPI_COMM_WORLD, argv);
  }
  const int status = report();
  if (is_way("leaves")) _exit(status);
  return status;
}
#endif
