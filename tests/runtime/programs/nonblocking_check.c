/* Nonblocking all-to-alls and all-gathers among all sorts of calls, every byte checked. Knows nothing of Hocket.
 * Usage: nonblocking_check case [threads] ; prints "ok <checks>" from rank 0, exits 1 on a wrong byte. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "persistent_exchange.h"

enum kind { TO_ALL, TO_ALL_IN_PLACE, GATHER, GATHER_IN_PLACE, GATHERV };

/* A nonblocking call and its buffers. Blocks of a GATHERV have different sizes and lie back to front. */
struct call {
  enum kind kind;
  int count, rank, n, salt;
  int *in, *out, *counts, *places;
  MPI_Request request;
};

static int is_gather(enum kind kind) { return kind >= GATHER; }

static int count_of(const struct call* c, int origin) {
  return c->kind == GATHERV ? c->count + 100 * origin : c->count;
}

static int place_of(const struct call* c, int origin) {
  return c->kind == GATHERV ? (c->n - 1 - origin) * (c->count + 100 * c->n) : origin * c->count;
}

/* What this rank gets from `origin`. */
static int expected(const struct call* c, int origin, int i) {
  return value(origin, is_gather(c->kind) ? 7 : c->rank, i, c->salt);
}

static struct call post(enum kind kind, MPI_Comm comm, int count, int salt) {
  struct call c = {.kind = kind, .count = count, .salt = salt};
  MPI_Comm_rank(comm, &c.rank);
  MPI_Comm_size(comm, &c.n);
  const size_t room = (size_t)c.n * (count + 100 * c.n) + 1;
  c.in = malloc(sizeof(int) * room);
  c.out = malloc(sizeof(int) * room);
  memset(c.in, 0, sizeof(int) * room);
  c.counts = malloc(sizeof(int) * c.n);
  c.places = malloc(sizeof(int) * c.n);
  for (int o = 0; o < c.n; ++o) {
    c.counts[o] = count_of(&c, o);
    c.places[o] = place_of(&c, o);
  }
  int* from = kind == TO_ALL_IN_PLACE ? c.in : kind == GATHER_IN_PLACE ? c.in + c.rank * count : c.out;
  for (int j = 0; j < (is_gather(kind) ? 1 : c.n); ++j)
    for (int i = 0; i < count_of(&c, c.rank); ++i)
      from[j * count + i] = value(c.rank, is_gather(kind) ? 7 : j, i, salt);
  switch (kind) {
    case TO_ALL:
      MPI_Ialltoall(c.out, count, MPI_INT, c.in, count, MPI_INT, comm, &c.request);
      break;
    case TO_ALL_IN_PLACE:
      MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, c.in, count, MPI_INT, comm, &c.request);
      break;
    case GATHER:
      MPI_Iallgather(c.out, count, MPI_INT, c.in, count, MPI_INT, comm, &c.request);
      break;
    case GATHER_IN_PLACE:
      MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, c.in, count, MPI_INT, comm, &c.request);
      break;
    default:
      MPI_Iallgatherv(c.out, c.counts[c.rank], MPI_INT, c.in, c.counts, c.places, MPI_INT, comm, &c.request);
  }
  check(c.request != MPI_REQUEST_NULL);
  return c;
}

/* After it is over. */
static int is_right(struct call* c) {
  int wrong = c->request != MPI_REQUEST_NULL;
  for (int o = 0; o < c->n; ++o)
    for (int i = 0; i < count_of(c, o); ++i) wrong += c->in[place_of(c, o) + i] != expected(c, o, i);
  free(c->in);
  free(c->out);
  free(c->counts);
  free(c->places);
  return !wrong;
}

static int completed(struct call* c) {
  MPI_Wait(&c->request, MPI_STATUS_IGNORE);
  return is_right(c);
}

/* The first calls of each kind on a communicator, and what lets the next ones be scheduled. */
static void know_each_other(MPI_Comm comm) {
  struct call first = post(TO_ALL, comm, 1, 0);
  MPI_Barrier(comm);
  check(completed(&first));
  struct call all = post(TO_ALL, comm, 5000, 1), gather = post(GATHER, comm, 5000, 2);
  check(completed(&all));
  check(completed(&gather));
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
}

enum { MANY = 7 };

static void many(MPI_Comm comm, struct call* calls, int salt) {
  static const enum kind kinds[MANY] = {TO_ALL, GATHER, TO_ALL_IN_PLACE, GATHERV, TO_ALL, GATHER_IN_PLACE, TO_ALL};
  for (int i = 0; i < MANY; ++i) calls[i] = post(kinds[i], comm, 4100 + 1000 * i, salt + i);
}

/* 6 × 2 × 7 calls (4 all-to-alls and 3 all-gathers), waited for in every way and order. */
static void several_at_once(void) {
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  know_each_other(MPI_COMM_WORLD);
  know_each_other(copy);
  for (int round = 0; round < 6; ++round) {
    struct call calls[2 * MANY];
    many(MPI_COMM_WORLD, calls, round);
    many(copy, calls + MANY, round + 50);
    MPI_Request requests[2 * MANY + 4], echo;
    MPI_Status statuses[2 * MANY + 4];
    int sent = value(rank, 0, 0, round), received = 0, index, flag, some, indices[2 * MANY + 4];
    struct exchange x = make(MPI_COMM_WORLD, 5000);
    fill(&x, round);
    MPI_Start(&x.request);
    for (int i = 0; i < 2 * MANY; ++i) requests[(i * 5 + round) % (2 * MANY)] = calls[i].request;
    requests[2 * MANY] = MPI_REQUEST_NULL;
    requests[2 * MANY + 1] = x.request;
    MPI_Irecv(&received, 1, MPI_INT, (rank + n - 1) % n, round, MPI_COMM_WORLD, &requests[2 * MANY + 2]);
    MPI_Isend(&sent, 1, MPI_INT, (rank + 1) % n, round, MPI_COMM_WORLD, &echo);
    requests[2 * MANY + 3] = echo;
    const int all = 2 * MANY + 4;
    switch ((round + rank) % 6) {
      case 0:
        MPI_Waitall(all, requests, statuses);
        break;
      case 1:
        for (flag = 0; !flag; usleep(50)) MPI_Testall(all, requests, &flag, MPI_STATUSES_IGNORE);
        break;
      case 2:
        for (index = 0; index != MPI_UNDEFINED;) MPI_Waitany(all, requests, &index, statuses);
        break;
      case 3:
        for (index = 0, flag = 0; !flag || index != MPI_UNDEFINED; usleep(50))
          MPI_Testany(all, requests, &index, &flag, statuses);
        break;
      case 4:
        for (some = 0; some != MPI_UNDEFINED;) MPI_Waitsome(all, requests, &some, indices, statuses);
        break;
      default:
        for (int i = 0; i < all; ++i) {
          for (flag = 0; !flag; usleep(50)) MPI_Request_get_status(requests[i], &flag, statuses);
          for (flag = 0; !flag; usleep(50)) MPI_Test(&requests[i], &flag, statuses);
        }
    }
    for (int i = 0; i < 2 * MANY; ++i) {
      check(requests[i] == MPI_REQUEST_NULL);
      calls[i].request = MPI_REQUEST_NULL;
      check(is_right(&calls[i]));
    }
    check(received == value((rank + n - 1) % n, 0, 0, round));
    check(right(&x, round));
    release(&x);
  }
  MPI_Comm_free(&copy);
}

/* Each rank waits before or after a call in which all wait for each other. 9 × 5 calls, 3 all-to-alls each. */
static void among_blocking_calls(void) {
  know_each_other(MPI_COMM_WORLD);
  for (int round = 0; round < 9; ++round) {
    struct call calls[] = {post(TO_ALL, MPI_COMM_WORLD, 9000, round), post(GATHER, MPI_COMM_WORLD, 9000, round),
                           post(TO_ALL, MPI_COMM_WORLD, 30000, round),
                           post(TO_ALL_IN_PLACE, MPI_COMM_WORLD, 4100, round),
                           post(GATHERV, MPI_COMM_WORLD, 30000, round)};
    const int before = (rank + round) % 3 == 0;
    int one = 1, sum = 0, turn = round;
    MPI_Comm copy;
    for (int i = 4; before && i >= 0; --i) check(completed(&calls[i]));
    switch (round % 4) {
      case 0:
        MPI_Barrier(MPI_COMM_WORLD);
        break;
      case 1:
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        check(sum == n);
        break;
      case 2:
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Comm_free(&copy);
        break;
      default: /* one after the other */
        if (rank > 0) MPI_Recv(&turn, 1, MPI_INT, rank - 1, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; !before && i < 5; ++i) check(completed(&calls[i]));
        if (rank + 1 < n) MPI_Ssend(&turn, 1, MPI_INT, rank + 1, round, MPI_COMM_WORLD);
        continue;
    }
    for (int i = 0; !before && i < 5; ++i) check(completed(&calls[i]));
  }
}

/* Everything that the program may free or change is gone while the call is under way. Every second int, from the
 * middle of the element, at absolute addresses: 3 all-to-alls, and 3 all-gathers. */
static void outlived(void) {
  for (int round = 0; round < 3; ++round) {
    const int count = 5000;
    MPI_Comm copy;
    MPI_Datatype strided, spaced, out_type, in_type;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    know_each_other(copy);
    int *in = calloc(2 * (size_t)count * (n + 1), sizeof(int)), *out = calloc(2 * (size_t)count * (n + 1), sizeof(int));
    int* gathered = calloc(2 * (size_t)count * (n + 1), sizeof(int));
    MPI_Aint in_at, out_at, half = (MPI_Aint)sizeof(int) * count, extent = 2 * half;
    MPI_Get_address(in, &in_at);
    MPI_Get_address(out, &out_at);
    MPI_Type_vector(count, 1, 2, MPI_INT, &strided);
    MPI_Type_create_resized(strided, -half, extent, &spaced);
    if (round == 0) { /* at absolute addresses */
      int one = 1;
      MPI_Datatype unresized;
      MPI_Type_create_hindexed(1, &one, &in_at, strided, &unresized);
      MPI_Type_create_resized(unresized, 0, extent, &in_type);
      MPI_Type_free(&unresized);
      MPI_Type_create_hindexed(1, &one, &out_at, strided, &unresized);
      MPI_Type_create_resized(unresized, 0, extent, &out_type);
      MPI_Type_free(&unresized);
    } else {
      MPI_Type_dup(spaced, &in_type);
      MPI_Type_dup(spaced, &out_type);
    }
    MPI_Type_commit(&spaced);
    MPI_Type_commit(&in_type);
    MPI_Type_commit(&out_type);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < count; ++i) out[2 * ((size_t)j * count + i)] = value(rank, j, i, round);
    MPI_Request requests[2];
    /* Solid on the other side in the last round. */
    MPI_Datatype solid;
    MPI_Type_contiguous(count, MPI_INT, &solid);
    MPI_Type_commit(&solid);
    MPI_Ialltoall(round == 0 ? MPI_BOTTOM : out, 1, out_type, round == 0 ? MPI_BOTTOM : in, round == 2 ? count : 1,
                  round == 2 ? MPI_INT : in_type, copy, &requests[0]);
    MPI_Iallgather(round == 0 ? MPI_BOTTOM : out, 1, out_type, gathered, round == 1 ? 1 : count,
                   round == 1 ? solid : MPI_INT, copy, &requests[1]);
    MPI_Type_free(&strided);
    MPI_Type_free(&spaced);
    MPI_Type_free(&in_type);
    MPI_Type_free(&out_type);
    MPI_Type_free(&solid);
    MPI_Comm_free(&copy);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    int wrong = 0;
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < count; ++i) {
        const size_t at = (size_t)j * count + i;
        wrong += (round == 2 ? in[at] : in[2 * at]) != value(j, rank, i, round);
        if (round != 2) wrong += in[2 * at + 1] != 0;
        wrong += gathered[at] != value(j, 0, i, round);
      }
    check(!wrong);
    free(in);
    free(out);
    free(gathered);
  }
}

/* An error by the standard, which many programs make: the exchange must go on for the others. */
static void freed_while_active(void) {
  know_each_other(MPI_COMM_WORLD);
  struct call freed = post(TO_ALL, MPI_COMM_WORLD, 5000, 1), other = post(TO_ALL, MPI_COMM_WORLD, 5000, 2);
  if (rank == 0) MPI_Request_free(&freed.request);
  check(completed(&other));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank > 0) check(completed(&freed));
}

/* Communicators come and go. */
static void made_and_freed(int times) {
  for (int i = 0; i < times; ++i) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    know_each_other(copy);
    struct call last = post(TO_ALL, copy, 4096, i);
    if (i % 2) MPI_Comm_free(&copy);
    check(completed(&last));
    if (i % 2 == 0) MPI_Comm_free(&copy);
  }
}

/* Nobody but the MPI library can know what these mean. */
static void passed_on(void) {
  MPI_Comm comm, half, inter;
  MPI_Request request = MPI_REQUEST_NULL;
  static int none[1];
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  know_each_other(comm);
  check(MPI_Ialltoall(none, -1, MPI_INT, none, -1, MPI_INT, comm, &request) != MPI_SUCCESS);
  check(MPI_Ialltoall(none, 5000, MPI_DATATYPE_NULL, none, 5000, MPI_DATATYPE_NULL, comm, &request) != MPI_SUCCESS);
  check(MPI_Alltoall(none, -1, MPI_INT, none, -1, MPI_INT, comm) != MPI_SUCCESS);
  check(MPI_Alltoall(none, 5000, MPI_DATATYPE_NULL, none, 5000, MPI_DATATYPE_NULL, comm) != MPI_SUCCESS);
  check(MPI_Allgather(none, 1, MPI_INT, none, -1, MPI_INT, comm) != MPI_SUCCESS);
  check(MPI_Iallgather(none, 1, MPI_INT, none, -1, MPI_INT, comm, &request) != MPI_SUCCESS);
  struct call empty = post(TO_ALL, comm, 0, 0), alone = post(TO_ALL, MPI_COMM_SELF, 50000, 1),
              alone_too = post(GATHER, MPI_COMM_SELF, 50000, 2);
  check(completed(&empty));
  check(completed(&alone));
  check(completed(&alone_too));
  MPI_Comm_free(&comm);
  const int left = rank < n / 2, others = left ? n - n / 2 : n / 2;
  MPI_Comm_split(MPI_COMM_WORLD, left, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, left ? n / 2 : 0, 5, &inter);
  int *in = malloc(sizeof(int) * 5000 * others), *out = malloc(sizeof(int) * 5000 * others);
  for (int i = 0; i < 5000 * others; ++i) out[i] = rank;
  MPI_Ialltoall(out, 5000, MPI_INT, in, 5000, MPI_INT, inter, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int o = 0; o < others; ++o) check(in[o * 5000] == o + (left ? n / 2 : 0));
  free(in);
  free(out);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

/* Each thread has a communicator, and does what the others do. 3 × 10 × 2 calls, half of them all-gathers. */
static void* in_a_thread(void* comm) {
  long wrong = 0;
  know_each_other(*(MPI_Comm*)comm);
  for (int round = 0; round < 10; ++round) {
    struct call all = post(TO_ALL, *(MPI_Comm*)comm, 6000, round), gather = post(GATHER, *(MPI_Comm*)comm, 6000, round);
    if (round % 3 == 0) MPI_Barrier(*(MPI_Comm*)comm);
    wrong += !completed(round % 2 ? &all : &gather);
    wrong += !completed(round % 2 ? &gather : &all);
  }
  return (void*)wrong;
}

static void threads(void) {
  enum { THREADS = 3 };
  pthread_t thread[THREADS];
  MPI_Comm comm[THREADS];
  for (int i = 0; i < THREADS; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
  for (int i = 0; i < THREADS; ++i) pthread_create(&thread[i], NULL, in_a_thread, &comm[i]);
  for (int i = 0; i < THREADS; ++i) {
    void* wrong;
    pthread_join(thread[i], &wrong);
    check(wrong == NULL);
    MPI_Comm_free(&comm[i]);
  }
}

/* The level of `threads`; with `mixed`, every other rank has it. */
static int wanted(const char* threads) {
  const char *of_mpich = getenv("PMI_RANK"), *own = of_mpich ? of_mpich : getenv("OMPI_COMM_WORLD_RANK");
  const int has = !strcmp(threads, "threads") || (!strcmp(threads, "mixed") && own != NULL && atoi(own) % 2);
  return has ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  int provided;
  MPI_Init_thread(&argc, &argv, wanted(argc > 2 ? argv[2] : ""), &provided);
  know_ranks();
  if (!strcmp(what, "several")) several_at_once();
  if (!strcmp(what, "blocking")) among_blocking_calls();
  if (!strcmp(what, "outlived")) outlived();
  if (!strcmp(what, "passed")) passed_on();
  if (!strcmp(what, "freed")) freed_while_active();
  if (!strcmp(what, "made")) made_and_freed(40);
  if (!strcmp(what, "threads") && provided == MPI_THREAD_MULTIPLE) threads();
  return report();
}
