#pragma once
/// A scheduled call with messages of different sizes, as an operation.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/buffers/vector_call.hpp"
#include "runtime/mpi/held_type.hpp"
#include "runtime/progress/scheduled_operation.hpp"
#include "runtime/report/outcome.hpp"
#include "runtime/team/team.hpp"

namespace hocket::runtime {

/// One side of a call, with arrays and datatypes of its own, so that the program may change and free its.
class OwnSide {
 public:
  explicit OwnSide(const VectorSide& side);
  [[nodiscard]] VectorSide instead_of(VectorSide side) const;

 private:
  std::vector<int> peers_;
  std::vector<std::int64_t> counts_, displacements_;
  std::vector<MPI_Datatype> types_;
  std::map<MPI_Datatype, HeldType> held_;  ///< keyed by the program's handle
};

class OwnSides {
 public:
  explicit OwnSides(const VectorCall& call) : send_(call.send), receive_(call.receive) {}
  OwnSides(const VectorCall& call, const Team&) : OwnSides(call) {}
  [[nodiscard]] VectorCall instead_of(VectorCall call) const;

 private:
  OwnSide send_, receive_;
};

class VectorOperation : public ScheduledOperation {
 public:
  /// The exchange was planned for calls of these sizes, or with `planned_bytes` a message. It may use another
  /// communicator of the same ranks.
  VectorOperation(const Exchange& exchange, VectorCall call, std::uint64_t planned_bytes = 0);

 private:
  [[nodiscard]] Traffic pack() override;
  void unpack() override;

  VectorCall call_;
  std::uint64_t planned_bytes_;  ///< 0: messages are as long as was planned
  Rank rank_ = 0;
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

}  // namespace hocket::runtime
