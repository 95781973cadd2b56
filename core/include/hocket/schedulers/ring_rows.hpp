#pragma once
/// All-gathers round one ring, and reduce-scatters made of them: any rank's row follows from its two neighbours.
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "hocket/demand/demand.hpp"
#include "hocket/network/network.hpp"
#include "hocket/plan/program.hpp"

namespace hocket {

/// In each phase every rank hands a block to its successor: its own first, then what has come in. A reduce-scatter is
/// the same backwards. No two edges share a channel, so nobody waits for a token.
class RingRows {
 public:
  /// `order`: the ranks as the ring visits them, each once. All-gather or reduce-scatter.
  RingRows(std::vector<Rank> order, Pattern pattern, std::uint64_t bytes);

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(order_.size()); }
  [[nodiscard]] std::uint64_t phases() const { return order_.size() - 1; }
  /// Throws InputError if there is no such rank.
  [[nodiscard]] RankProgram row(Rank rank) const;
  /// What verify_ring() judges.
  [[nodiscard]] std::span<const Rank> order() const { return order_; }
  [[nodiscard]] Pattern pattern() const { return pattern_; }

 private:
  [[nodiscard]] Rank at(std::uint64_t place) const { return order_[place % order_.size()]; }

  std::vector<Rank> order_;
  std::vector<std::uint32_t> place_;  ///< per rank
  Pattern pattern_;
  std::uint64_t bytes_;  ///< of a block
};

/// The schedule of `scheduler`, by row. With more than limits::most_messages_compared messages it is the one that
/// plan_exchange() would choose. Without rows `why_not` says why. Time and memory are linear in the nodes of the
/// network.
struct FoundRing {
  std::optional<RingRows> rows;
  std::string_view scheduler;
  std::string_view why_not;
};

[[nodiscard]] FoundRing ring_rows_of(const Network& network, const Demand& demand);

}  // namespace hocket
