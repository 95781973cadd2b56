/* Reductions and broadcasts of sums of int as papers describe them, timed on SimGrid's clock; the result is checked.
 *
 *   rivals COLLECTIVE ALGORITHM BYTES [SIDE…]
 *
 * COLLECTIVE: allreduce, reduce_scatter, bcast (from rank 0); BYTES: of the whole vector. ALGORITHM:
 *
 *   ring       blocks go round in the order of ranks; no broadcast
 *   halving    Rabenseifner's: blocks halved while distances double, r to r xor 2^s; then back
 *   swing      Swing (De Sensi et al., arXiv 2401.09356): r to r ± (1 - (-2)^(s+1)) / 3, in as many parts as a torus
 *              with these SIDEs has directions, each beginning with another; without SIDEs in one part, which is the
 *              Bine butterfly (De Sensi et al., arXiv 2508.17311)
 *   tree       broadcast along the Bine tree: the same peers, the farthest first
 *
 * All but ring need powers of two. Broadcasts by halving and swing: a scatter along the same steps, then an all-gather.
 * Prints "seconds S": from the first rank's start to the last one's end.
 */
#include <string.h>

#include "together.h"

enum { most_sides = 8, most_parts = 2 * most_sides, most_levels = 16 };

static int me, ranks, levels, parts = 1, sides, side[most_sides];
static int dimension[most_parts][most_levels], index_in[most_parts][most_levels];
static int by_xor;
static int elements;
static int* vector;

static int is_power_of_two(int n) { return n > 0 && (n & (n - 1)) == 0; }

static int first_of(int part, int block) {
  return (int)((long long)elements * ((long long)block * parts + part) / ((long long)ranks * parts));
}
static int length_of(int part, int block) {
  const int next = (int)((long long)elements * ((long long)block * parts + part + 1) / ((long long)ranks * parts));
  return next - first_of(part, block);
}

/* Dimensions take turns until their sides are used up; part p begins with dimension p, or mirrors one. */
static void lay_steps(void) {
  for (levels = 0; 1 << levels < ranks; ++levels) continue;
  for (int part = 0; part < parts; ++part) {
    int used[most_sides] = {0};
    for (int step = 0, d = part % sides; step < levels; d = (d + 1) % sides)
      if (1 << used[d] < side[d]) {
        dimension[part][step] = d;
        index_in[part][step++] = used[d]++;
      }
  }
}

/* Ranks are numbered along the last dimension first. */
static int peer_of(int part, int rank, int step) {
  if (by_xor) return rank ^ (1 << step);
  const int d = dimension[part][step], n = side[d], power = 1 << (index_in[part][step] + 1);
  const int distance = (1 - (index_in[part][step] % 2 ? power : -power)) / 3;
  int stride = 1;
  for (int after = d + 1; after < sides; ++after) stride *= side[after];
  const int at = rank / stride % n, ahead = (at % 2 == 0) != (part >= sides);
  const int to = ((at + (ahead ? distance : -distance)) % n + n) % n;
  return rank + (to - at) * stride;
}

/* Blocks that `rank` stands for from `step` on: its own, and those of its later peers. */
static int blocks_of(int part, int rank, int step, int* blocks) {
  if (step == levels) {
    blocks[0] = rank;
    return 1;
  }
  const int own = blocks_of(part, rank, step + 1, blocks);
  return own + blocks_of(part, peer_of(part, rank, step), step + 1, blocks + own);
}

struct message {
  int peer, count, elements;
  int *blocks, *data;
};

static struct message message_of(int part, int peer, int rank, int step) {
  struct message m = {peer, 0, 0, allocate((size_t)ranks, sizeof(int)), NULL};
  m.count = blocks_of(part, rank, step, m.blocks);
  for (int i = 0; i < m.count; ++i) m.elements += length_of(part, m.blocks[i]);
  m.data = allocate((size_t)m.elements, sizeof(int));
  return m;
}

/* Between a message and the vector: 0: out of it, 1: into it, 2: added to it. */
static void move(const struct message* m, int part, int how) {
  int* data = m->data;
  for (int i = 0; i < m->count; ++i) {
    int* at = vector + first_of(part, m->blocks[i]);
    const int n = length_of(part, m->blocks[i]);
    if (how == 0) memcpy(data, at, (size_t)n * sizeof(int));
    if (how == 1) memcpy(at, data, (size_t)n * sizeof(int));
    for (int j = 0; how == 2 && j < n; ++j) at[j] += data[j];
    data += n;
  }
}

static void release(struct message* m) {
  free(m->blocks);
  free(m->data);
}

/* One step of all parts at once: what this rank sends and gets stands for `sent` and `got`, or -1. */
static void step_of_all(int step, const int* sent, const int* got, int how) {
  MPI_Request requests[2 * most_parts];
  struct message out[most_parts], in[most_parts];
  int count = 0;
  for (int part = 0; part < parts; ++part) {
    const int peer = peer_of(part, me, step);
    if (got[part] >= 0) {
      in[part] = message_of(part, peer, got[part], step + 1);
      MPI_Irecv(in[part].data, in[part].elements, MPI_INT, peer, part, MPI_COMM_WORLD, &requests[count++]);
    }
    if (sent[part] >= 0) {
      out[part] = message_of(part, peer, sent[part], step + 1);
      move(&out[part], part, 0);
      MPI_Isend(out[part].data, out[part].elements, MPI_INT, peer, part, MPI_COMM_WORLD, &requests[count++]);
    }
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  for (int part = 0; part < parts; ++part) {
    if (got[part] >= 0) {
      move(&in[part], part, how);
      release(&in[part]);
    }
    if (sent[part] >= 0) release(&out[part]);
  }
}

static void reduce_scatter_by_halves(void) {
  for (int step = 0; step < levels; ++step) {
    int sent[most_parts], got[most_parts];
    for (int part = 0; part < parts; ++part) sent[part] = peer_of(part, me, step), got[part] = me;
    step_of_all(step, sent, got, 2);
  }
}

static void all_gather_by_halves(void) {
  for (int step = levels; step-- > 0;) {
    int sent[most_parts], got[most_parts];
    for (int part = 0; part < parts; ++part) sent[part] = me, got[part] = peer_of(part, me, step);
    step_of_all(step, sent, got, 1);
  }
}

static void scatter_by_halves(void) {
  char* holds = allocate((size_t)parts * (size_t)ranks, 1);
  for (int part = 0; part < parts; ++part) holds[part * ranks] = 1;
  for (int step = 0; step < levels; ++step) {
    int sent[most_parts], got[most_parts];
    for (int part = 0; part < parts; ++part) {
      char* has = holds + part * ranks;
      const int peer = peer_of(part, me, step);
      sent[part] = has[me] ? peer : -1;
      got[part] = has[peer] ? me : -1;
      for (int rank = 0; rank < ranks; ++rank)
        if (has[rank] == 1) has[peer_of(part, rank, step)] = 2;
      for (int rank = 0; rank < ranks; ++rank) has[rank] = has[rank] != 0;
    }
    step_of_all(step, sent, got, 1);
  }
  free(holds);
}

static void broadcast_by_tree(void) {
  char* has = allocate((size_t)ranks, 1);
  has[0] = 1;
  for (int step = levels; step-- > 0;) {
    const int peer = peer_of(0, me, step);
    if (has[me])
      MPI_Send(vector, elements, MPI_INT, peer, 0, MPI_COMM_WORLD);
    else if (has[peer])
      MPI_Recv(vector, elements, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int rank = 0; rank < ranks; ++rank)
      if (has[rank] == 1) has[peer_of(0, rank, step)] = 2;
    for (int rank = 0; rank < ranks; ++rank) has[rank] = has[rank] != 0;
  }
  free(has);
}

/* Once round; block `first` of this rank goes first. */
static void round_ring(int first, int adds) {
  int* data = allocate((size_t)(elements / ranks + 1), sizeof(int));
  for (int t = 0; t < ranks - 1; ++t) {
    const int out = ((first - t) % ranks + ranks) % ranks, in = (out + ranks - 1) % ranks, n = length_of(0, in);
    int* at = vector + first_of(0, in);
    MPI_Sendrecv(vector + first_of(0, out), length_of(0, out), MPI_INT, (me + 1) % ranks, 0, data, n, MPI_INT,
                 (me + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; ++i) at[i] = data[i] + (adds ? at[i] : 0);
  }
  free(data);
}

static int is(const char* a, const char* b) { return strcmp(a, b) == 0; }

static void run(const char* collective, const char* algorithm) {
  const int ring = is(algorithm, "ring");
  if (is(algorithm, "tree")) return broadcast_by_tree();
  if (is(collective, "bcast"))
    scatter_by_halves();
  else if (ring)
    round_ring(me - 1, 1);
  else
    reduce_scatter_by_halves();
  if (is(collective, "reduce_scatter")) return;
  if (ring)
    round_ring(me, 0);
  else
    all_gather_by_halves();
}

static void check_result(const char* collective) {
  const int scattered = is(collective, "reduce_scatter"), sums = !is(collective, "bcast");
  const int begin = scattered ? first_of(0, me) : 0;
  const int end = scattered ? first_of(parts - 1, me) + length_of(parts - 1, me) : elements;
  for (int i = begin; i < end; ++i)
    if (vector[i] != (sums ? ranks * (ranks - 1) / 2 + ranks * (i % 1000) : i % 1000)) die("a wrong result");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 4 || argc > 4 + most_sides) die("usage: rivals COLLECTIVE ALGORITHM BYTES [SIDE…]");
  const char *collective = argv[1], *algorithm = argv[2];
  elements = atoi(argv[3]) / (int)sizeof(int);
  by_xor = is(algorithm, "halving");
  for (int i = 4; i < argc; ++i) side[sides++] = atoi(argv[i]);
  if (sides == 0)
    side[sides++] = ranks;
  else if (is(algorithm, "swing"))
    parts = 2 * sides;
  int all = 1;
  for (int d = 0; d < sides; ++d) {
    if (!is(algorithm, "ring") && !is_power_of_two(side[d])) die("needs powers of two");
    all *= side[d];
  }
  if (all != ranks) die("the sides are of another number of ranks");
  if (is(algorithm, "ring") && is(collective, "bcast")) die("no broadcast");
  if (is(algorithm, "tree") != 0 && !is(collective, "bcast")) die("a broadcast only");
  lay_steps();
  vector = allocate((size_t)elements, sizeof *vector);
  for (int i = 0; i < elements; ++i) vector[i] = is(collective, "bcast") ? (me == 0 ? i % 1000 : -1) : me + i % 1000;
  const double start = start_together();
  run(collective, algorithm);
  const double seconds = since_first(start);
  check_result(collective);
  if (me == 0) printf("seconds %.9f\n", seconds);
  MPI_Finalize();
  return 0;
}
