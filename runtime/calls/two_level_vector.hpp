#pragma once
/// Alltoallv, Alltoallw and calls among neighbours with one message between two hosts that have something to say.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/buffers/vector_call.hpp"
#include "runtime/two_level/two_level_operation.hpp"
#include "runtime/two_level/vector_places.hpp"

namespace hocket::runtime {

/// An aggregate has a row (runtime/two_level/rows.hpp) for each rank that sends. Lengths travel with the messages, and
/// from what its ranks expect a host knows how much comes, and from whom: nobody asks before. So calls of all sizes may
/// follow each other. Messages longer than the memory has room for between every two ranks go on their own; sender and
/// receiver know which.
class TwoLevelVector : public TwoLevelOperation {
 public:
  /// `exchange` is an all-to-all of aggregates between leaders. `call` must outlive this.
  TwoLevelVector(const Exchange& exchange, const VectorCall& call, VectorSizes sizes);

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
  void put_rows(const std::vector<std::uint64_t>& to);
  void post_direct(const VectorSide& side, const std::vector<std::uint64_t>& by_peer, bool sends);
  void exchange_in_place();
  /// The aggregate for another host: one row per rank of this host. Empty if none of them has messages.
  [[nodiscard]] std::vector<Span> aggregate_for(std::size_t host) const;
  /// Computes the offsets of incoming aggregates from the sizes that all ranks of this host expect.
  void lay_out(std::span<std::uint64_t> arrivals) const;
  void take_message(Rank from, const Span& message, std::span<const Span> wanted);

  const VectorCall& call_;
  VectorSizes sizes_;
  std::size_t longest_;              ///< message that goes by aggregate
  std::vector<std::uint64_t> from_;  ///< bytes of each rank
  std::optional<PlacedBlocks> receive_;
  std::vector<MPI_Request> direct_;
  std::vector<std::byte> staging_;  ///< aggregates, for the MPI library
  std::vector<int> counts_;
  std::vector<std::uint64_t> arrivals_;         ///< copy of the leader's arrivals(), where all ranks lead
  std::vector<std::vector<std::byte>> shares_;  ///< aggregates that this rank carries, where all ranks lead
};

}  // namespace hocket::runtime
