/* Messages between two ranks: with wildcards, probes, and persistent ones. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"

static int draw_bytes(Draw* d) { return chance(d, 10) ? 0 : between(d, 1, chance(d, 15) ? 100000 : 2000); }

/* To the rank some places further on, and from the one as many before. */
typedef struct {
  int to, from, bytes;
  Work *sends, *receives;
  void *out, *in;
} Ring;

static Ring draw_ring(Program* p, const Slot* s) {
  Draw d = p->draw;
  const int step = below(&d, s->n);
  Ring r = {.to = (s->rank + step) % s->n, .from = (s->rank + s->n - step) % s->n, .bytes = draw_bytes(&d)};
  r.sends = new_work(p), r.receives = new_work(p);
  r.out = add_memory(r.sends, (size_t)r.bytes)->bytes;
  r.in = add_memory(r.receives, (size_t)r.bytes + 20)->bytes;
  r.receives->receives = 1;
  return r;
}

void ring(Program* p) {
  const Slot* s = &p->slots[intra_slot(p)];
  if (s->comm == MPI_COMM_NULL) return;
  const Ring r = draw_ring(p, s);
  const int tag = p->operation, room = r.bytes + 20;
  fill(r.sends), fill(r.receives);
  r.sends->active = r.receives->active = 1;
  const int any_source = chance(&p->own, 30), any_tag = !any_source && chance(&p->own, 30);
  MPI_Irecv(r.in, room, MPI_BYTE, any_source ? MPI_ANY_SOURCE : r.from, any_tag ? MPI_ANY_TAG : tag, s->comm,
            &r.receives->request);
  (chance(&p->own, 30) ? MPI_Issend : MPI_Isend)(r.out, r.bytes, MPI_BYTE, r.to, tag, s->comm, &r.sends->request);
}

void persistent_ring(Program* p) {
  const Slot* s = &p->slots[intra_slot(p)];
  if (s->comm == MPI_COMM_NULL) return;
  const Ring r = draw_ring(p, s);
  r.sends->persistent = r.receives->persistent = 1;
  MPI_Recv_init(r.in, r.bytes + 20, MPI_BYTE, r.from, p->operation, s->comm, &r.receives->request);
  (chance(&p->own, 30) ? MPI_Ssend_init : MPI_Send_init)(r.out, r.bytes, MPI_BYTE, r.to, p->operation, s->comm,
                                                         &r.sends->request);
}

/* Receives a message from `source`, which may be any, in one of five ways. */
static void receive(Program* p, void* in, int room, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Message message;
  MPI_Status found;
  int there = 0;
  switch (below(&p->own, 5)) {
    case 0:
      MPI_Probe(source, tag, comm, &found);
      MPI_Recv(in, room, MPI_BYTE, found.MPI_SOURCE, found.MPI_TAG, comm, status);
      break;
    case 1:
      for (; !there; usleep(50)) MPI_Iprobe(source, tag, comm, &there, &found);
      MPI_Recv(in, room, MPI_BYTE, found.MPI_SOURCE, found.MPI_TAG, comm, status);
      break;
    case 2:
      MPI_Mprobe(source, tag, comm, &message, &found);
      MPI_Mrecv(in, room, MPI_BYTE, &message, status);
      break;
    case 3:
      for (; !there; usleep(50)) MPI_Improbe(source, tag, comm, &there, &message, &found);
      MPI_Mrecv(in, room, MPI_BYTE, &message, status);
      break;
    default:
      MPI_Recv(in, room, MPI_BYTE, source, tag, comm, status);
  }
}

static void buffered_send(const void* out, int bytes, int to, int tag, MPI_Comm comm) {
  int room = bytes + MPI_BSEND_OVERHEAD;
  void* buffer = malloc((size_t)room);
  MPI_Buffer_attach(buffer, room);
  MPI_Bsend(out, bytes, MPI_BYTE, to, tag, comm);
  MPI_Buffer_detach(&buffer, &room);
  free(buffer);
}

static void send(Program* p, const void* out, int bytes, int to, int tag, MPI_Comm comm) {
  const int way = below(&p->own, p->threads > 1 ? 2 : 3);
  if (way == 2)
    buffered_send(out, bytes, to, tag, comm);
  else
    (way == 1 ? MPI_Ssend : MPI_Send)(out, bytes, MPI_BYTE, to, tag, comm);
}

/* Each rank exchanges with another one. */
void pairs(Program* p) {
  const Slot* s = &p->slots[intra_slot(p)];
  if (s->comm == MPI_COMM_NULL) return;
  int order[MOST_RANKS], place = 0;
  Draw d = p->draw;
  const int bytes = draw_bytes(&d), together = below(&d, 3), tag = p->operation;
  shuffled(&d, s->n, order);
  while (order[place] != s->rank) ++place;
  const int partner = place % 2 ? place - 1 : place + 1, other = partner < s->n ? order[partner] : MPI_PROC_NULL;
  Work* w = new_work(p);
  unsigned char *out = add_memory(w, (size_t)bytes)->bytes, *in = add_memory(w, (size_t)bytes + 8)->bytes;
  MPI_Status status;
  fill(w);
  if (together == 0) {
    MPI_Sendrecv(out, bytes, MPI_BYTE, other, tag, in, bytes + 8, MPI_BYTE, other, tag, s->comm, &status);
  } else if (together == 1) {
    MPI_Sendrecv_replace(in, bytes, MPI_BYTE, other, tag, other, tag, s->comm, &status);
  } else if (place % 2) {
    receive(p, in, bytes + 8, other, tag, s->comm, &status);
    send(p, out, bytes, other, tag, s->comm);
  } else if (other != MPI_PROC_NULL) {
    send(p, out, bytes, other, tag, s->comm);
    receive(p, in, bytes + 8, other, tag, s->comm, &status);
  }
  if (other != MPI_PROC_NULL) look_at_status(p, &status);
  look_at_work(p, w);
  release(w);
}

/* One rank receives from all others, whoever comes first. */
void fan_in(Program* p) {
  const Slot* s = &p->slots[intra_slot(p)];
  if (s->comm == MPI_COMM_NULL) return;
  Draw d = p->draw;
  const int root = below(&d, s->n), bytes = draw_bytes(&d), tag = p->operation;
  const int mine = bytes - s->rank > 0 ? bytes - s->rank : 0;
  Work* w = new_work(p);
  unsigned char* all = add_memory(w, (size_t)bytes * (size_t)(s->rank == root ? s->n + 1 : 1))->bytes;
  fill(w);
  if (s->rank != root) send(p, all, mine, root, tag, s->comm);
  for (int i = 1; s->rank == root && i < s->n; ++i) {
    MPI_Status status;
    int got;
    receive(p, all + (size_t)bytes * (size_t)s->n, bytes, MPI_ANY_SOURCE, tag, s->comm, &status);
    MPI_Get_count(&status, MPI_BYTE, &got);
    memcpy(all + (size_t)bytes * (size_t)status.MPI_SOURCE, all + (size_t)bytes * (size_t)s->n, (size_t)got);
  }
  if (s->rank == root) memset(all + (size_t)bytes * (size_t)s->n, 0, (size_t)bytes);
  look_at_work(p, w);
  release(w);
}

/* For a message that never comes. */
void cancelled_receive(Program* p) {
  const Slot* s = &p->slots[intra_slot(p)];
  if (s->comm == MPI_COMM_NULL) return;
  MPI_Request request;
  MPI_Status status;
  int in = 0, cancelled = 0;
  MPI_Irecv(&in, 1, MPI_INT, s->rank, 9999, s->comm, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  look_at(p, (uint64_t)cancelled);
}
