#pragma once
/// MPI_Allreduce, MPI_Reduce_scatter_block, MPI_Reduce_scatter and MPI_Reduce, blocking, nonblocking and persistent, as
/// an operation.
#include <mpi.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/buffers/vector_call.hpp"
#include "runtime/plan/planned.hpp"
#include "runtime/progress/operation.hpp"
#include "runtime/reduce/reduction.hpp"
#include "runtime/report/report.hpp"

namespace hocket::runtime {

class TwoLevelReduce;
class Reduce;

/// The buffers of a reduction. This rank's vector is divided into one block per rank that gets a result.
struct ReductionBuffers {
  const std::byte* from;               ///< this rank's contribution
  std::byte* in;                       ///< working buffer; null: one of the runtime's own
  std::byte* result;                   ///< destination of this rank's block; null: it stays in the working buffer
  std::vector<std::int64_t> elements;  ///< elements of each block
};

/// The common part of all reductions. All ranks give the same counts, type and operation.
struct ReductionCall {
  using Operation = Reduce;

  const void* sendbuf;
  void* recvbuf;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Comm comm;

  /// The reason why the MPI library must serve the call because of its operation or type.
  [[nodiscard]] std::optional<FallbackReason> refused(Form form) const;
  /// True if the result depends on the candidate, and the user wants it reproducible while the program runs.
  [[nodiscard]] bool settled() const;

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
