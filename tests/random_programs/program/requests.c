/* Waiting for what is under way in every way there is; starting and freeing what is persistent. */
#include <string.h>
#include <unistd.h>

#include "program.h"

/* MPICH 5.0 waits forever for a persistent collective that is not active, so these stay out of its arrays; and
 * its MPI_Testall and MPI_Request_get_status_all report an error (MPI_ERR_IN_STATUS) for one that is over. Who looks
 * at a persistent receive that is over makes it inactive there, so what its status is would depend on the time. */
#ifdef MPICH
#define MAY_WAIT_FOR(w) ((w)->active || !(w)->collective)
#define MAY_TEST_ALL 0
#define MAY_LOOK_AT(w) (!(w)->persistent || !(w)->receives)
#else
#define MAY_WAIT_FOR(w) 1
#define MAY_TEST_ALL 1
#define MAY_LOOK_AT(w) 1
#endif

enum { MOST_WAITED = 24 };

/* Requests of one call: those of works, inactive ones, and null ones. */
typedef struct {
  int n, left;
  int ignores;              /* statuses, where they are of no interest */
  Work* works[MOST_WAITED]; /* null: a null request */
  MPI_Request requests[MOST_WAITED];
  MPI_Status statuses[MOST_WAITED];
} Array;

static void put(Array* a, Work* w) {
  if (a->n == MOST_WAITED) return;
  a->works[a->n] = w;
  a->requests[a->n++] = w == NULL ? MPI_REQUEST_NULL : w->request;
  a->left += w != NULL && w->active;
  if (w != NULL && w->receives) a->ignores = 0;
}

static MPI_Status* status_of(Array* a, int i) { return a->ignores ? MPI_STATUS_IGNORE : &a->statuses[i]; }
static MPI_Status* statuses_of(Array* a) { return a->ignores ? MPI_STATUSES_IGNORE : a->statuses; }

static Array draw_array(Program* p) {
  Array a = {.ignores = chance(&p->own, 50)};
  int order[MOST_WORKS];
  const int share = chance(&p->own, 50) ? 100 : between(&p->own, 10, 90);
  shuffled(&p->own, MOST_WORKS, order);
  for (int i = 0; i < MOST_WORKS; ++i) {
    Work* w = &p->works[order[i]];
    if (w->used && MAY_WAIT_FOR(w) && chance(&p->own, share)) put(&a, w);
    if (chance(&p->own, 1)) put(&a, NULL);
  }
  return a;
}

/* The i-th request is over. */
static void over(Array* a, int i, const MPI_Status* status) {
  a->works[i]->active = 0;
  a->statuses[i] = *status;
  --a->left;
}

static void all_over(Array* a) {
  for (int i = 0; i < a->n; ++i)
    if (a->works[i] != NULL) a->works[i]->active = 0;
  a->left = 0;
}

static void wait_each(Array* a) {
  for (int i = 0; i < a->n; ++i) MPI_Wait(&a->requests[i], status_of(a, i));
  all_over(a);
}

static void test_each(Array* a) {
  for (int i = 0; i < a->n; ++i)
    for (int done = 0; !done; usleep(50)) MPI_Test(&a->requests[i], &done, status_of(a, i));
  all_over(a);
}

static int may_look(const Array* a) {
  for (int i = 0; i < a->n; ++i)
    if (a->works[i] != NULL && !MAY_LOOK_AT(a->works[i])) return 0;
  return 1;
}

/* A look changes nothing. */
static void look_at_each(Array* a) {
  for (int i = 0; may_look(a) && i < a->n; ++i)
    for (int done = 0; !done; usleep(50)) MPI_Request_get_status(a->requests[i], &done, status_of(a, i));
  wait_each(a);
}

static void wait_all(Array* a) {
  MPI_Waitall(a->n, a->requests, statuses_of(a));
  all_over(a);
}

static int may_test_all(const Array* a) {
  for (int i = 0; i < a->n; ++i)
    if (a->works[i] != NULL && a->works[i]->persistent && a->works[i]->collective) return MAY_TEST_ALL;
  return 1;
}

static void test_all(Array* a) {
  if (!may_test_all(a)) return wait_all(a);
  for (int done = 0; !done; usleep(50)) MPI_Testall(a->n, a->requests, &done, statuses_of(a));
  all_over(a);
}

static void wait_any(Array* a) {
  MPI_Status status;
  for (int i;;) {
    MPI_Waitany(a->n, a->requests, &i, &status);
    if (i == MPI_UNDEFINED) break;
    over(a, i, &status);
  }
}

static void test_any(Array* a) {
  MPI_Status status;
  for (int i, done;; usleep(50)) {
    MPI_Testany(a->n, a->requests, &i, &done, &status);
    if (done && i == MPI_UNDEFINED) break;
    if (done) over(a, i, &status);
  }
}

static void some(Array* a, int (*call)(int, MPI_Request*, int*, int*, MPI_Status*)) {
  MPI_Status statuses[MOST_WAITED];
  int indices[MOST_WAITED];
  for (int n;; usleep(50)) {
    call(a->n, a->requests, &n, indices, statuses);
    if (n == MPI_UNDEFINED) break;
    for (int i = 0; i < n; ++i) over(a, indices[i], &statuses[i]);
  }
}

static void wait_some(Array* a) { some(a, MPI_Waitsome); }
static void test_some(Array* a) { some(a, MPI_Testsome); }

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
static void look_at_all(Array* a) {
  int n, i, indices[MOST_WAITED];
  if (!may_look(a)) return wait_all(a);
  for (int done = 0; !done; usleep(50)) MPI_Request_get_status_any(a->n, a->requests, &i, &done, MPI_STATUS_IGNORE);
  for (n = 0; n == 0; usleep(50)) MPI_Request_get_status_some(a->n, a->requests, &n, indices, MPI_STATUSES_IGNORE);
  for (int done = 0; may_test_all(a) && !done; usleep(50))
    MPI_Request_get_status_all(a->n, a->requests, &done, statuses_of(a));
  wait_all(a);
}
#endif

static void (*const ways[])(Array*) = {
    wait_each,   test_each, look_at_each, wait_all, test_all, wait_any, test_any, wait_some, test_some,
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    look_at_all,
#endif
};

/* Each rank chooses for itself what it waits for, and how. */
void complete(Program* p) {
  Array a = draw_array(p);
  int was_active[MOST_WAITED];
  for (int i = 0; i < a.n; ++i) was_active[i] = a.works[i] != NULL && a.works[i]->active;
  const int way = below(&p->own, sizeof ways / sizeof *ways);
  note(p, "  %d requests, way %d", a.n, way);
  ways[way](&a);
  look_at(p, (uint64_t)a.left);
  for (int i = 0; i < a.n; ++i) {
    Work* w = a.works[i];
    look_at(p, a.requests[i] == MPI_REQUEST_NULL);
    if (!was_active[i]) continue;
    if (w->receives) look_at_status(p, &a.statuses[i]);
    look_at(p, a.requests[i] == w->request);
    note(p, "  work %d: persistent %d, collective %d, status of %d, handle kept %d", (int)(w - p->works), w->persistent,
         w->collective, w->receives ? a.statuses[i].MPI_SOURCE : -9, a.requests[i] == w->request);
    if (!w->persistent) w->request = MPI_REQUEST_NULL;
    look_at_work(p, w);
    if (!w->persistent) release(w);
  }
}

/* Persistent works, in random order: those that the operation draws, alike on all ranks that have them. Of an
 * operation with two, a send and a receive, both or none. */
static int draw_persistent(Program* p, int most, Work** found) {
  int order[MOST_WORKS], n = 0;
  shuffled(&p->draw, MOST_WORKS, order);
  const int wanted = between(&p->draw, 1, most);
  const uint64_t lots = draw_bits(&p->draw);
  for (int i = 0; i < MOST_WORKS; ++i) {
    Work* w = &p->works[order[i]];
    if (w->used && w->persistent && (int)(mixed(lots, (uint64_t)order[i] / 2) % 4) < wanted) found[n++] = w;
  }
  return n;
}

void start(Program* p) {
  Work* works[MOST_WORKS];
  MPI_Request requests[MOST_WORKS];
  int order[MOST_WORKS];
  const int n = draw_persistent(p, 4, works);
  for (int i = 0; i < n; ++i) finish(p, works[i]);
  shuffled(&p->own, n, order);
  for (int i = 0; i < n; ++i) {
    Work* w = works[order[i]];
    fill(w);
    w->active = 1;
    requests[i] = w->request;
  }
  if (chance(&p->own, 50)) {
    MPI_Startall(n, requests);
  } else {
    for (int i = 0; i < n; ++i) MPI_Start(&requests[i]);
  }
  for (int i = 0; i < n; ++i) look_at(p, requests[i] == works[order[i]]->request);
}

void free_persistent(Program* p) {
  Work* works[MOST_WORKS];
  int order[MOST_WORKS];
  const int n = draw_persistent(p, 2, works);
  shuffled(&p->own, n, order);
  for (int i = 0; i < n; ++i) finish(p, works[i]);
  for (int i = 0; i < n; ++i) {
    Work* w = works[order[i]];
    MPI_Request_free(&w->request);
    look_at(p, w->request == MPI_REQUEST_NULL);
    release(w);
  }
}
