#pragma once
/// Calls that the ranks of each host make together.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/buffers/blocks.hpp"
#include "runtime/buffers/vector_call.hpp"
#include "runtime/calls/block_calls.hpp"
#include "runtime/two_level/host_team.hpp"
#include "runtime/two_level/two_level_operation.hpp"

namespace hocket::runtime {

/// MPI_Alltoall with one message between two hosts: p · q · m bytes, of the p ranks of one and the q of the other.
class TwoLevelAllToAll : public TwoLevelOperation {
 public:
  TwoLevelAllToAll(const Exchange& exchange, const AllToAllCall& call);

 private:
  void put() final;
  [[nodiscard]] Traffic traffic() final;
  void carry(MPI_Comm leaders, MPI_Request* request) final;
  [[nodiscard]] Span going_out(std::size_t host) final;
  [[nodiscard]] Span coming_in(std::size_t host) final;
  void take() final;

  /// The aggregate of this host for another one, or from it: they are as long.
  [[nodiscard]] std::byte* going_to(std::size_t host) const { return area() + layout_.going_out(host); }
  [[nodiscard]] std::byte* coming_from(std::size_t host) const { return area() + layout_.coming_in(host); }
  [[nodiscard]] std::size_t aggregate_bytes(std::size_t host) const {
    return hosts().blocks(hosts().host, host) * sent_ + mark_bytes();
  }
  /// The mark at the end of an aggregate that begins there.
  [[nodiscard]] std::byte* mark_of(std::size_t host, std::byte* aggregate) const {
    return aggregate + aggregate_bytes(host) - mark_bytes();
  }

  AllToAllCall call_;
  std::size_t received_, sent_;  ///< bytes of a message
  AggregateLayout layout_;
  std::vector<int> counts_, places_;  ///< sizes and offsets of aggregates, for the MPI library
  std::optional<PlacedBlocks> receive_;
  std::vector<std::unique_ptr<std::byte[]>> strays_;  ///< aggregates that come to a host whose ranks differ
};

/// MPI_Allgather(v) with one contribution for each host: those of its ranks.
class TwoLevelGather : public TwoLevelOperation {
 public:
  TwoLevelGather(const Exchange& exchange, const GatherCall& call) : TwoLevelOperation(exchange), call_(call) {}

 private:
  void put() final;
  [[nodiscard]] Traffic traffic() final;
  void carry(MPI_Comm leaders, MPI_Request* request) final;
  void take() final;
  [[nodiscard]] std::byte* mark_of(std::size_t host) const;

  GatherCall call_;
  std::optional<GatherLayout> layout_;
  std::vector<int> counts_, places_;  ///< sizes and offsets of the hosts' contributions, for MPI_Allgatherv
  std::optional<GatherBlocks> receive_;
};

/// MPI_Allreduce with one vector for each host: the sum of its ranks'.
/// The ranks of a host add up a part of the vector each, in the order of the ranks: the result does not depend on who
/// comes first.
class TwoLevelReduce : public TwoLevelOperation {
 public:
  TwoLevelReduce(const Exchange& exchange, const AllReduceCall& call);

 private:
  void put() final;
  [[nodiscard]] bool works() const final { return true; }
  void work() final;
  [[nodiscard]] Traffic traffic() final;
  void carry(MPI_Comm leaders, MPI_Request* request) final;
  void take() final;

  /// The vector of rank `local` of this host; the one after the last holds the sum.
  [[nodiscard]] std::byte* vector_of(std::size_t local) const { return area() + sums_.vector_of(local); }

  AllReduceCall call_;
  Reduction reduction_;
  ReductionBuffers buffers_;
  SumLayout sums_;
};

/// Alltoallv, Alltoallw and calls among neighbours with one message between two hosts that have something to say.
/// An aggregate has a row (runtime/two_level/host_team.hpp) for each rank that sends. Lengths travel with the
/// messages, and from what its ranks expect a host knows how much comes, and from whom: nobody asks before. So calls of
/// all sizes may follow each other. Messages longer than the memory has room for between every two ranks go on their
/// own; sender and receiver know which.
class TwoLevelVector : public TwoLevelOperation {
 public:
  /// `exchange` is an all-to-all of aggregates between leaders. `call` must outlive this.
  TwoLevelVector(const Exchange& exchange, const VectorCall& call);

 private:
  void put() final;
  [[nodiscard]] Traffic traffic() final;
  void carry(MPI_Comm leaders, MPI_Request* request) final;
  void prepare_share() final;
  [[nodiscard]] Span going_out(std::size_t host) final;
  [[nodiscard]] Span coming_in(std::size_t host) final;
  void take() final;
  [[nodiscard]] bool waits_for_more() const final { return !direct_.empty(); }
  [[nodiscard]] bool all_in() final;

  [[nodiscard]] VectorPlaces places() const { return {hosts(), area(), longest_}; }
  [[nodiscard]] bool is_direct(std::uint64_t bytes) const { return bytes > longest_; }
  [[nodiscard]] std::vector<Block> two_level(const VectorSide& side, const std::vector<std::uint64_t>& by_peer) const;
  void put_rows();
  void post_direct(const VectorSide& side, const std::vector<std::uint64_t>& by_peer, bool sends);
  void exchange_in_place();
  /// The aggregate for another host: one row per rank of this host. Empty if none of them has messages.
  [[nodiscard]] std::vector<Span> aggregate_for(std::size_t host) const;
  /// Computes the offsets of incoming aggregates from the sizes that all ranks of this host expect.
  void lay_out(std::span<std::uint64_t> arrivals) const;
  void take_message(Rank from, const Span& message, std::span<const Span> wanted);

  const VectorCall& call_;
  std::size_t longest_;                   ///< message that goes by aggregate
  std::vector<std::uint64_t> to_, from_;  ///< bytes of each rank
  std::optional<PlacedBlocks> receive_;
  std::vector<MPI_Request> direct_;
  std::vector<std::byte> staging_;  ///< aggregates, for the MPI library
  std::vector<int> counts_;
  std::vector<std::uint64_t> arrivals_;         ///< copy of the leader's arrivals(), where all ranks lead
  std::vector<std::vector<std::byte>> shares_;  ///< aggregates that this rank carries, where all ranks lead
};

}  // namespace hocket::runtime
