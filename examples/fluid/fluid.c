/* A flow around an airfoil on an unstructured mesh, by sweeps over its edges: an irregular program whose ranks
 * exchange the same two batches of unequal messages in every step. See README.md. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "flow.h"
#include "halo.h"
#include "memory.h"
#include "mesh.h"

enum { OK = 0, WRONG_RESULT = 1, USAGE = 2 };

static const char usage[] =
    "usage: fluid MESH [--steps N] [--values K] [--exchange alltoallv|neighbor|persistent] [--check] [--serial]\n"
    "  --steps N     time steps (default 10)\n"
    "  --values K    values per point, a multiple of 4 (default 4): K/4 fluids\n"
    "  --exchange    MPI_Alltoallv (default), MPI_Neighbor_alltoallv, or MPI_Alltoallv_init\n"
    "  --check       rank 0 also calculates alone, and compares every value\n"
    "  --serial      one process calculates without any exchange\n";

typedef struct {
  const char* mesh;
  int steps, values, check, serial;
  ExchangeKind exchange;
} Options;

static const char* const exchanges[] = {"alltoallv", "neighbor", "persistent"};

/* A number from `least` to `most`, or -1. */
static int number(const char* text, int least, int most) {
  char* end;
  const long value = text == NULL || *text == '\0' ? -1 : strtol(text, &end, 10);
  return value < least || value > most || *end != '\0' ? -1 : (int)value;
}

/* NULL, or what is wrong. */
static const char* parse(int argc, char** argv, Options* options) {
  *options = (Options){.steps = 10, .values = VALUES_OF_A_FLUID};
  for (int i = 1; i < argc; ++i) {
    const char* word = argv[i];
    if (strcmp(word, "--check") == 0) {
      options->check = 1;
    } else if (strcmp(word, "--serial") == 0) {
      options->serial = 1;
    } else if (strcmp(word, "--steps") == 0) {
      if ((options->steps = number(argv[++i], 0, 1000000)) < 0) return "--steps wants a number from 0 to 1,000,000";
    } else if (strcmp(word, "--values") == 0) {
      options->values = number(argv[++i], VALUES_OF_A_FLUID, 65536);
      if (options->values < 0 || options->values % VALUES_OF_A_FLUID != 0)
        return "--values wants a multiple of 4 from 4 to 65,536";
    } else if (strcmp(word, "--exchange") == 0) {
      const char* name = argv[++i] == NULL ? "" : argv[i];
      int kind = PERSISTENT;
      while (kind >= 0 && strcmp(name, exchanges[kind]) != 0) --kind;
      if (kind < 0) return "--exchange wants alltoallv, neighbor or persistent";
      options->exchange = (ExchangeKind)kind;
    } else if (word[0] == '-') {
      return "there is no such option";
    } else if (options->mesh != NULL) {
      return "there is more than one mesh file";
    } else {
      options->mesh = word;
    }
  }
  if (options->exchange == PERSISTENT && !HAS_PERSISTENT) return "this MPI has no MPI_Alltoallv_init";
  return options->mesh == NULL ? "which mesh file?" : NULL;
}

/* Rank 0 reads the file and tells everyone. NULL, or what is wrong, on all ranks. */
static const char* read_on_all(Mesh* mesh, const char* path, int rank) {
  const char* wrong = rank == 0 ? mesh_read(mesh, path) : NULL;
  int good = wrong == NULL;
  MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (!good) return rank == 0 ? wrong : "";
  MPI_Bcast(mesh, sizeof *mesh, MPI_BYTE, 0, MPI_COMM_WORLD); /* the pointers in it mean nothing elsewhere */
  if (rank != 0 && !mesh_allocate(mesh)) allocate(mesh->bytes, 1);
  for (int64_t done = 0; done < mesh->bytes; done += INT_MAX) {
    const int64_t rest = mesh->bytes - done;
    MPI_Bcast((char*)mesh->memory + done, rest > INT_MAX ? INT_MAX : (int)rest, MPI_BYTE, 0, MPI_COMM_WORLD);
  }
  return NULL;
}

/* Seconds of every step: the values of other points fetched, the contributions to them sent back, the whole. */
typedef struct {
  double *fetch, *give_back, *step;
} Times;

/* The distributed calculation. y: [own + fetched][values]. */
static void calculate(const Mesh* mesh, const Halo* halo, const Options* options, int64_t* y, Times* times) {
  const int values = options->values;
  const int64_t own = (int64_t)halo->own * values, fetched = (int64_t)halo->fetched * values;
  const size_t bytes_of_a_point = (size_t)values * sizeof *y;
  const double step = flow_step(mesh);
  int64_t* old = allocate(own + fetched, sizeof *old);
  int64_t* given = allocate((int64_t)halo->given * values, sizeof *given);
  Exchange fetch, give_back;
  exchange_prepare(&fetch, options->exchange, halo, values, halo->gives, given, halo->fetches, old + own);
  exchange_prepare(&give_back, options->exchange, halo, values, halo->fetches, y + own, halo->gives, given);

  for (int v = 0; v < halo->own; ++v) flow_start(mesh, halo->points[v], values, y + (int64_t)v * values);
  for (int i = 0; i < options->steps; ++i) {
    const double start = MPI_Wtime();
    memcpy(old, y, (size_t)own * sizeof *y);
    for (int g = 0; g < halo->given; ++g)
      memcpy(given + (int64_t)g * values, old + (int64_t)halo->give[g] * values, bytes_of_a_point);
    const double before_fetch = MPI_Wtime();
    exchange_run(&fetch);
    times->fetch[i] = MPI_Wtime() - before_fetch;

    memset(y + own, 0, (size_t)fetched * sizeof *y);
    for (int e = 0; e < halo->edges; ++e) {
      const int64_t v1 = (int64_t)halo->ends[e][0] * values, v2 = (int64_t)halo->ends[e][1] * values;
      flow_sweep_edge(mesh, halo->edge[e], step, values, old + v1, old + v2, y + v1, y + v2);
    }
    for (int v = 0; v < halo->own; ++v)
      flow_push_wall(mesh, halo->points[v], step, values, old + (int64_t)v * values, y + (int64_t)v * values);

    const double before_back = MPI_Wtime();
    exchange_run(&give_back);
    times->give_back[i] = MPI_Wtime() - before_back;
    for (int g = 0; g < halo->given; ++g)
      for (int k = 0; k < values; ++k) y[(int64_t)halo->give[g] * values + k] += given[(int64_t)g * values + k];
    times->step[i] = MPI_Wtime() - start;
  }
  exchange_free(&fetch);
  exchange_free(&give_back);
  free(old);
  free(given);
}

static int by_size(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* The median over the steps of the slowest rank's seconds; valid on rank 0. */
static double median_of_slowest(double* seconds, int steps, MPI_Comm comm) {
  double* slowest = allocate(steps, sizeof *slowest);
  MPI_Reduce(seconds, slowest, steps, MPI_DOUBLE, MPI_MAX, 0, comm);
  qsort(slowest, (size_t)steps, sizeof *slowest, by_size);
  const double median = steps > 0 ? slowest[steps / 2] : 0;
  free(slowest);
  return median;
}

/* What an exchange looks like, and how long it took. */
static void report(const Halo* halo, const Options* options, Times* times, int rank) {
  long long messages = 0, points = halo->fetched, most = 0, all_messages, all_points, largest;
  for (int r = 0; r < halo->ranks; ++r) {
    messages += halo->fetches[r] > 0;
    if (halo->fetches[r] > most) most = halo->fetches[r];
  }
  MPI_Reduce(&messages, &all_messages, 1, MPI_LONG_LONG, MPI_SUM, 0, halo->comm);
  MPI_Reduce(&points, &all_points, 1, MPI_LONG_LONG, MPI_SUM, 0, halo->comm);
  MPI_Reduce(&most, &largest, 1, MPI_LONG_LONG, MPI_MAX, 0, halo->comm);
  const double fetch = median_of_slowest(times->fetch, options->steps, halo->comm);
  const double back = median_of_slowest(times->give_back, options->steps, halo->comm);
  const double step = median_of_slowest(times->step, options->steps, halo->comm);
  if (rank != 0) return;
  const long long bytes = (long long)sizeof(int64_t) * options->values;
  printf("an exchange: %lld messages, %lld bytes, the largest %lld\n", all_messages, all_points * bytes,
         largest * bytes);
  printf("seconds of a step: fetch %.6f, give back %.6f, all %.6f\n", fetch, back, step);
}

/* The distributed calculation with everything that is said about it: an exit code. */
static int distributed(const Mesh* mesh, const Options* options, int rank) {
  const int values = options->values;
  Halo halo;
  halo_inspect(&halo, mesh, MPI_COMM_WORLD);
  int too_long = (int64_t)(halo.given > halo.fetched ? halo.given : halo.fetched) * values > INT_MAX;
  MPI_Allreduce(MPI_IN_PLACE, &too_long, 1, MPI_INT, MPI_MAX, halo.comm);
  if (too_long) {
    if (rank == 0) fprintf(stderr, "fluid: --values %d: a rank would exchange more than 2^31 values\n", values);
    halo_free(&halo);
    return USAGE;
  }
  int64_t* y = allocate(((int64_t)halo.own + halo.fetched) * values, sizeof *y);
  double* seconds = allocate(3 * (int64_t)options->steps, sizeof *seconds);
  Times times = {seconds, seconds + options->steps, seconds + 2 * options->steps};
  calculate(mesh, &halo, options, y, &times);
  report(&halo, options, &times, rank);
  int good = !options->check || check_against_serial(mesh, &halo, options->steps, values, y);
  good &= check_sums(mesh, halo.own, halo.points, values, y, halo.comm);
  free(seconds);
  free(y);
  halo_free(&halo);
  return good ? OK : WRONG_RESULT;
}

static int serial(const Mesh* mesh, const Options* options) {
  int64_t* y = allocate(mesh->points * options->values, sizeof *y);
  flow_serial(mesh, options->steps, options->values, y);
  const int good = check_sums(mesh, (int)mesh->points, NULL, options->values, y, MPI_COMM_WORLD);
  free(y);
  return good ? OK : WRONG_RESULT;
}

static int run(const Mesh* mesh, const Options* options, int rank, int ranks) {
  if (options->serial && ranks > 1) {
    if (rank == 0) fprintf(stderr, "fluid: --serial wants one process, not %d\n", ranks);
    return USAGE;
  }
  if (!options->serial && ranks < mesh->parts) {
    if (rank == 0)
      fprintf(stderr, "fluid: %s is divided among %lld ranks, but there are %d: start more, or divide it again\n",
              options->mesh, (long long)mesh->parts, ranks);
    return USAGE;
  }
  if (rank == 0)
    printf("%lld points, %lld edges, %d values per point, %d steps; %s on %d ranks\n", (long long)mesh->points,
           (long long)mesh->edges, options->values, options->steps,
           options->serial ? "serial" : exchanges[options->exchange], ranks);
  return options->serial ? serial(mesh, options) : distributed(mesh, options, rank);
}

int main(int argc, char** argv) {
  int rank, ranks, code = USAGE;
  Options options;
  Mesh mesh;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* wrong = parse(argc, argv, &options);
  if (wrong != NULL) {
    if (rank == 0) fprintf(stderr, "fluid: %s\n%s", wrong, usage);
  } else if ((wrong = read_on_all(&mesh, options.mesh, rank)) != NULL) {
    if (rank == 0) fprintf(stderr, "fluid: %s: %s\n", options.mesh, wrong);
  } else {
    code = run(&mesh, &options, rank, ranks);
    mesh_free(&mesh);
  }
  MPI_Finalize();
  return code;
}
