#include "runtime/mpi/refusals.hpp"

#include <array>
#include <atomic>
#include <mutex>

#include "runtime/mpi/datatypes.hpp"

namespace hocket::runtime {
namespace {

/// Elements to send. Of an alias none where the library might go on and copy them over themselves, which MPICH ends the
/// program for. It looks at arrays then, not at what is in them; where there are none, both sides must be alike.
int elements(LibraryCall call, Doubt doubt) {
  const bool by_arrays =
      call >= LibraryCall::Alltoallv && call != LibraryCall::Gatherv && call != LibraryCall::Scatterv;
  if (doubt.alias && (by_arrays || !doubt.same_counts || !doubt.same_types)) return 0;
  return doubt.several ? 2 : 1;
}

/// The code of the call. Its arguments have the names that the shapes of calls give them.
int ask(LibraryCall call, Doubt doubt, MPI_Comm comm) {
  int out[2] = {0, 0}, in[2] = {0, 0};
  // Types as large as an int, which are none.
  const MadeType of_send = run_of(1, MPI_INT, !doubt.loose_send), of_receive = run_of(1, MPI_INT, !doubt.loose_receive);
  const MPI_Datatype sendtype = doubt.loose_send ? of_send.get() : MPI_INT;
  const bool other = doubt.loose_receive || (doubt.alias && !doubt.same_types);
  const MPI_Datatype recvtype = other ? of_receive.get() : MPI_INT;
  const MPI_Datatype send_types[1] = {sendtype}, receive_types[1] = {recvtype};
  const MPI_Datatype *const sendtypes = send_types, *const recvtypes = doubt.same_types ? send_types : receive_types;
  int* const recvbuf = in;
  int* const sendbuf = doubt.alias ? in : out;
  const int sendcount = elements(call, doubt), recvcount = sendcount, count = sendcount, root = 0;
  const int send_counts[1] = {count}, receive_counts[1] = {count};
  const int *const sendcounts = send_counts, *const counts = send_counts;
  const int* const recvcounts = doubt.same_counts ? send_counts : receive_counts;
  int* const buffer = out;
  const MPI_Datatype type = sendtype;
  const MPI_Op op = MPI_SUM;
  switch (call) {
#define HOCKET_ASKED(Name, name, which, shape, Place)                                               \
  case LibraryCall::Name: {                                                                         \
    const Place nowhere[1] = {0}, elsewhere[1] = {0};                                               \
    const Place *const sdispls = nowhere, *const rdispls = doubt.same_places ? nowhere : elsewhere; \
    const Place* const displs = nowhere;                                                            \
    (void)sdispls, (void)rdispls, (void)displs;                                                     \
    return PMPI_##Name(shape##_ARGUMENTS);                                                          \
  }
    SIZED_CALLS(HOCKET_ASKED)
#undef HOCKET_ASKED
    case LibraryCall::all:
      break;
  }
  return MPI_SUCCESS;
}

}  // namespace

bool refuses(LibraryCall call, Doubt doubt) {
  enum class Answer : std::uint8_t { unknown, taken, refused };
  static std::array<std::array<std::atomic<Answer>, 128>, static_cast<std::size_t>(LibraryCall::all)> known;
  std::atomic<Answer>& answer = known[static_cast<std::size_t>(call)][doubt.bits()];
  if (const Answer told = answer.load(std::memory_order_acquire); told != Answer::unknown)
    return told == Answer::refused;
  const MPI_Comm comm = alone();
  if (comm == MPI_COMM_NULL) return refuses_nowhere;
  static std::mutex one_at_a_time;  // collective calls of one communicator
  const std::lock_guard lock(one_at_a_time);
  const bool refused = ask(call, doubt, comm) != MPI_SUCCESS;
  answer.store(refused ? Answer::refused : Answer::taken, std::memory_order_release);
  return refused;
}

}  // namespace hocket::runtime
