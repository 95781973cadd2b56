/* Persistent all-to-alls among all sorts of requests, every byte checked. Knows nothing of Hocket.
 * Usage: persistent_check [case] ; prints "ok <checks>" from rank 0, exits 1 on a wrong byte. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "persistent_exchange.h"

static void check_empty(const MPI_Status* status) {
  int count = -1, cancelled = 1;
  MPI_Get_count(status, MPI_BYTE, &count);
  MPI_Test_cancelled(status, &cancelled);
  check(status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG && count == 0 && !cancelled);
}

static void restarts(void) {
  struct exchange x = make(MPI_COMM_WORLD, 5000);
  for (int round = 0; round < 100; ++round) {
    MPI_Status status;
    memset(&status, 7, sizeof status);
    fill(&x, round);
    MPI_Start(&x.request);
    if (round % 3 == 0) {
      MPI_Wait(&x.request, &status);
    } else if (round % 3 == 1) {
      for (int done = 0; !done; usleep(50)) MPI_Test(&x.request, &done, &status);
    } else {
      int done = 0;
      for (; !done; usleep(50)) MPI_Request_get_status(x.request, &done, &status);
      MPI_Request_get_status(x.request, &done, MPI_STATUS_IGNORE);
      check(done);
      MPI_Wait(&x.request, MPI_STATUS_IGNORE);
    }
    check_empty(&status);
    check(x.request != MPI_REQUEST_NULL);
    check(right(&x, round));
  }
  release(&x);
}

static void inactive(void) {
  struct exchange x = make(MPI_COMM_WORLD, 5000);
  for (int round = 0; round < 2; ++round) {
    MPI_Request both[] = {x.request, MPI_REQUEST_NULL};
    MPI_Status status, statuses[2];
    int flag = 0, index = 5, indices[2], some = 5;
    memset(statuses, 7, sizeof statuses);
    MPI_Wait(&both[0], &status);
    check_empty(&status);
    MPI_Test(&both[0], &flag, &status);
    check(flag);
    check_empty(&status);
    MPI_Waitall(2, both, statuses);
    check_empty(&statuses[0]);
    flag = 0;
    MPI_Testall(2, both, &flag, MPI_STATUSES_IGNORE);
    check(flag);
    MPI_Waitany(2, both, &index, &status);
    check(index == MPI_UNDEFINED);
    flag = index = 0;
    MPI_Testany(2, both, &index, &flag, MPI_STATUS_IGNORE);
    check(flag && index == MPI_UNDEFINED);
    MPI_Waitsome(2, both, &some, indices, statuses);
    check(some == MPI_UNDEFINED);
    some = 5;
    MPI_Testsome(2, both, &some, indices, MPI_STATUSES_IGNORE);
    check(some == MPI_UNDEFINED);
    check(both[0] == x.request);
    /* The same again when it has been active. */
    fill(&x, round);
    MPI_Start(&x.request);
    MPI_Wait(&x.request, MPI_STATUS_IGNORE);
    check(right(&x, round));
  }
  struct exchange never = make(MPI_COMM_WORLD, 5000);
  release(&never);
  release(&x);
}

static void several_at_once(void) {
  MPI_Comm reverse;
  MPI_Comm_split(MPI_COMM_WORLD, 0, n - rank, &reverse);
  struct exchange x[] = {make(MPI_COMM_WORLD, 5000), make(MPI_COMM_WORLD, 9000), make(reverse, 4500)};
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 3; ++i) {
      fill(&x[i], round + i);
      MPI_Start(&x[i].request);
    }
    for (int k = 0; k < 3; ++k) {
      const int i = 2 - k;
      MPI_Wait(&x[i].request, MPI_STATUS_IGNORE);
      check(right(&x[i], round + i));
    }
    /* Ranks wait in different orders. */
    for (int i = 0; i < 3; ++i) {
      fill(&x[i], round + i + 50);
      MPI_Start(&x[i].request);
    }
    for (int k = 0; k < 3; ++k) {
      const int i = (k + rank) % 3;
      MPI_Wait(&x[i].request, MPI_STATUS_IGNORE);
      check(right(&x[i], round + i + 50));
    }
  }
  for (int i = 0; i < 3; ++i) release(&x[i]);
  MPI_Comm_free(&reverse);
}

enum { MANY = 7 };

/* Two exchanges (0, 3), one that stays inactive (1), a null request (2), a nonblocking receive (4) and
 * send (5), and a persistent send (6) to the neighbours. */
struct mixture {
  struct exchange a, b, idle;
  int to, from, sent, got, echo, echoed;
  MPI_Request echo_in, requests[MANY];
};

static struct mixture mix(void) {
  struct mixture m = {
      .a = make(MPI_COMM_WORLD, 5000), .b = make(MPI_COMM_WORLD, 4100), .idle = make(MPI_COMM_WORLD, 4096)};
  m.to = (rank + 1) % n;
  m.from = (rank + n - 1) % n;
  return m;
}

static void start_mixture(struct mixture* m, int salt, MPI_Request* echo) {
  fill(&m->a, salt);
  fill(&m->b, salt + 1);
  m->sent = value(rank, m->to, 1, salt);
  m->echo = value(rank, m->to, 2, salt);
  m->got = m->echoed = 0;
  MPI_Irecv(&m->echoed, 1, MPI_INT, m->from, 8, MPI_COMM_WORLD, &m->echo_in);
  MPI_Irecv(&m->got, 1, MPI_INT, m->from, 9, MPI_COMM_WORLD, &m->requests[4]);
  MPI_Request start[] = {m->a.request, *echo, m->b.request};
  MPI_Startall(3, start);
  MPI_Isend(&m->sent, 1, MPI_INT, m->to, 9, MPI_COMM_WORLD, &m->requests[5]);
  m->requests[0] = m->a.request;
  m->requests[1] = m->idle.request;
  m->requests[2] = MPI_REQUEST_NULL;
  m->requests[3] = m->b.request;
  m->requests[6] = *echo;
}

static void check_mixture(struct mixture* m, int salt) {
  MPI_Wait(&m->echo_in, MPI_STATUS_IGNORE);
  check(right(&m->a, salt) && right(&m->b, salt + 1));
  check(m->got == value(m->from, rank, 1, salt) && m->echoed == value(m->from, rank, 2, salt));
  check(m->requests[0] == m->a.request && m->requests[3] == m->b.request && m->requests[1] == m->idle.request);
  check(m->requests[4] == MPI_REQUEST_NULL && m->requests[5] == MPI_REQUEST_NULL);
  check(m->requests[6] != MPI_REQUEST_NULL);
}

static void check_status(struct mixture* m, int index, const MPI_Status* status) {
  if (index == 4) check(status->MPI_SOURCE == m->from && status->MPI_TAG == 9);
  if (index < 4) check_empty(status);
}

static void mixtures(void) {
  struct mixture m = mix();
  MPI_Request echo;
  MPI_Send_init(&m.echo, 1, MPI_INT, m.to, 8, MPI_COMM_WORLD, &echo);
  for (int round = 0; round < 12; ++round) {
    MPI_Status status, statuses[MANY];
    int flag = 0, index = 0, indices[MANY], some = 0, seen[MANY] = {0};
    memset(&status, 7, sizeof status);
    memset(statuses, 7, sizeof statuses);
    start_mixture(&m, round, &echo);
    switch (round % 6) {
      case 0:
        MPI_Waitall(MANY, m.requests, statuses);
        for (int i = 0; i < MANY; ++i) check_status(&m, i, &statuses[i]);
        break;
      case 1:
        for (; !flag; usleep(50)) MPI_Testall(MANY, m.requests, &flag, round < 6 ? statuses : MPI_STATUSES_IGNORE);
        break;
      case 2:
        for (;;) {
          MPI_Waitany(MANY, m.requests, &index, &status);
          if (index == MPI_UNDEFINED) break;
          check(!seen[index]++);
          check_status(&m, index, &status);
        }
        break;
      case 3:
        for (;; usleep(50)) {
          MPI_Testany(MANY, m.requests, &index, &flag, &status);
          if (flag && index == MPI_UNDEFINED) break;
          if (flag) check(!seen[index]++);
        }
        break;
      default:
        for (;; usleep(50)) {
          (round % 6 == 4 ? MPI_Waitsome : MPI_Testsome)(MANY, m.requests, &some, indices, statuses);
          if (some == MPI_UNDEFINED) break;
          check(some > 0 || round % 6 == 5);
          for (int i = 0; i < some; ++i) {
            check(!seen[indices[i]]++);
            check_status(&m, indices[i], &statuses[i]);
          }
        }
    }
    if (round % 6 > 1) check(seen[0] && !seen[1] && !seen[2] && seen[3] && seen[4] && seen[5] && seen[6]);
    check_mixture(&m, round);
  }
  MPI_Request_free(&echo);
  release(&m.a);
  release(&m.b);
  release(&m.idle);
}

/* A persistent receive beside an exchange has its status. */
static void persistent_receive(void) {
  struct exchange x = make(MPI_COMM_WORLD, 5000);
  int out = rank, in = -1;
  const int before = (rank + n - 1) % n;
  MPI_Request requests[3] = {x.request};
  MPI_Status statuses[3];
  MPI_Recv_init(&in, 1, MPI_INT, before, 12, MPI_COMM_WORLD, &requests[1]);
  MPI_Send_init(&out, 1, MPI_INT, (rank + 1) % n, 12, MPI_COMM_WORLD, &requests[2]);
  for (int round = 0; round < 4; ++round) {
    fill(&x, round);
    MPI_Startall(3, requests);
    MPI_Waitall(3, requests, statuses);
    check(right(&x, round) && in == before);
    check(statuses[1].MPI_SOURCE == before && statuses[1].MPI_TAG == 12);
  }
  MPI_Request_free(&requests[1]);
  MPI_Request_free(&requests[2]);
  release(&x);
}

/* A datatype and a communicator that are gone when the request starts; every second int. */
static void outlived(int in_place) {
  const int count = 5000;
  MPI_Comm copy;
  MPI_Datatype strided, spaced;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Type_vector(count, 1, 2, MPI_INT, &strided);
  MPI_Type_create_resized(strided, 0, (MPI_Aint)(2 * sizeof(int) * count), &spaced);
  MPI_Type_commit(&spaced);
  int *in = calloc(2 * (size_t)count * n, sizeof(int)), *out = calloc(2 * (size_t)count * n, sizeof(int));
  MPI_Request request;
  if (in_place)
    MPI_Alltoall_init(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, spaced, copy, MPI_INFO_NULL, &request);
  else
    MPI_Alltoall_init(out, 1, spaced, in, 1, spaced, copy, MPI_INFO_NULL, &request);
  MPI_Type_free(&strided);
  MPI_Type_free(&spaced);
  MPI_Comm_free(&copy);
  for (int round = 0; round < 3; ++round) {
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < count; ++i) (in_place ? in : out)[2 * ((size_t)j * count + i)] = value(rank, j, i, round);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    int wrong = 0;
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < count; ++i) {
        wrong += in[2 * ((size_t)j * count + i)] != value(j, rank, i, round);
        wrong += in[2 * ((size_t)j * count + i) + 1] != 0;
      }
    check(!wrong);
  }
  MPI_Request_free(&request);
  free(in);
  free(out);
}

/* Freed while active: it goes on to its end, at MPI_Finalize at the latest. */
static void freed_while_active(void) {
  struct exchange x = make(MPI_COMM_WORLD, 5000), y = make(MPI_COMM_WORLD, 5000);
  fill(&x, 1);
  fill(&y, 2);
  MPI_Start(&x.request);
  MPI_Request_free(&x.request);
  MPI_Start(&y.request);
  MPI_Wait(&y.request, MPI_STATUS_IGNORE);
  check(right(&y, 2));
  release(&y);
}

/* A request is freed while active, and MPI ends at once. */
static int left_to_the_end(void) {
  struct exchange x = make(MPI_COMM_WORLD, 5000);
  fill(&x, 3);
  MPI_Start(&x.request);
  MPI_Request_free(&x.request);
  MPI_Finalize();
  const int arrived = right(&x, 3);
  if (rank == 0) printf("ok 1 checks, %d wrong\n", !arrived);
  return !arrived;
}

/* Some are left to MPI_Finalize. */
static void never_freed(void) {
  struct exchange x = make(MPI_COMM_WORLD, 5000), never_started = make(MPI_COMM_WORLD, 5000);
  fill(&x, 1);
  MPI_Start(&x.request);
  MPI_Wait(&x.request, MPI_STATUS_IGNORE);
  check(right(&x, 1));
  (void)never_started;
}

static void made_and_freed(int times) {
  for (int i = 0; i < times; ++i) {
    struct exchange x = make(MPI_COMM_WORLD, 5000), y = make(MPI_COMM_WORLD, 5000);
    release(i % 2 == rank % 2 ? &x : &y);
    release(i % 2 == rank % 2 ? &y : &x);
  }
}

/* Each thread has a communicator, and does what the others do. */
static void* in_a_thread(void* comm) {
  long wrong = 0;
  for (int made = 0; made < 3; ++made) {
    struct exchange x = make(*(MPI_Comm*)comm, 5000);
    for (int round = 0; round < 10; ++round) {
      fill(&x, round + made);
      MPI_Start(&x.request);
      int done = 0;
      for (; round % 2 && !done; usleep(50)) MPI_Test(&x.request, &done, MPI_STATUS_IGNORE);
      MPI_Waitall(1, &x.request, MPI_STATUSES_IGNORE);
      wrong += !right(&x, round + made);
    }
    release(&x);
  }
  return (void*)wrong;
}

static void threads(void) {
  enum { THREADS = 3 };
  pthread_t thread[THREADS];
  MPI_Comm comm[THREADS];
  int provided;
  MPI_Query_thread(&provided);
  if (provided < MPI_THREAD_MULTIPLE) return;
  for (int i = 0; i < THREADS; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
  for (int i = 0; i < THREADS; ++i) pthread_create(&thread[i], NULL, in_a_thread, &comm[i]);
  for (int i = 0; i < THREADS; ++i) {
    void* wrong;
    pthread_join(thread[i], &wrong);
    check(wrong == NULL);
    MPI_Comm_free(&comm[i]);
  }
}

int main(int argc, char** argv) {
  int provided;
  const char* what = argc > 1 ? argv[1] : "";
  MPI_Init_thread(&argc, &argv, strcmp(what, "threads") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &provided);
  know_ranks();
  if (!strcmp(what, "freed")) {
    freed_while_active();
  } else if (!strcmp(what, "last")) {
    return left_to_the_end();
  } else if (!strcmp(what, "threads")) {
    threads();
  } else if (!strcmp(what, "made")) {
    made_and_freed(atoi(argv[2]));
  } else {
    restarts();
    inactive();
    several_at_once();
    mixtures();
    persistent_receive();
    outlived(0);
    outlived(1);
    never_freed();
  }
  return report();
}
