/* What Hocket does on its own account must not show: messages that match anything, probes, attributes, names, error
 * handlers and topologies of the program's communicators. */
#include <string.h>

#include "exchanges.h"

static int copied, deleted;

static int copy_attribute(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)keyval, (void)extra;
  ++copied;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int keyval, void* in, void* extra) {
  (void)comm, (void)keyval, (void)in, (void)extra;
  ++deleted;
  return MPI_SUCCESS;
}

static int calls_of_handler;
static void handler(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++calls_of_handler;
}

/* Receives that match every message are open while collectives run; they get what the program sends at last. */
static void wildcards(MPI_Comm comm) {
  enum { receives = 8 };
  int rank, n, flag, got[receives];
  MPI_Request requests[receives];
  MPI_Status status;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  for (int i = 0; i < receives; ++i) MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[i]);
  for (int round = 0; round < 3; ++round) exchange_all(comm, 300 + round, round);
  MPI_Testsome(receives, requests, &flag, got, MPI_STATUSES_IGNORE);
  check(flag == 0);
  MPI_Barrier(comm);
  for (int i = 0; i < receives; ++i) {
    const int out = element(rank, i, 0, 77);
    MPI_Send(&out, 1, MPI_INT, (rank + 1) % n, i, comm);
  }
  for (int i = 0; i < receives; ++i) {
    MPI_Wait(&requests[i], &status);
    check(status.MPI_SOURCE == (rank + n - 1) % n && status.MPI_TAG == i);
    check(got[i] == element(status.MPI_SOURCE, i, 0, 77));
  }
  for (int round = 0; round < 3; ++round) {
    exchange_all(comm, 300, round);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status);
    check(!flag);
  }
  MPI_Barrier(comm);
}

int main(int argc, char** argv) {
  int keyval, found, status, value = 5, length, rank, n;
  int *attached, dimensions[1], periods[1], coordinates[1];
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Comm comm, grid, copy;
  MPI_Errhandler own, current;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
  wildcards(MPI_COMM_WORLD);
  wildcards(comm);

  MPI_Comm_create_keyval(copy_attribute, delete_attribute, &keyval, NULL);
  MPI_Comm_set_attr(comm, keyval, &value);
  MPI_Comm_create_errhandler(handler, &own);
  MPI_Comm_set_errhandler(comm, own);
  MPI_Comm_set_name(comm, "ours");
  MPI_Comm_dup(comm, &copy);
  check(copied == 1);
  exchange_all(comm, 300, 1);
  exchange_all(copy, 300, 2);
  check(copied == 1 && deleted == 0);
  MPI_Comm_get_attr(comm, keyval, &attached, &found);
  check(found && *attached == 5);
  MPI_Comm_get_errhandler(comm, &current);
  check(current == own && calls_of_handler == 0);
  MPI_Errhandler_free(&current);
  MPI_Comm_get_name(comm, name, &length);
  check(strcmp(name, "ours") == 0);
  MPI_Comm_free(&copy);
  check(deleted == 1);

  dimensions[0] = n;
  periods[0] = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dimensions, periods, 0, &grid);
  exchange_all(grid, 300, 3);
  MPI_Topo_test(grid, &status);
  check(status == MPI_CART);
  MPI_Cart_get(grid, 1, dimensions, periods, coordinates);
  check(dimensions[0] == n && periods[0] == 1 && coordinates[0] == rank);
  MPI_Comm_free(&grid);

  MPI_Comm_delete_attr(comm, keyval);
  check(deleted == 2);
  MPI_Comm_free_keyval(&keyval);
  check(keyval == MPI_KEYVAL_INVALID);
  exchange_all(comm, 300, 4);
  MPI_Errhandler_free(&own);
  MPI_Comm_free(&comm);
  return report();
}
