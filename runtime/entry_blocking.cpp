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

}  // namespace

/// Before the shim calls the MPI library.
HOCKET_CALL hocket_let_go() {
  Requests::instance().let_go();
  return MPI_SUCCESS;
}

HOCKET_CALL hocket_send(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  if (nothing_active()) return PMPI_Send(buf, count, type, dest, tag, comm);
  return completed([&](MPI_Request* request) { return PMPI_Isend(buf, count, type, dest, tag, comm, request); },
                   MPI_STATUS_IGNORE);
}

HOCKET_CALL hocket_ssend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  if (nothing_active()) return PMPI_Ssend(buf, count, type, dest, tag, comm);
  return completed([&](MPI_Request* request) { return PMPI_Issend(buf, count, type, dest, tag, comm, request); },
                   MPI_STATUS_IGNORE);
}

HOCKET_CALL hocket_rsend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  if (nothing_active()) return PMPI_Rsend(buf, count, type, dest, tag, comm);
  return completed([&](MPI_Request* request) { return PMPI_Irsend(buf, count, type, dest, tag, comm, request); },
                   MPI_STATUS_IGNORE);
}

HOCKET_CALL hocket_recv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                        MPI_Status* status) {
  if (nothing_active()) return PMPI_Recv(buf, count, type, source, tag, comm, status);
  return completed([&](MPI_Request* request) { return PMPI_Irecv(buf, count, type, source, tag, comm, request); },
                   status);
}

HOCKET_CALL hocket_mrecv(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  if (nothing_active()) return PMPI_Mrecv(buf, count, type, message, status);
  return completed([&](MPI_Request* request) { return PMPI_Imrecv(buf, count, type, message, request); }, status);
}

HOCKET_CALL hocket_sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                            void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                            MPI_Status* status) {
  if (nothing_active())
    return PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
                         comm, status);
  MPI_Request send = MPI_REQUEST_NULL;
  if (const int code = PMPI_Isend(sendbuf, sendcount, sendtype, dest, sendtag, comm, &send); code != MPI_SUCCESS)
    return code;
  const int received = completed(
      [&](MPI_Request* request) { return PMPI_Irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, request); },
      status);
  int done = 0;
  const int sent = until(done, [&] { return PMPI_Test(&send, &done, MPI_STATUS_IGNORE); });
  return received != MPI_SUCCESS ? received : sent;
}

HOCKET_CALL hocket_sendrecv_replace(void* buf, int count, MPI_Datatype type, int dest, int sendtag, int source,
                                    int recvtag, MPI_Comm comm, MPI_Status* status) {
  if (nothing_active() || PMPI_Isendrecv_replace == nullptr)
    return PMPI_Sendrecv_replace(buf, count, type, dest, sendtag, source, recvtag, comm, status);
  return completed(
      [&](MPI_Request* request) {
        return PMPI_Isendrecv_replace(buf, count, type, dest, sendtag, source, recvtag, comm, request);
      },
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
