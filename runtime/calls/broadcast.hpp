#pragma once
/// MPI_Bcast, blocking, nonblocking and persistent, as an operation: an all-gather to which only the root contributes.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/buffers/blocks.hpp"
#include "runtime/mpi/element_bytes.hpp"
#include "runtime/mpi/held_type.hpp"
#include "runtime/plan/call_kind.hpp"
#include "runtime/progress/scheduled_operation.hpp"

namespace hocket::runtime {

class Broadcast;
class OwnType;
class Team;

struct BroadcastCall {
  using Operation = Broadcast;
  using Own = OwnType;

  void* buffer;
  MPI_Count count;
  MPI_Datatype type;
  int root;
  MPI_Comm comm;

  [[nodiscard]] CallKind kind() const {
    static const Collective& collective = find_collective("broadcast");
    return pipelined_calls(collective, root, quick_bytes_of(count, type));
  }
  /// All that the root sends. Its signature (count × type) is the same on all ranks, so this is too.
  [[nodiscard]] std::size_t message_bytes(const Team& team) const;
  /// Bytes that this rank would send to others if nobody forwarded.
  [[nodiscard]] std::uint64_t sent_bytes(const Team& team) const;
};

/// A copy of the datatype, which the program may free while the call is under way.
class OwnType {
 public:
  OwnType(const BroadcastCall& call, const Team&) : type_(call.type) {}

  [[nodiscard]] BroadcastCall instead_of(BroadcastCall call) const {
    call.type = type_.get();
    return call;
  }

 private:
  HeldType type_;
};

class Broadcast : public ScheduledOperation {
 public:
  Broadcast(const Exchange& exchange, const BroadcastCall& call) : ScheduledOperation(exchange), call_(call) {}

 private:
  [[nodiscard]] Traffic pack() final;
  void unpack() final { message_->finish(); }

  BroadcastCall call_;
  std::optional<GatherBlocks> message_;
};

}  // namespace hocket::runtime
