#pragma once
/// A scheduled call with messages of different sizes, as an operation.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/buffers/vector_call.hpp"
#include "runtime/mpi/neighbours.hpp"
#include "runtime/plan/planned.hpp"
#include "runtime/progress/operation.hpp"
#include "runtime/report/report.hpp"
#include "runtime/team/team.hpp"

namespace hocket::runtime {

class VectorOperation : public ScheduledOperation {
 public:
  /// The exchange was planned for calls of these sizes, or with `planned_bytes` a message. It may use another
  /// communicator of the same ranks.
  VectorOperation(const Exchange& exchange, VectorCall call, std::uint64_t planned_bytes = 0)
      : ScheduledOperation(exchange), call_(call), planned_bytes_(planned_bytes) {}

 private:
  [[nodiscard]] Traffic pack() override;
  void unpack() override;

  VectorCall call_;
  std::uint64_t planned_bytes_;  ///< 0: messages are as long as was planned
  std::optional<PlacedBlocks> send_, receive_;
};

/// The result of persistent_operation().
struct PersistentVector {
  std::unique_ptr<VectorOperation> operation;
  FallbackReason why = FallbackReason::erroneous;  ///< if there is none
};

/// Everything that the operation needs is its own, so that the program may change its arrays and free its datatypes.
/// Planned at once, collectively. None, on all ranks alike, if the MPI library is to serve the call; as it is where a
/// rank has no `peer_bytes`.
[[nodiscard]] PersistentVector persistent_operation(Team& team, const VectorCall& call,
                                                    const std::optional<PeerBytes>& peer_bytes, bool rooted);

/// MPI_Gather and MPI_Scatter, blocking, nonblocking and persistent, as an operation: messages between the root and
/// everyone else.
class RootOperation;

/// The common part of both calls. All messages have the same size, which all ranks know.
struct RootCall {
  using Operation = RootOperation;

  Reach reach;
  /// The message of this rank, and at the root those of all: elements, count and type.
  struct Side {
    void* buffer;
    MPI_Count count;
    MPI_Datatype type;
  } own, all;
  MPI_Comm comm;

  [[nodiscard]] CallKind kind() const;
  /// Bytes of every message. Its signature (count × type) is the same on all ranks, so this is too.
  [[nodiscard]] std::size_t message_bytes(const Team& team) const;
  /// Bytes that this rank sends to others.
  [[nodiscard]] std::uint64_t sent_bytes(const Team& team) const;
  [[nodiscard]] bool only_recorded() const noexcept;
  /// This call in the form for messages of different sizes.
  [[nodiscard]] VectorCall between(const Neighbours& neighbours) const;
  void hold(HeldArguments& held, const Team& team);

 protected:
  RootCall(Reach with, Side of_rank, Side at_root, MPI_Comm communicator)
      : reach(with), own(of_rank), all(at_root), comm(communicator) {}

 private:
  [[nodiscard]] bool gathers() const { return reach.kind == Reach::into_root; }
};

struct ToRootCall : RootCall {
  ToRootCall(const void* from, MPI_Count sent, MPI_Datatype sent_type, void* to, MPI_Count received,
             MPI_Datatype received_type, int root, MPI_Comm communicator)
      : RootCall({Reach::into_root, root, from == MPI_IN_PLACE}, {const_cast<void*>(from), sent, sent_type},
                 {to, received, received_type}, communicator) {}
};

struct FromRootCall : RootCall {
  FromRootCall(const void* from, MPI_Count sent, MPI_Datatype sent_type, void* to, MPI_Count received,
               MPI_Datatype received_type, int root, MPI_Comm communicator)
      : RootCall({Reach::from_root, root, to == MPI_IN_PLACE}, {to, received, received_type},
                 {const_cast<void*>(from), sent, sent_type}, communicator) {}
};

namespace detail {
/// A base, so that it is there before the operation and after it.
struct AroundRoot {
  Neighbours neighbours;
};
}  // namespace detail

class RootOperation : private detail::AroundRoot, public VectorOperation {
 public:
  RootOperation(const Exchange& exchange, const RootCall& call);
};

}  // namespace hocket::runtime
