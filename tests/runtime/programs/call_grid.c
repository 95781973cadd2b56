/* Every collective exchange of MPI in every form, layout and pattern of sizes: whole buffers are compared, gaps, too,
 * and what is sent must stay as it was. Knows nothing of Hocket.
 * Usage: call_grid --list      names every row of this MPI, one a line
 *        call_grid [WORD...]   makes rows; without words, the plainest of each call
 *    CALL/FORM/COUNTS/LAYOUT/SIZES/GROUP   rows, with *, ? and @(A|B) as in file names; `is_row` says which there are
 *    NUMBER       bytes of the largest message: rows are made with each
 *    rounds=N     times that each is made (3)
 *    together=N   rows of a form that are under way at once (1)
 *    ready        before, nonblocking calls of each kind are made, and all ranks meet
 *    fresh        each row has a communicator of its own
 *    forget       what a persistent call was made with is overwritten before it starts, which MPI does not allow
 *    threads      with MPI_THREAD_MULTIPLE
 * Rooted calls are made with every root. Rank 0 prints "rows N", then "ok <checks>"; exits 1 on a wrong byte. */
#define _GNU_SOURCE /* fnmatch with alternatives */
#include <fnmatch.h>
#include <string.h>

#include "grid_groups.h"
#include "grid_sides.h"

enum { MOST_WORDS = 64, MOST_TOGETHER = 16 };

static void give(struct given* g, const struct side* s) {
  g->types[0] = MPI_INT; /* where there is no block */
  memcpy(g->counts, s->counts, sizeof g->counts);
  memcpy(g->places, s->places, sizeof g->places);
  memcpy(g->far, s->far, sizeof g->far);
  memcpy(g->large, s->large, sizeof g->large);
  for (int m = 0; m < s->blocks; ++m) {
    g->types[m] = s->types[m];
    if (!is_predefined(s->types[m])) MPI_Type_dup(s->types[m], &g->types[m]);
  }
}

static int forgets;

/* A side of the call. A rank that has none gives what must not be looked at. */
static struct argument_side argument(struct job* j, const struct side* s, struct given* g) {
  static int no_count = -7;
  static MPI_Count no_large = -7;
  static MPI_Datatype no_type = MPI_DATATYPE_NULL;
  const struct row* r = &j->row;
  const int reduces = is(r->call, OPERATION), each = is(r->call, s->sends ? SENDS : RECEIVES);
  const int replaced =
      is_in_place(r) && is_at_root(j) && s->sends != (is(r->call, ROOTED) && !is(r->call, SAME) && !reduces);
  struct argument_side a = {NULL, g->counts, g->places, g->far, g->large, g->types};
  if (s->blocks > 0) a.buffer = s->memory + (each && !reduces ? 0 : s->at[0]);
  if ((replaced || (s->blocks == 0 && !is(r->call, NEIGHBOURS))) && !reduces)
    a = (struct argument_side){
        .counts = each ? NULL : &no_count, .large = each ? NULL : &no_large, .types = is_typed(r) ? NULL : &no_type};
  if (is_typed(r) && r->sizes == nothing) a.buffer = NULL; /* from nowhere */
  if (replaced) a.buffer = MPI_IN_PLACE;
  return a;
}

static void begin(struct job* j) {
  const struct row* r = &j->row;
  struct side* sides[2] = {&j->send, &j->receive};
  for (int i = 0; i < 2; ++i) give(&j->given[i], sides[i]);
  struct arguments a = {argument(j, &j->send, &j->given[0]), argument(j, &j->receive, &j->given[1]), MPI_SUM, j->root};
  if (is(r->call, ONE_BUFFER) && !is_at_root(j)) a.send = a.receive;
  int code = MPI_ERR_OTHER;
  if (!r->large) code = begin_call(r->call, r->form, &a, j->comm, &j->request);
#if LARGE_COUNTS
  if (r->large) code = begin_large_call(r->call, r->form, &a, j->comm, &j->request);
#endif
  check(code == MPI_SUCCESS);
  for (int i = 0; i < 2; ++i)
    for (int m = 0; m < sides[i]->blocks; ++m) {
      free_type(&j->given[i].types[m]);
      if (r->form == blocking) continue;
      MPI_Datatype* other = &j->others[j->other_types++]; /* in its place */
      MPI_Type_vector(8, 1, 2, MPI_INT, other);
      MPI_Type_commit(other);
    }
  if (forgets && r->form == persistent) memset(j->given, 0, sizeof j->given);
}

/* Jobs of one form, persistent ones started in another order in each round. */
static void make(struct job* jobs, int n, int rounds) {
  const enum form form = jobs[0].row.form;
  MPI_Request requests[MOST_TOGETHER];
  for (int round = 0; round < rounds; ++round) {
    for (int k = 0; k < n; ++k) {
      prepare(&jobs[k], jobs[k].salt + round);
      if (round == 0 || form != persistent) begin(&jobs[k]);
    }
    for (int k = 0; k < n && form == persistent; ++k) MPI_Start(&jobs[round % 2 ? n - 1 - k : (k + round) % n].request);
    for (int k = 0; k < n; ++k) requests[k] = jobs[k].request;
    if (form != blocking) MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    for (int k = 0; k < n; ++k) {
      compare(&jobs[k], &jobs[k].receive, jobs[k].salt + round);
      compare(&jobs[k], &jobs[k].send, jobs[k].salt + round);
      if (form != persistent) drop_others(&jobs[k]);
    }
  }
  for (int k = 0; k < n; ++k) {
    if (form == persistent) MPI_Request_free(&jobs[k].request);
    drop(&jobs[k]);
  }
}

static MPI_Comm comms[ALL_GROUPS];

static void job_of(struct job* j, const struct row* r, MPI_Comm comm, int size, int root, int salt) {
  int sources[MOST], destinations[MOST];
  memset(j, 0, sizeof *j);
  j->row = *r, j->comm = comm, j->root = root, j->salt = salt;
  j->unit = is(r->call, OPERATION) || size % 4 == 0 ? 4 : size % 2 == 0 ? 2 : 1;
  j->size = size / j->unit * j->unit;
  MPI_Comm_rank(comm, &j->rank);
  MPI_Comm_size(comm, &j->ranks);
  if (r->group == inter) j->rank = world_rank, j->ranks = world_ranks;
  const int ins = peers_of(comm, 0, sources), outs = peers_of(comm, 1, destinations);
  lay_out_sides(j, ins, sources, outs, destinations);
}

/* So that nonblocking calls are scheduled from the first: a wish for each kind, and a call in which all meet. */
static void get_ready(const int* wanted, int size) {
  static struct job job;
  for (int round = 0; round < 2; ++round) {
    for (enum call call = 0; call < ALL_CALLS; ++call)
      for (int root = 0; wanted[call] && root < (is(call, ROOTED) ? world_ranks : 1); ++root) {
        const struct row row = {.call = call, .form = nonblocking};
        job_of(&job, &row, base, size, root, 0);
        make(&job, 1, 1);
      }
    MPI_Barrier(base);
  }
}

struct words {
  const char* rows[MOST_WORDS];
  int patterns, sizes[MOST_WORDS], all_sizes, rounds, together, ready, fresh, threads;
};

static int number_in(const char* word, const char* name, int otherwise) {
  const size_t length = strlen(name);
  return strncmp(word, name, length) == 0 ? atoi(word + length) : otherwise;
}

static struct words read_words(int argc, char** argv) {
  struct words w = {.rounds = 3, .together = 1};
  for (int a = 1; a < argc && a < MOST_WORDS; ++a) {
    w.rounds = number_in(argv[a], "rounds=", w.rounds);
    w.together = number_in(argv[a], "together=", w.together);
    w.ready |= strcmp(argv[a], "ready") == 0, w.fresh |= strcmp(argv[a], "fresh") == 0;
    w.threads |= strcmp(argv[a], "threads") == 0, forgets |= strcmp(argv[a], "forget") == 0;
    if (strchr(argv[a], '/') != NULL) w.rows[w.patterns++] = argv[a];
    if (argv[a][strspn(argv[a], "0123456789")] == 0) w.sizes[w.all_sizes++] = atoi(argv[a]);
  }
  if (w.patterns == 0) w.rows[w.patterns++] = "*/blocking/int/dense/equal/world";
  if (w.all_sizes == 0) w.sizes[w.all_sizes++] = 20000;
  if (w.together > MOST_TOGETHER) w.together = MOST_TOGETHER;
  return w;
}

static int is_wanted(const struct row* r, const struct words* w) {
  char name[LONGEST_NAME];
  name_of(r, name);
  for (int p = 0; p < w->patterns; ++p)
    if (fnmatch(w->rows[p], name, FNM_EXTMATCH) == 0) return 1;
  return 0;
}

struct batch {
  const struct words* words;
  struct job jobs[MOST_TOGETHER];
  int n, rows, wanted[ALL_CALLS];
};

static void note_row(const struct row* r, void* context) {
  struct batch* b = context;
  if (is_wanted(r, b->words) && r->form == nonblocking && r->group == world) b->wanted[r->call] = 1;
}

static void flush(struct batch* b) {
  if (b->n == 0) return;
  make(b->jobs, b->n, b->words->rounds);
  for (int k = 0; k < b->n && b->words->fresh; ++k) MPI_Comm_free(&b->jobs[k].comm);
  b->n = 0;
}

static void make_row(const struct row* r, void* context) {
  struct batch* b = context;
  if (!exists(r->group) || !is_wanted(r, b->words)) return;
  if (b->n > 0 && (b->jobs[0].row.form != r->form || b->words->together == 1)) flush(b);
  if (comms[r->group] == MPI_COMM_NULL) comms[r->group] = made(r->group);
  int ranks;
  MPI_Comm_size(comms[r->group], &ranks);
  for (int k = 0; k < b->words->all_sizes; ++k) {
    ++b->rows;
    for (int root = 0; root < (is(r->call, ROOTED) ? ranks : 1); ++root) {
      MPI_Comm comm = comms[r->group];
      if (b->words->fresh) MPI_Comm_dup(comm, &comm);
      job_of(&b->jobs[b->n++], r, comm, b->words->sizes[k], root, 7 * b->rows + root);
      if (b->n == b->words->together) flush(b);
    }
  }
}

static struct words words;
static struct batch batch;

static void make_rows(MPI_Comm comm) {
  base = comm;
  batch.rows = 0; /* processes that take part may have made others before */
  MPI_Comm_rank(base, &world_rank);
  MPI_Comm_size(base, &world_ranks);
  for (int g = 0; g < ALL_GROUPS; ++g) comms[g] = MPI_COMM_NULL;
  each_row(note_row, &batch);
  if (words.ready) get_ready(batch.wanted, words.sizes[0]);
  each_row(make_row, &batch);
  flush(&batch);
  for (int g = half; g < ALL_GROUPS; ++g)
    if (comms[g] != MPI_COMM_NULL && g != self) MPI_Comm_free(&comms[g]);
  check(batch.rows > 0);
}

static void prepare_rows(int argc, char** argv) {
  words = read_words(argc, argv);
  batch.words = &words;
}

#ifndef HAS_OWN_MAIN
static void print_row(const struct row* r, void* context) {
  char name[LONGEST_NAME];
  (void)context;
  name_of(r, name);
  puts(name);
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "--list") == 0) return each_row(print_row, NULL), 0;
  int threads;
  prepare_rows(argc, argv);
  MPI_Init_thread(&argc, &argv, words.threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &threads);
  make_rows(MPI_COMM_WORLD);
  if (world_rank == 0) printf("rows %d\n", batch.rows);
  return report();
}
#endif
