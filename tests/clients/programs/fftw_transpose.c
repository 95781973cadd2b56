/* Transforms and transposes of FFTW's MPI library, with estimated plans: the same in every run. Out of place and free
 * to destroy its input, FFTW transposes with MPI_Alltoall and MPI_Alltoallv; in place with MPI_Sendrecv. Prints the
 * plans and a hash of every bit of every result. */
#include <fftw3-mpi.h>
#include <stdint.h>
#include <stdio.h>

enum { FLAGS = FFTW_ESTIMATE | FFTW_DESTROY_INPUT };

static int rank;

static void fill(double* at, ptrdiff_t count, unsigned seed) {
  uint64_t state = seed * 1000003u + (unsigned)rank + 1;
  for (ptrdiff_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    at[i] = (double)(state >> 11) / 9007199254740992.0 - 0.5;
  }
}

/* FNV-1a over the bytes of all ranks, in their order. */
static void print_hash(const char* what, const double* at, ptrdiff_t count) {
  uint64_t hash = 1469598103934665603u;
  const unsigned char* bytes = (const unsigned char*)at;
  for (size_t i = 0; i < (size_t)count * sizeof *at; ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
  uint64_t mixed = hash * (2 * (uint64_t)rank + 1), all = 0;
  MPI_Reduce(&mixed, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s %016llx\n", what, (unsigned long long)all);
}

static fftw_plan checked(fftw_plan plan, const char* what) {
  if (plan == NULL) {
    fprintf(stderr, "rank %d: no plan of %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (rank == 0) {
    fftw_print_plan(plan);
    putchar('\n');
  }
  return plan;
}

static void transform(const char* what, int dimensions, const ptrdiff_t* n, int in_place) {
  ptrdiff_t rows, first, out_rows, out_first;
  const ptrdiff_t local =
      fftw_mpi_local_size_transposed(dimensions, n, MPI_COMM_WORLD, &rows, &first, &out_rows, &out_first);
  fftw_complex *in = fftw_alloc_complex((size_t)local), *out = in_place ? in : fftw_alloc_complex((size_t)local);
  fftw_plan plan = checked(
      fftw_mpi_plan_dft(dimensions, n, in, out, MPI_COMM_WORLD, FFTW_FORWARD, FLAGS | FFTW_MPI_TRANSPOSED_OUT), what);
  for (int round = 0; round < 3; ++round) {
    fill(in[0], 2 * local, (unsigned)dimensions);
    fftw_execute(plan);
    ptrdiff_t held = out_rows * n[0];
    for (int d = 2; d < dimensions; ++d) held *= n[d];
    print_hash(what, out[0], 2 * held);
  }
  fftw_destroy_plan(plan);
  fftw_free(in);
  if (out != in) fftw_free(out);
}

static void transpose(const char* what, ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t howmany) {
  ptrdiff_t rows, first, out_rows, out_first;
  const ptrdiff_t n[] = {n0, n1};
  const ptrdiff_t local =
      fftw_mpi_local_size_many_transposed(2, n, howmany, FFTW_MPI_DEFAULT_BLOCK, FFTW_MPI_DEFAULT_BLOCK, MPI_COMM_WORLD,
                                          &rows, &first, &out_rows, &out_first);
  double *in = fftw_alloc_real((size_t)local), *out = fftw_alloc_real((size_t)local);
  fftw_plan plan = checked(fftw_mpi_plan_many_transpose(n0, n1, howmany, FFTW_MPI_DEFAULT_BLOCK, FFTW_MPI_DEFAULT_BLOCK,
                                                        in, out, MPI_COMM_WORLD, FLAGS),
                           what);
  for (int round = 0; round < 3; ++round) {
    fill(in, rows * n1 * howmany, 7);
    fftw_execute(plan);
    print_hash(what, out, out_rows * n0 * howmany);
  }
  fftw_destroy_plan(plan);
  fftw_free(in);
  fftw_free(out);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  fftw_mpi_init();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int in_place = 0; in_place < 2; ++in_place) {
    transform("2d", 2, (const ptrdiff_t[]){48, 96}, in_place);
    transform("3d", 3, (const ptrdiff_t[]){24, 36, 10}, in_place);
    transform("3d uneven", 3, (const ptrdiff_t[]){22, 31, 6}, in_place);
  }
  transpose("transpose", 60, 120, 2);
  transpose("transpose uneven", 61, 47, 3);
  fftw_mpi_cleanup();
  MPI_Finalize();
  return 0;
}
