/* A mesh, divided among ranks, as bench/irregular/meshes.py writes it. README.md gives the format. */
#ifndef FLUID_MESH_H
#define FLUID_MESH_H

#include <stdint.h>

typedef struct {
  int64_t points, edges, parts;
  double step;        /* the longest stable time step for a wave of speed 1 */
  double* xy;         /* [points][2] */
  double* area;       /* [points]: of the cell around a point */
  double* wall;       /* [points][2]: outward normal of the cell's part of the boundary, zero inside */
  double* normals;    /* [edges][2]: of the face between two cells, from the first to the second */
  int32_t (*ends)[2]; /* [edges] */
  int32_t* owner;     /* [points]: the rank that keeps a point */
  void* memory;       /* what the arrays lie in, `bytes` long */
  int64_t bytes;
} Mesh;

/* Reads and checks a file. NULL when all is well, otherwise what is wrong with it. */
const char* mesh_read(Mesh* mesh, const char* path);

/* Allocates the arrays of a mesh whose points and edges are known. 0 when there is no memory. */
int mesh_allocate(Mesh* mesh);

void mesh_free(Mesh* mesh);

/* Which end of an edge works on it: the first one if the sum of their numbers is even, otherwise the
 * second. So two neighbouring ranks share the edges between them about evenly. */
static inline int mesh_worker(const int32_t ends[2]) { return (ends[0] + (int64_t)ends[1]) % 2 != 0; }

#endif
