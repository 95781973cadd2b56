#include "mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 40 };
static const int64_t most = 100 * 1000 * 1000; /* points or edges: their bytes fit easily into 63 bits */
static const double largest = 1000;            /* total area: what is summed in fixed point fits into 63 bits */

int mesh_allocate(Mesh* mesh) {
  const int64_t doubles = 5 * mesh->points + 2 * mesh->edges, integers = 2 * mesh->edges + mesh->points;
  mesh->bytes = doubles * (int64_t)sizeof(double) + integers * (int64_t)sizeof(int32_t);
  mesh->memory = malloc((size_t)mesh->bytes);
  if (mesh->memory == NULL) return 0;
  mesh->xy = mesh->memory;
  mesh->area = mesh->xy + 2 * mesh->points;
  mesh->wall = mesh->area + mesh->points;
  mesh->normals = mesh->wall + 2 * mesh->points;
  mesh->ends = (int32_t (*)[2])(mesh->normals + 2 * mesh->edges);
  mesh->owner = (int32_t*)(mesh->ends + mesh->edges);
  return 1;
}

void mesh_free(Mesh* mesh) {
  free(mesh->memory);
  mesh->memory = NULL;
}

static const char* check(const Mesh* mesh) {
  double total = 0;
  for (const double* value = mesh->xy; value < mesh->normals + 2 * mesh->edges; ++value)
    if (!isfinite(*value)) return "a coordinate, area or normal is not a finite number";
  for (int64_t v = 0; v < mesh->points; ++v) {
    if (!(mesh->area[v] > 0)) return "the area of a cell is not positive";
    if (mesh->owner[v] < 0 || mesh->owner[v] >= mesh->parts) return "a point belongs to no part";
    total += mesh->area[v];
  }
  if (total > largest) return "the area of all cells is larger than 1,000";
  for (int64_t e = 0; e < mesh->edges; ++e) {
    const int32_t* ends = mesh->ends[e];
    if (ends[0] < 0 || ends[1] < 0 || ends[0] >= mesh->points || ends[1] >= mesh->points || ends[0] == ends[1])
      return "an edge does not join two points of the mesh";
  }
  return NULL;
}

static const char* read_open(Mesh* mesh, FILE* file) {
  char header[HEADER];
  if (fread(header, 1, HEADER, file) != HEADER || memcmp(header, "HKTMESH1", 8) != 0) return "this is no mesh file";
  int64_t counts[3];
  memcpy(counts, header + 8, sizeof counts);
  memcpy(&mesh->step, header + 32, sizeof mesh->step);
  mesh->points = counts[0];
  mesh->edges = counts[1];
  mesh->parts = counts[2];
  if (mesh->points < 1 || mesh->points > most || mesh->edges < 0 || mesh->edges > most || mesh->parts < 1 ||
      mesh->parts > most || !isfinite(mesh->step) || mesh->step <= 0)
    return "the header of the mesh file is wrong";
  if (!mesh_allocate(mesh)) return "there is no memory for the mesh";
  if (fread(mesh->memory, 1, (size_t)mesh->bytes, file) != (size_t)mesh->bytes) return "the mesh file is cut off";
  if (fgetc(file) != EOF) return "the mesh file is longer than its header says";
  return check(mesh);
}

const char* mesh_read(Mesh* mesh, const char* path) {
  memset(mesh, 0, sizeof *mesh);
  FILE* file = fopen(path, "rb");
  if (file == NULL) return "it cannot be opened";
  const char* wrong = read_open(mesh, file);
  fclose(file);
  if (wrong != NULL) mesh_free(mesh);
  return wrong;
}
