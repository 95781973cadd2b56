/// Blocking calls, as the preloaded shim hands them over while some of the runtime's requests exist.
/// The ranks that they wait for may be waiting for a persistent collective that cannot end without
/// this one. Point-to-point calls move the active ones while they wait. Collectives cannot (their
/// nonblocking forms would not match the blocking ones of other ranks): what remains of the active ones is posted.
#include <mpi.h>

#include "runtime/mpi/mpi_call.hpp"
#include "runtime/mpi/since_mpi4.hpp"
#include "runtime/progress/requests.hpp"

using namespace hocket::runtime;

namespace {

bool nothing_active() { return !Requests::instance().any_active(); }

/// Waits for a send that has begun.
int sent(MPI_Request& request) {
  int done = 0;
  return until(done, [&] { return PMPI_Test(&request, &done, MPI_STATUS_IGNORE); });
}

/// `native` is the call itself, `post` its nonblocking form.
template <class Native, class Post, class... Arguments>
int send(Native native, Post post, Arguments... arguments) {
  if (nothing_active()) return native(arguments...);
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = post(arguments..., &request);
  return code == MPI_SUCCESS ? sent(request) : code;
}

/// False of a receive that fails without a message.
bool receivable(MPI_Count count, MPI_Datatype type) { return count >= 0 && type != MPI_DATATYPE_NULL; }

/// `receive` is the call itself, as soon as it finds its message. So what goes wrong with that is its own: MPICH's
/// MPI_Test would tell another communicator's error handler.
template <class Receive>
int receive(int source, int tag, MPI_Comm comm, Receive receive) {
  int found = 0;
  const int code = until(found, [&] { return PMPI_Iprobe(source, tag, comm, &found, MPI_STATUS_IGNORE); });
  if (code != MPI_SUCCESS) return code;
  if (ProgressThread::allowed()) Requests::instance().post_remaining();  // another thread may have taken the message
  return receive();
}

/// `send` posts, `received` is a receive().
template <class Send, class Receive>
int exchanged(Send send, Receive received) {
  MPI_Request sending = MPI_REQUEST_NULL;
  if (const int code = send(&sending); code != MPI_SUCCESS) return code;
  const int code = received(), code_of_send = sent(sending);
  return code != MPI_SUCCESS ? code : code_of_send;
}

}  // namespace

/// Before the shim lets the MPI library wait.
HOCKET_CALL hocket_post_remaining() {
  Requests::instance().post_remaining();
  return MPI_SUCCESS;
}

/// Before the shim lets the MPI library test something.
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
  if (nothing_active() || !receivable(count, type)) return PMPI_Recv(buf, count, type, source, tag, comm, status);
  return receive(source, tag, comm, [&] { return PMPI_Recv(buf, count, type, source, tag, comm, status); });
}

HOCKET_CALL hocket_sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                            void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                            MPI_Status* status) {
  if (nothing_active() || !receivable(recvcount, recvtype))
    return PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
                         comm, status);
  return exchanged(
      [&](MPI_Request* request) { return PMPI_Isend(sendbuf, sendcount, sendtype, dest, sendtag, comm, request); },
      [&] {
        return receive(source, recvtag, comm,
                       [&] { return PMPI_Recv(recvbuf, recvcount, recvtype, source, recvtag, comm, status); });
      });
}

HOCKET_CALL hocket_recv_c(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                          MPI_Status* status) {
  if (nothing_active() || !receivable(count, type)) return PMPI_Recv_c(buf, count, type, source, tag, comm, status);
  return receive(source, tag, comm, [&] { return PMPI_Recv_c(buf, count, type, source, tag, comm, status); });
}

HOCKET_CALL hocket_sendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                              void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                              MPI_Comm comm, MPI_Status* status) {
  if (nothing_active() || !receivable(recvcount, recvtype))
    return PMPI_Sendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
                           comm, status);
  return exchanged(
      [&](MPI_Request* request) { return PMPI_Isend_c(sendbuf, sendcount, sendtype, dest, sendtag, comm, request); },
      [&] {
        return receive(source, recvtag, comm,
                       [&] { return PMPI_Recv_c(recvbuf, recvcount, recvtype, source, recvtag, comm, status); });
      });
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
