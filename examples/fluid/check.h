/* Whether the result is right. */
#ifndef FLUID_CHECK_H
#define FLUID_CHECK_H

#include <mpi.h>
#include <stdint.h>

#include "halo.h"
#include "mesh.h"

/* Collective. Says and returns whether mass was kept, and says a number of the state: it depends on every value and on
 * its place, not on who holds it, so it is the same for every division of the mesh. y: [own][values], of the
 * points listed, or of all (NULL). */
int check_sums(const Mesh* mesh, int own, const int32_t* points, int values, const int64_t* y, MPI_Comm comm);

/* Collective. Rank 0 gathers all values, calculates alone, and says and returns whether they are the same. */
int check_against_serial(const Mesh* mesh, const Halo* halo, int steps, int values, const int64_t* y);

#endif
