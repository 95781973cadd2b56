#include "check.h"

#include <stdio.h>
#include <stdlib.h>

#include "flow.h"
#include "memory.h"

/* Every value times a number of its place. The mixing is Steele, Lea and Flood's SplitMix64. */
static uint64_t fingerprint(int64_t point, int values, const int64_t* y) {
  uint64_t sum = 0;
  for (int k = 0; k < values; ++k) {
    uint64_t mix = (uint64_t)(point * values + k + 1) * 0x9e3779b97f4a7c15u;
    mix = (mix ^ (mix >> 30)) * 0xbf58476d1ce4e5b9u;
    mix = (mix ^ (mix >> 27)) * 0x94d049bb133111ebu;
    sum += (uint64_t)y[k] * (mix ^ (mix >> 31));
  }
  return sum;
}

static uint64_t mass(int values, const int64_t* y) {
  uint64_t sum = 0;
  for (int k = 0; k < values; k += VALUES_OF_A_FLUID) sum += (uint64_t)y[k];
  return sum;
}

int check_sums(const Mesh* mesh, int own, const int32_t* points, int values, const int64_t* y, MPI_Comm comm) {
  enum { STATE, MASS, MASS_AT_THE_START, SUMS };
  uint64_t sums[SUMS] = {0};
  int64_t* start = allocate(values, sizeof *start);
  for (int v = 0; v < own; ++v, y += values) {
    const int32_t point = points == NULL ? v : points[v];
    flow_start(mesh, point, values, start);
    sums[STATE] += fingerprint(point, values, y);
    sums[MASS] += mass(values, y);
    sums[MASS_AT_THE_START] += mass(values, start);
  }
  free(start);
  MPI_Allreduce(MPI_IN_PLACE, sums, SUMS, MPI_UINT64_T, MPI_SUM, comm);
  int rank, kept = sums[MASS] == sums[MASS_AT_THE_START];
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) printf("state %016llx, mass %s\n", (unsigned long long)sums[STATE], kept ? "kept" : "LOST");
  return kept;
}

int check_against_serial(const Mesh* mesh, const Halo* halo, int steps, int values, const int64_t* y) {
  int rank, same = 1, *counts = allocate(halo->ranks, sizeof *counts), *places = allocate(halo->ranks, sizeof *places);
  MPI_Comm_rank(halo->comm, &rank);
  for (int64_t v = 0; v < mesh->points; ++v) ++counts[mesh->owner[v]];
  for (int r = 1; r < halo->ranks; ++r) places[r] = places[r - 1] + counts[r - 1];
  const int64_t size = rank == 0 ? mesh->points * values : 0;
  int64_t *all = allocate(size, sizeof *all), *serial = allocate(size, sizeof *serial);
  MPI_Datatype point;
  MPI_Type_contiguous(values, MPI_INT64_T, &point);
  MPI_Type_commit(&point);
  MPI_Gatherv(y, halo->own, point, all, counts, places, point, 0, halo->comm);
  MPI_Type_free(&point);
  if (rank == 0) {
    flow_serial(mesh, steps, values, serial);
    for (int64_t v = 0; v < mesh->points && same; ++v) { /* an owner's points come in the order of the mesh */
      const int64_t* got = all + (int64_t)places[mesh->owner[v]]++ * values;
      for (int k = 0; k < values && same; ++k) {
        const int64_t expected = serial[v * values + k];
        same = got[k] == expected;
        if (!same)
          printf("value %d of point %lld is %lld, in the serial run %lld\n", k, (long long)v, (long long)got[k],
                 (long long)expected);
      }
    }
    printf(same ? "the serial run gives the same values\n" : "NOT the values of the serial run\n");
  }
  MPI_Bcast(&same, 1, MPI_INT, 0, halo->comm);
  free(all);
  free(serial);
  free(counts);
  free(places);
  return same;
}
