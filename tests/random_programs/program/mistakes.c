/* Errors that every rank makes and that the MPI library finds before anything is sent; attributes of communicators. */
#include <string.h>

#include "program.h"

static _Thread_local int handled; /* errors */

static void count_error(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++handled;
}

enum {
  NEGATIVE_COUNT,
  NO_TYPE,
  NEGATIVE_COUNTS,
  NONBLOCKING_COUNT,
  PERSISTENT_COUNT,
  GATHER_TYPE,
  NO_TOPOLOGY,
  WRONG_RANK,
  TRUNCATED,
  MISTAKES
};

/* Not a datatype that is not committed: the MPI libraries find it, a schedule does not. */
static int make_mistake(int which, const Slot* s) {
  int out[MOST_RANKS * 2] = {0}, in[MOST_RANKS * 2] = {0}, counts[MOST_RANKS], places[MOST_RANKS];
  MPI_Request request;
  for (int i = 0; i < s->n; ++i) counts[i] = 1, places[i] = i;
  switch (which) {
    case NEGATIVE_COUNT:
      return MPI_Alltoall(out, -1, MPI_INT, in, -1, MPI_INT, s->comm);
    case NO_TYPE:
      return MPI_Alltoall(out, 1, MPI_DATATYPE_NULL, in, 1, MPI_DATATYPE_NULL, s->comm);
    case NEGATIVE_COUNTS:
      for (int i = 0; i < s->n; ++i) counts[i] = -1;
      return MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, s->comm);
    case NONBLOCKING_COUNT:
      return MPI_Ialltoall(out, -1, MPI_INT, in, -1, MPI_INT, s->comm, &request);
#ifdef HAS_PERSISTENT_COLLECTIVES
    case PERSISTENT_COUNT:
      return MPI_Alltoall_init(out, -1, MPI_INT, in, -1, MPI_INT, s->comm, MPI_INFO_NULL, &request);
#endif
    case GATHER_TYPE:
      return MPI_Allgather(out, 1, MPI_DATATYPE_NULL, in, 1, MPI_INT, s->comm);
    case WRONG_RANK:
      return MPI_Send(out, 1, MPI_INT, s->n + 5, 0, s->comm);
#ifndef OPEN_MPI /* 5.0 calls the handler of another communicator, and says nothing of what is cut off */
    case NO_TOPOLOGY:
      if (s->topology != MPI_UNDEFINED) return MPI_SUCCESS;
      return MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, s->comm);
    case TRUNCATED:
      return MPI_Sendrecv(out, 2, MPI_INT, s->rank, 5000, in, 1, MPI_INT, s->rank, 5000, s->comm, MPI_STATUS_IGNORE);
#endif
    default:
      return MPI_SUCCESS;
  }
}

void erroneous(Program* p) {
  const Slot* s = &p->slots[intra_slot(p)];
  if (s->comm == MPI_COMM_NULL) return;
  const int own_handler = p->threads == 1 && chance(&p->draw, 40);
  MPI_Errhandler before, handler = MPI_ERRORS_RETURN;
  MPI_Comm_get_errhandler(s->comm, &before);
  if (own_handler) MPI_Comm_create_errhandler(count_error, &handler);
  MPI_Comm_set_errhandler(s->comm, handler);
  handled = 0;
  for (int i = between(&p->draw, 1, 3); i > 0; --i) {
    const int mistake = below(&p->draw, MISTAKES);
    const int code = make_mistake(mistake, s);
    int class;
    MPI_Error_class(code, &class);
    look_at(p, (uint64_t)class);
    note(p, "  mistake %d: class %d, %d handled", mistake, class, handled);
  }
  if (own_handler) look_at(p, (uint64_t)handled);
  MPI_Comm_set_errhandler(s->comm, before);
  if (own_handler) MPI_Errhandler_free(&handler);
  MPI_Errhandler_free(&before);
}

static int copies, deletions;

static int copy(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)extra;
  *(void**)out = in;
  *flag = 1;
  ++copies;
  return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  ++deletions;
  return MPI_SUCCESS;
}

/* A copy has the program's attributes, and goes with them. */
void attributes(Program* p) {
  const Slot* s = &p->slots[intra_slot(p)];
  if (s->comm == MPI_COMM_NULL) return;
  MPI_Comm second;
  int key, relation, found, length;
  void* value;
  char name[MPI_MAX_OBJECT_NAME];
  copies = deletions = 0;
  MPI_Comm_create_keyval(copy, delete, &key, NULL);
  MPI_Comm_set_attr(s->comm, key, &copies);
  MPI_Comm_dup(s->comm, &second);
  MPI_Comm_compare(s->comm, second, &relation);
  look_at(p, (uint64_t)relation);
  MPI_Comm_get_attr(second, key, &value, &found);
  look_at(p, (uint64_t)(found && value == &copies));
  MPI_Comm_set_name(second, "second");
  MPI_Comm_get_name(second, name, &length);
  look_at(p, (uint64_t)length * 10 + (uint64_t)strcmp(name, "second"));
  MPI_Comm_free(&second);
  MPI_Comm_delete_attr(s->comm, key);
  MPI_Comm_free_keyval(&key);
  look_at(p, (uint64_t)(copies * 100 + deletions));
}
