#pragma once
/// Calls in which all ranks know all sizes, blocking, nonblocking and persistent, as operations.
#include <mpi.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/buffers/blocks.hpp"
#include "runtime/buffers/vector_call.hpp"
#include "runtime/plan/planned.hpp"
#include "runtime/progress/operation.hpp"
#include "runtime/reduce/reduction.hpp"
#include "runtime/report/report.hpp"

namespace hocket::runtime {

class AllToAll;
class TwoLevelAllToAll;

// Every call tells by only_recorded() whether it is recorded and nothing else is to be done (record.hpp).

/// MPI_Alltoall.
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
  [[nodiscard]] bool only_recorded() const noexcept;
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

/// MPI_Allgather and MPI_Allgatherv.
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
  [[nodiscard]] bool only_recorded() const noexcept;
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

class Broadcast;

/// MPI_Bcast: an all-gather to which only the root contributes.
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
  [[nodiscard]] bool only_recorded() const noexcept;
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

class TwoLevelReduce;
class Reduce;

/// The buffers of a reduction. This rank's vector is divided into one block per rank that gets a result.
struct ReductionBuffers {
  const std::byte* from;               ///< this rank's contribution
  std::byte* in;                       ///< working buffer; null: one of the runtime's own
  std::byte* result;                   ///< destination of this rank's block; null: it stays in the working buffer
  std::vector<std::int64_t> elements;  ///< elements of each block
};

/// The common part of MPI_Allreduce, MPI_Reduce_scatter_block, MPI_Reduce_scatter and MPI_Reduce. All ranks give the
/// same counts, type and operation.
struct ReductionCall {
  using Operation = Reduce;

  const void* sendbuf;
  void* recvbuf;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Comm comm;

  /// The reason why the MPI library must serve the call because of its operation or type. `settled`: whether its result
  /// depends on the candidate, and the user wants it reproducible while the program runs.
  [[nodiscard]] std::optional<FallbackReason> reduced(Form form, bool& settled) const;

 protected:
  ReductionCall(const void* from, void* to, MPI_Datatype elements, MPI_Op operation, MPI_Comm communicator)
      : sendbuf(from), recvbuf(to), type(elements), op(operation), comm(communicator) {}
  [[nodiscard]] const std::byte* contribution() const;
};

struct AllReduceCall : ReductionCall {
  using TwoLevel = TwoLevelReduce;

  MPI_Count count;

  AllReduceCall(const void* from, void* to, MPI_Count elements, MPI_Datatype datatype, MPI_Op operation,
                MPI_Comm communicator)
      : ReductionCall(from, to, datatype, operation, communicator), count(elements) {}

  [[nodiscard]] static CallKind kind() {
    static const Collective& collective = find_collective("all-reduce");
    return {&collective};
  }
  /// Bytes of one rank's block on average; some ranks may have none.
  [[nodiscard]] std::size_t message_bytes(const Team& team) const;
  /// The part of every other rank to the one that adds it up, the own sum to every other rank.
  [[nodiscard]] std::uint64_t sent_bytes(const Team& team) const;
  [[nodiscard]] bool only_recorded() const noexcept;
  [[nodiscard]] ReductionBuffers buffers(std::size_t rank, std::size_t ranks) const;
};

struct ReduceScatterCall : ReductionCall {
  Numbers counts;  ///< elements of every rank's block

  /// MPI_Reduce_scatter_block: all blocks are as large.
  template <std::integral Count>
  ReduceScatterCall(const void* from, void* to, Count each, MPI_Datatype datatype, MPI_Op operation,
                    MPI_Comm communicator)
      : ReductionCall(from, to, datatype, operation, communicator), counts(Numbers::all(each)), equal_(true) {}
  /// MPI_Reduce_scatter.
  template <std::integral Count>
  ReduceScatterCall(const void* from, void* to, const Count* of_each, MPI_Datatype datatype, MPI_Op operation,
                    MPI_Comm communicator)
      : ReductionCall(from, to, datatype, operation, communicator), counts(of_each) {}

  [[nodiscard]] static CallKind kind() {
    static const Collective& collective = find_collective("reduce-scatter");
    return {&collective};
  }
  /// True if every rank gets a block: one that does not need not wait for others.
  [[nodiscard]] bool concerns_all(const Team& team) const { return counts.all_positive(different_counts(team)); }
  /// Average bytes of a block.
  [[nodiscard]] std::size_t message_bytes(const Team& team) const;
  [[nodiscard]] std::uint64_t sent_bytes(const Team& team) const;
  [[nodiscard]] bool only_recorded() const noexcept;
  [[nodiscard]] ReductionBuffers buffers(std::size_t rank, std::size_t ranks) const;
  /// Counts alone: nonblocking and persistent reductions are scheduled only for predefined datatypes and operations,
  /// which the program cannot free.
  void hold(HeldArguments& held, const Team& team);

 private:
  /// The number of different counts: one for MPI_Reduce_scatter_block.
  [[nodiscard]] std::size_t different_counts(const Team& team) const;

  bool equal_ = false;
};

struct ReduceCall : ReductionCall {
  MPI_Count count;
  int root;

  ReduceCall(const void* from, void* to, MPI_Count elements, MPI_Datatype datatype, MPI_Op operation, int to_rank,
             MPI_Comm communicator)
      : ReductionCall(from, to, datatype, operation, communicator), count(elements), root(to_rank) {}

  [[nodiscard]] CallKind kind() const {
    static const Collective& collective = find_collective("reduce");
    return pipelined_calls(collective, root, quick_bytes_of(count, type));
  }
  /// Bytes of the whole vector: the root has the only block.
  [[nodiscard]] std::size_t message_bytes(const Team& team) const;
  [[nodiscard]] std::uint64_t sent_bytes(const Team& team) const;
  [[nodiscard]] bool only_recorded() const noexcept;
  [[nodiscard]] ReductionBuffers buffers(std::size_t rank, std::size_t ranks) const;
};

/// All of these calls.
class Reduce : public ScheduledOperation {
 public:
  template <class Call>
  Reduce(const Exchange& exchange, const Call& call)
      : ScheduledOperation(exchange),
        reduction_(call.op, call.type),
        buffers_(call.buffers(exchange.rank(), planned().demand.ranks)) {}

 private:
  [[nodiscard]] Traffic pack() final;
  void unpack() final;

  Reduction reduction_;
  ReductionBuffers buffers_;
  /// A copy of the vector, where the original must not change; kept between starts of a persistent call.
  std::unique_ptr<std::byte[]> copy_;
  std::vector<Span> blocks_;
};

}  // namespace hocket::runtime
