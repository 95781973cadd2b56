/* A persistent all-to-all is active while ranks wait for each other in calls of all kinds, every byte checked.
 * Each round some ranks wait for the exchange before they come to the call, and some after. Knows nothing of
 * Hocket. Usage: persistent_elsewhere FILE ; prints "ok <checks>" from rank 0, exits 1 on a wrong byte. */
#include "persistent_exchange.h"

static const char* path;
static MPI_File file;
static MPI_Request made = MPI_REQUEST_NULL;

static void open_and_close(int salt) {
  (void)salt;
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_close(&file);
}

static void open_file(int salt) {
  (void)salt;
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
}

static void write_and_read(int salt) {
  int mine = value(rank, 0, 0, salt), found = 0;
  MPI_File_write_at_all(file, rank, &mine, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_File_read_at_all(file, rank, &found, 1, MPI_INT, MPI_STATUS_IGNORE);
  check(found == mine);
}

#ifndef OPEN_MPI /* split access of 5.0.11 hangs at times, also without Hocket */
static void split_write(int salt) {
  int mine = value(rank, 1, 0, salt), found = 0;
  MPI_File_write_at_all_begin(file, rank, &mine, 1, MPI_INT);
  MPI_File_write_at_all_end(file, &mine, MPI_STATUS_IGNORE);
  MPI_File_read_at_all_begin(file, rank, &found, 1, MPI_INT);
  MPI_File_read_at_all_end(file, &found, MPI_STATUS_IGNORE);
  check(found == mine);
}
#endif

static void close_file(int salt) {
  (void)salt;
  MPI_File_set_size(file, 0);
  MPI_File_close(&file);
}

static void make_a_persistent_bcast(int salt) {
  static int unused;
  (void)salt;
  MPI_Bcast_init(&unused, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &made);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Request_free(&made);
}

static void windows(int salt) {
  int mine = value(rank, 2, 0, salt), found = 0;
  MPI_Win window;
  MPI_Win_create(&mine, sizeof mine, sizeof mine, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Get(&found, 1, MPI_INT, (rank + 1) % n, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  check(found == value((rank + 1) % n, 2, 0, salt));
  MPI_Win_free(&window);
}

static void communicators(int salt) {
  MPI_Group all;
  MPI_Comm copy, grid;
  (void)salt;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
#ifdef OPEN_MPI /* 5.0.11 waits forever in the other call, also without Hocket */
  MPI_Comm_create_group(MPI_COMM_WORLD, all, 0, &copy);
#else
  MPI_Comm_create_from_group(all, "hocket.test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &copy);
#endif
  MPI_Cart_create(copy, 1, &n, (int[]){0}, 0, &grid);
  MPI_Comm_free(&grid);
  MPI_Comm_free(&copy);
  MPI_Group_free(&all);
}

#if MPI_VERSION >= 4
/* One rank after the other. */
static void large_counts(int salt) {
  int turn = value(0, 0, 0, salt), found = -1;
  if (rank > 0) MPI_Recv_c(&found, 1, MPI_INT, rank - 1, salt, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank + 1 < n) MPI_Ssend_c(&turn, 1, MPI_INT, rank + 1, salt, MPI_COMM_WORLD);
  check(rank == 0 || found == turn);
  MPI_Sendrecv_c(&rank, 1, MPI_INT, (rank + 1) % n, salt, &found, 1, MPI_INT, (rank + n - 1) % n, salt, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  check(found == (rank + n - 1) % n);
  found = rank;
  MPI_Sendrecv_replace_c(&found, 1, MPI_INT, (rank + 1) % n, salt, (rank + n - 1) % n, salt, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
  check(found == (rank + n - 1) % n);
  MPI_Bcast_c(&turn, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Allreduce_c(&rank, &found, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  check(found == n - 1);
}
#endif

int main(int argc, char** argv) {
  static void (*const calls[])(int) = {
      open_and_close, open_file,
      write_and_read,
#ifndef OPEN_MPI
      split_write,
#endif
      close_file,     make_a_persistent_bcast,
      windows,        communicators,
#if MPI_VERSION >= 4
      large_counts,
#endif
  };
  MPI_Init(&argc, &argv);
  know_ranks();
  path = argv[argc - 1];
  struct exchange x = make(MPI_COMM_WORLD, 9000);
  for (int call = 0; call < (int)(sizeof calls / sizeof *calls); ++call) {
    const int before = (rank + call) % 3 == 0;
    fill(&x, call);
    MPI_Start(&x.request);
    if (before) MPI_Wait(&x.request, MPI_STATUS_IGNORE);
    calls[call](call);
    if (!before) MPI_Wait(&x.request, MPI_STATUS_IGNORE);
    check(right(&x, call));
  }
  release(&x);
  return report();
}
