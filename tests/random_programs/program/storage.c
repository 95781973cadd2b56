/* One-sided communication and files. */
#include <stdio.h>
#include <string.h>

#include "program.h"

const char* directory;

enum { WORDS = 64 };

static void put_and_get(uint64_t* out, MPI_Win win, int next, int before) {
  MPI_Put(out, 5, MPI_UINT64_T, next, 3, 5, MPI_UINT64_T, win);
  MPI_Get(out + 20, 4, MPI_UINT64_T, before, 30, 4, MPI_UINT64_T, win);
  MPI_Accumulate(out + 8, 3, MPI_UINT64_T, next, 40, 3, MPI_UINT64_T, MPI_SUM, win);
}

static void post_and_start(MPI_Comm comm, uint64_t* out, MPI_Win win, int next, int before) {
  const int both[2] = {next, before};
  MPI_Group all, neighbours;
  MPI_Comm_group(comm, &all);
  MPI_Group_incl(all, next == before ? 1 : 2, both, &neighbours);
  MPI_Win_post(neighbours, 0, win);
  MPI_Win_start(neighbours, 0, win);
  put_and_get(out, win, next, before);
  MPI_Win_complete(win);
  MPI_Win_wait(win);
  MPI_Group_free(&neighbours);
  MPI_Group_free(&all);
}

static void lock(MPI_Comm comm, uint64_t* out, MPI_Win win, int next, int before, int all) {
  MPI_Barrier(comm);
  if (all)
    MPI_Win_lock_all(0, win);
  else
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
  MPI_Put(out, 5, MPI_UINT64_T, next, 3, 5, MPI_UINT64_T, win);
  MPI_Win_flush(next, win);
  if (all) MPI_Get(out + 20, 4, MPI_UINT64_T, before, 30, 4, MPI_UINT64_T, win);
  if (all)
    MPI_Win_unlock_all(win);
  else
    MPI_Win_unlock(next, win);
  MPI_Barrier(comm);
}

void window(Program* p) {
  const Slot* s = &p->slots[intra_slot(p)];
  if (s->comm == MPI_COMM_NULL) return;
  const int way = below(&p->draw, 4), allocates = chance(&p->draw, 50);
  const int next = (s->rank + 1) % s->n, before = (s->rank + s->n - 1) % s->n;
  Work* w = new_work(p);
  uint64_t *out = (uint64_t*)add_memory(w, 8 * WORDS)->bytes, *shown = (uint64_t*)add_memory(w, 8 * WORDS)->bytes;
  uint64_t* memory = shown;
  MPI_Win win;
  fill(w);
  if (allocates) {
    MPI_Win_allocate(8 * WORDS, 8, MPI_INFO_NULL, s->comm, &memory, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, s->rank, 0, win);
    memcpy(memory, shown, 8 * WORDS);
    MPI_Win_unlock(s->rank, win);
    MPI_Barrier(s->comm);
  } else {
    MPI_Win_create(memory, 8 * WORDS, 8, MPI_INFO_NULL, s->comm, &win);
  }
  if (way == 0) {
    MPI_Win_fence(0, win);
    put_and_get(out, win, next, before);
    MPI_Win_fence(0, win);
  } else if (way == 1) {
    post_and_start(s->comm, out, win, next, before);
  } else {
    lock(s->comm, out, win, next, before, way == 2);
  }
  if (allocates) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, s->rank, 0, win);
    memcpy(shown, memory, 8 * WORDS);
    MPI_Win_unlock(s->rank, win);
  }
  MPI_Win_free(&win);
  look_at_work(p, w);
  release(w);
}

void file(Program* p) {
  const Slot* s = &p->slots[intra_slot(p)];
  if (s->comm == MPI_COMM_NULL || directory == NULL) return;
  Draw d = p->draw;
  const int bytes = between(&d, 1, 4000), way = below(&d, 3);
  int leader = p->rank;
  char name[4096];
  MPI_File handle;
  MPI_Status status;
  MPI_Request request;
  MPI_Bcast(&leader, 1, MPI_INT, 0, s->comm); /* parts of a split use several files */
  snprintf(name, sizeof name, "%s/%llu-%d-%d", directory, (unsigned long long)p->seed, p->operation, leader);
  Work* w = new_work(p);
  unsigned char *out = add_memory(w, (size_t)bytes)->bytes, *in = add_memory(w, (size_t)bytes)->bytes;
  fill(w);
  MPI_File_open(s->comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &handle);
  if (way == 0) {
    MPI_File_write_at_all(handle, (MPI_Offset)bytes * s->rank, out, bytes, MPI_BYTE, &status);
  } else if (way == 1) {
    MPI_File_set_view(handle, (MPI_Offset)bytes * s->rank, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_write_all(handle, out, bytes, MPI_BYTE, &status);
    MPI_File_set_view(handle, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  } else {
    MPI_File_iwrite_at(handle, (MPI_Offset)bytes * s->rank, out, bytes, MPI_BYTE, &request);
    MPI_Wait(&request, &status);
  }
  MPI_File_sync(handle);
  MPI_Barrier(s->comm);
  MPI_File_sync(handle);
  MPI_File_read_at_all(handle, (MPI_Offset)bytes * ((s->rank + 1) % s->n), in, bytes, MPI_BYTE, &status);
  int count;
  MPI_Get_count(&status, MPI_BYTE, &count);
  look_at(p, (uint64_t)count);
  MPI_File_close(&handle);
  look_at_work(p, w);
  release(w);
}
