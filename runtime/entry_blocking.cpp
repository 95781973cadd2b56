/// Blocking calls, as the preloaded shim hands them over while some of the runtime's requests exist.
/// The ranks that they wait for may be waiting for a persistent collective that cannot end without
/// this one. Point-to-point calls move the active ones while they wait. Collectives cannot (their
/// nonblocking forms would not match the blocking ones of other ranks): the active ones let go.
#include <mpi.h>

#include "entry.hpp"
#include "requests.hpp"
#include "since_mpi4.hpp"

using namespace hocket::runtime;

namespace {

bool nothing_active() { return !Requests::instance().any_active(); }

/// `post(request)` is the nonblocking form of the call.
template <class Post>
int completed(Post post, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (const int code = post(&request); code != MPI_SUCCESS) return code;
  int done = 0;
  return until(done, [&] { return PMPI_Test(&request, &done, status); });
}

/// `native` is the call itself, `post` its nonblocking form.
template <class Native, class Post, class... Arguments>
int send(Native native, Post post, Arguments... arguments) {
  if (nothing_active()) return native(arguments...);
  return completed([&](MPI_Request* request) { return post(arguments..., request); }, MPI_STATUS_IGNORE);
}

template <class Native, class Post, class... Arguments>
int receive(Native native, Post post, MPI_Status* status, Arguments... arguments) {
  if (nothing_active()) return native(arguments..., status);
  return completed([&](MPI_Request* request) { return post(arguments..., request); }, status);
}

/// `send` and `receive` post.
template <class Send, class Receive>
int exchanged(Send send, Receive receive, MPI_Status* status) {
  MPI_Request sending = MPI_REQUEST_NULL;
  if (const int code = send(&sending); code != MPI_SUCCESS) return code;
  const int received = completed(receive, status);
  int done = 0;
  const int sent = until(done, [&] { return PMPI_Test(&sending, &done, MPI_STATUS_IGNORE); });
  return received != MPI_SUCCESS ? received : sent;
}

}  // namespace

/// Before the shim calls the MPI library.
HOCKET_CALL hocket_let_go() {
  Requests::instance().let_go();
  return MPI_SUCCESS;
}

/// Likewise, where the call only looks.
HOCKET_CALL hocket_progress() {
  Requests::instance().progress();
  return MPI_SUCCESS;
}

HOCKET_CALL hocket_send(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  return send(PMPI_Send, PMPI_Isend, buf, count, type, dest, tag, comm);
}

HOCKET_CALL hocket_send_c(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  return send(PMPI_Send_c, PMPI_Isend_c, buf, count, type, dest, tag, comm);
}

HOCKET_CALL hocket_ssend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  return send(PMPI_Ssend, PMPI_Issend, buf, count, type, dest, tag, comm);
}

HOCKET_CALL hocket_ssend_c(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  return send(PMPI_Ssend_c, PMPI_Issend_c, buf, count, type, dest, tag, comm);
}

HOCKET_CALL hocket_rsend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  return send(PMPI_Rsend, PMPI_Irsend, buf, count, type, dest, tag, comm);
}

HOCKET_CALL hocket_rsend_c(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  return send(PMPI_Rsend_c, PMPI_Irsend_c, buf, count, type, dest, tag, comm);
}

HOCKET_CALL hocket_recv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                        MPI_Status* status) {
  return receive(PMPI_Recv, PMPI_Irecv, status, buf, count, type, source, tag, comm);
}

HOCKET_CALL hocket_mrecv(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  return receive(PMPI_Mrecv, PMPI_Imrecv, status, buf, count, type, message);
}

HOCKET_CALL hocket_sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                            void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                            MPI_Status* status) {
  if (nothing_active())
    return PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
                         comm, status);
  return exchanged(
      [&](MPI_Request* request) { return PMPI_Isend(sendbuf, sendcount, sendtype, dest, sendtag, comm, request); },
      [&](MPI_Request* request) { return PMPI_Irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, request); },
      status);
}

HOCKET_CALL hocket_recv_c(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                          MPI_Status* status) {
  return receive(PMPI_Recv_c, PMPI_Irecv_c, status, buf, count, type, source, tag, comm);
}

HOCKET_CALL hocket_mrecv_c(void* buf, MPI_Count count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  return receive(PMPI_Mrecv_c, PMPI_Imrecv_c, status, buf, count, type, message);
}

HOCKET_CALL hocket_sendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                              void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                              MPI_Comm comm, MPI_Status* status) {
  if (nothing_active())
    return PMPI_Sendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
                           comm, status);
  return exchanged(
      [&](MPI_Request* request) { return PMPI_Isend_c(sendbuf, sendcount, sendtype, dest, sendtag, comm, request); },
      [&](MPI_Request* request) { return PMPI_Irecv_c(recvbuf, recvcount, recvtype, source, recvtag, comm, request); },
      status);
}

HOCKET_CALL hocket_probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  if (nothing_active()) return PMPI_Probe(source, tag, comm, status);
  int found = 0;
  return until(found, [&] { return PMPI_Iprobe(source, tag, comm, &found, status); });
}

HOCKET_CALL hocket_iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  Requests::instance().progress();
  return PMPI_Iprobe(source, tag, comm, flag, status);
}

HOCKET_CALL hocket_mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  if (nothing_active()) return PMPI_Mprobe(source, tag, comm, message, status);
  int found = 0;
  return until(found, [&] { return PMPI_Improbe(source, tag, comm, &found, message, status); });
}

HOCKET_CALL hocket_improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  Requests::instance().progress();
  return PMPI_Improbe(source, tag, comm, flag, message, status);
}
