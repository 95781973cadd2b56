/// Blocking calls, as the preloaded shim hands them over while some of the runtime's requests exist.
/// The ranks that they wait for may be waiting for a persistent collective that cannot end without
/// this one. Point-to-point calls move the active ones while they wait. Collectives cannot (their
/// nonblocking forms would not match the blocking ones of other ranks): what remains of the active ones is posted.

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

/// With counts of either size.
#define SENDING(Name, name, c, Count)                                                                               \
  HOCKET_CALL hocket_##name##c(const void* buf, Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) { \
    return send(PMPI_##Name##c, PMPI_I##name##c, buf, count, type, dest, tag, comm);                                \
  }
#define RECEIVING(c, Count)                                                                                          \
  HOCKET_CALL hocket_recv##c(void* buf, Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,          \
                             MPI_Status* status) {                                                                   \
    const auto native = [&] { return PMPI_Recv##c(buf, count, type, source, tag, comm, status); };                   \
    return nothing_active() || !receivable(count, type) ? native() : receive(source, tag, comm, native);             \
  }                                                                                                                  \
  HOCKET_CALL hocket_sendrecv##c(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, \
                                 void* recvbuf, Count recvcount, MPI_Datatype recvtype, int source, int recvtag,     \
                                 MPI_Comm comm, MPI_Status* status) {                                                \
    if (nothing_active() || !receivable(recvcount, recvtype))                                                        \
      return PMPI_Sendrecv##c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,     \
                              recvtag, comm, status);                                                                \
    const auto begun = [&](MPI_Request* request) {                                                                   \
      return PMPI_Isend##c(sendbuf, sendcount, sendtype, dest, sendtag, comm, request);                              \
    };                                                                                                               \
    const auto taken = [&] { return PMPI_Recv##c(recvbuf, recvcount, recvtype, source, recvtag, comm, status); };    \
    return exchanged(begun, [&] { return receive(source, recvtag, comm, taken); });                                  \
  }
#define EITHER_SIZE(c, Count)     \
  SENDING(Send, send, c, Count)   \
  SENDING(Ssend, ssend, c, Count) \
  SENDING(Rsend, rsend, c, Count) \
  RECEIVING(c, Count)
EITHER_SIZE(, int)
EITHER_SIZE(_c, MPI_Count)
// The sources of a room are compiled as one.
#undef SENDING
#undef RECEIVING
#undef EITHER_SIZE

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
