#pragma once
/// MPI_Allgather and MPI_Allgatherv, blocking, nonblocking and persistent, as an operation.
#include <mpi.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/buffers/blocks.hpp"
#include "runtime/buffers/vector_call.hpp"
#include "runtime/plan/planned.hpp"
#include "runtime/progress/operation.hpp"

namespace hocket::runtime {

// MPI_Alltoall, blocking, nonblocking and persistent, as an operation.

class AllToAll;
class TwoLevelAllToAll;

struct AllToAllCall {
  using Operation = AllToAll;
  using TwoLevel = TwoLevelAllToAll;

  const void* sendbuf;
  MPI_Count sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  MPI_Count recvcount;
  MPI_Datatype recvtype;
  MPI_Comm comm;

  [[nodiscard]] static CallKind kind() {
    static const Collective& collective = find_collective("all-to-all");
    return {&collective};
  }
  /// Bytes of every message. Its signature (count × type) is the same on all ranks, so this is too.
  [[nodiscard]] std::size_t message_bytes(const Team& team) const;
  /// Bytes that this rank sends to others.
  [[nodiscard]] std::uint64_t sent_bytes(const Team& team) const;
  void hold(HeldArguments& held, const Team&) {
    sendtype = held.type(sendbuf == MPI_IN_PLACE ? MPI_DATATYPE_NULL : sendtype);
    recvtype = held.type(recvtype);
  }
};

class AllToAll : public ScheduledOperation {
 public:
  AllToAll(const Exchange& exchange, const AllToAllCall& call);

 private:
  [[nodiscard]] Traffic pack() final;
  void unpack() final { receive_->unpack(0); }

  AllToAllCall call_;
  std::size_t received_, sent_;  ///< bytes of a message
  std::optional<PlacedBlocks> send_, receive_;
  std::vector<std::byte> copy_;     ///< MPI_IN_PLACE: what is sent
  std::vector<std::byte> relayed_;  ///< what this rank passes on
};

class Gather;
class TwoLevelGather;

struct GatherCall {
  using Operation = Gather;
  using TwoLevel = TwoLevelGather;

  const void* sendbuf;
  MPI_Count sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  Numbers recvcounts;  ///< elements per rank
  Numbers places;      ///< offset of each rank's contribution, in extents of the type
  MPI_Datatype recvtype;
  MPI_Comm comm;

  /// MPI_Allgather: all contribute as much, in the order of ranks.
  template <std::integral Count>
  GatherCall(const void* from, MPI_Count count, MPI_Datatype type, void* to, Count received, MPI_Datatype received_type,
             MPI_Comm communicator)
      : GatherCall(from, count, type, to, Numbers::all(received), Numbers::multiples_of(received), received_type,
                   communicator) {
    equal_ = true;
  }
  /// MPI_Allgatherv.
  template <std::integral Count, std::integral Place>
  GatherCall(const void* from, MPI_Count count, MPI_Datatype type, void* to, const Count* received,
             const Place* displacements, MPI_Datatype received_type, MPI_Comm communicator)
      : GatherCall(from, count, type, to, Numbers(received), Numbers(displacements), received_type, communicator) {}

  [[nodiscard]] static CallKind kind() {
    static const Collective& collective = find_collective("all-gather");
    return {&collective};
  }
  /// Average contribution of a rank in bytes, computed from the receive arguments, which are the same on all ranks.
  [[nodiscard]] std::size_t message_bytes(const Team& team) const;
  /// True if every rank contributes: others need not wait for one that does not.
  [[nodiscard]] bool concerns_all(const Team& team) const { return recvcounts.all_positive(counts(team)); }
  /// Bytes that this rank would send to others if nobody forwarded.
  [[nodiscard]] std::uint64_t sent_bytes(const Team& team) const;
  /// The contributions of ranks 0, 1, …, n − 1.
  [[nodiscard]] std::vector<Block> contributions(std::size_t n) const;
  void hold(HeldArguments& held, const Team& team);

 private:
  GatherCall(const void* from, MPI_Count count, MPI_Datatype type, void* to, Numbers received, Numbers displacements,
             MPI_Datatype received_type, MPI_Comm communicator)
      : sendbuf(from),
        sendcount(count),
        sendtype(type),
        recvbuf(to),
        recvcounts(received),
        places(displacements),
        recvtype(received_type),
        comm(communicator) {}
  /// The number of different counts: one for MPI_Allgather.
  [[nodiscard]] std::size_t counts(const Team& team) const;

  bool equal_ = false;
};

class Gather : public ScheduledOperation {
 public:
  Gather(const Exchange& exchange, const GatherCall& call) : ScheduledOperation(exchange), call_(call) {}

 private:
  [[nodiscard]] Traffic pack() final;
  void unpack() final { receive_->finish(); }

  GatherCall call_;
  std::optional<GatherBlocks> receive_;
};

/// MPI_Bcast, blocking, nonblocking and persistent, as an operation: an all-gather to which only the root contributes.
class Broadcast;

struct BroadcastCall {
  using Operation = Broadcast;

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
  void hold(HeldArguments& held, const Team&) { type = held.type(type); }
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
