/* Calls with their memory: filled from a key, looked at as a whole. */
#include <stdlib.h>
#include <string.h>

#include "program.h"

void look_at_error(Program* p, int code) {
  int class = MPI_ERR_UNKNOWN;
  MPI_Error_class(code, &class);
  look_at(p, (uint64_t)class);
}

void look_at_status(Program* p, const MPI_Status* status) {
  int count = -1, cancelled = -1;
  MPI_Get_count(status, MPI_BYTE, &count);
  MPI_Test_cancelled(status, &cancelled);
  look_at(p, (uint64_t)status->MPI_SOURCE);
  look_at(p, (uint64_t)status->MPI_TAG);
  look_at(p, (uint64_t)(count * 2 + cancelled));
}

void expect(Program* p, int code) {
  look_at_error(p, code);
  p->unexpected += code != MPI_SUCCESS;
}

Work* new_work(Program* p) {
  Work* w = &p->works[2 * p->operation];
  w += w->used;
  memset(w, 0, sizeof *w);
  w->used = 1;
  w->request = MPI_REQUEST_NULL;
  w->key = mixed(p->seed, (uint64_t)(w - p->works) * 1000u + (uint64_t)p->rank);
  return w;
}

void* keep(Work* w, size_t bytes) {
  if (w->block_count == MOST_BLOCKS) abort();
  return w->blocks[w->block_count++] = calloc(1, bytes + 1);
}

Memory* add_memory(Work* w, size_t bytes) {
  if (w->memory_count == MOST_MEMORIES) abort();
  Memory* m = &w->memories[w->memory_count++];
  m->size = bytes;
  m->bytes = keep(w, bytes + 8);
  return m;
}

MPI_Datatype own_type(Work* w, MPI_Datatype type) {
  if (w->type_count == MOST_TYPES) abort();
  MPI_Type_commit(&type);
  return w->types[w->type_count++] = type;
}

void free_types(Work* w) {
  for (int i = 0; i < w->type_count; ++i) MPI_Type_free(&w->types[i]);
  w->type_count = 0;
}

void fill(Work* w) {
  const uint64_t key = mixed(w->key, (uint64_t)w->rounds++);
  for (int m = 0; m < w->memory_count; ++m)
    for (size_t i = 0; i < w->memories[m].size; i += 8) {
      const uint64_t bits = mixed(key, (uint64_t)m << 40 | i);
      memcpy(w->memories[m].bytes + i, &bits, sizeof bits);
    }
}

void look_at_work(Program* p, const Work* w) {
  for (int m = 0; m < w->memory_count; ++m) {
    const size_t size = w->memories[m].size;
    size_t i = 0;
    for (uint64_t bits; i + 8 <= size; i += 8) {
      memcpy(&bits, w->memories[m].bytes + i, sizeof bits);
      look_at(p, bits);
    }
    for (; i < size; ++i) look_at(p, w->memories[m].bytes[i]);
  }
}

void release(Work* w) {
  free_types(w);
  for (int i = 0; i < w->block_count; ++i) free(w->blocks[i]);
  w->used = 0;
}

void finish(Program* p, Work* w) {
  MPI_Status status;
  if (w->active) {
    MPI_Wait(&w->request, &status);
    w->active = 0;
    if (w->receives) look_at_status(p, &status);
    look_at_work(p, w);
  }
  if (!w->persistent) release(w);
}

void finish_works(Program* p) {
  for (Work* w = p->works; w < p->works + MOST_WORKS; ++w) {
    if (w->used) finish(p, w);
    if (!w->used) continue;
    if (p->seed % 16 == 0) continue; /* left to MPI_Finalize */
    MPI_Request_free(&w->request);
    release(w);
  }
}
