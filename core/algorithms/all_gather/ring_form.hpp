#pragma once
/// Rings of hosts on any network. All-gathers round one ring, and the reductions made of them: any rank's program
/// follows from its two neighbours, and at the turn of an all-reduce from those whose routes cross its own.
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/demand/demand.hpp"
#include "core/network/network.hpp"
#include "core/plan/program.hpp"
#include "core/schedule/verify.hpp"

namespace hocket::algorithms {

/// Cycles through all hosts of a torus, mesh or hypercube, no two of which share a link; empty where
/// none was found. A torus of d dimensions has d, a hypercube of d dimensions ⌊d/2⌋, a mesh one.
[[nodiscard]] std::vector<std::vector<Node>> grid_cycles(const Network& network);

/// One ring of all hosts whose routes load the channels little: near ones follow each other, improved
/// by moving stretches of the ring. In a fat tree the order of its hosts: one edge leaves each subtree, and one comes
/// in; in a dragonfly group by group. Deterministic.
[[nodiscard]] std::vector<Node> host_ring(const Network& network);

}  // namespace hocket::algorithms

namespace hocket {

/// In each phase every rank hands a block to its successor: its own first, then what has come in. A reduce-scatter is
/// the same backwards, an all-reduce both. No two edges share a channel, so nobody waits for a token but at the turn of
/// an all-reduce: there the edges of an all-gather meet those of a reduce-scatter.
class RingForm {
 public:
  /// `order`: the ranks as the ring visits them, each once. All-gather, reduce-scatter or all-reduce.
  RingForm(const Network& network, std::vector<Rank> order, Demand demand);

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(order_.size()); }
  [[nodiscard]] std::uint64_t phases() const { return turn() * (pattern() == Pattern::all_reduce ? 2 : 1); }
  /// `window`: messages in flight that waits allow on a channel. Throws InputError if there is no such rank.
  [[nodiscard]] RankProgram program(Rank rank, std::uint32_t window) const;
  /// The ranks in the order of the ring, as verify_ring() checks them.
  [[nodiscard]] std::span<const Rank> order() const { return order_; }
  [[nodiscard]] Pattern pattern() const { return demand_.pattern; }
  /// The waits between the halves of an all-reduce, sorted by the edge that waits. Empty for other patterns.
  [[nodiscard]] std::span<const TurnWait> turn_waits() const { return by_waiting_; }

 private:
  [[nodiscard]] std::uint64_t turn() const { return order_.size() - 1; }  ///< phases of each half
  [[nodiscard]] Rank at(std::uint64_t place) const { return order_[place % order_.size()]; }
  [[nodiscard]] Piece block(std::uint64_t place) const {
    return {at(place), everyone, 0, demand_.contribution(at(place))};
  }
  void add_half(RankProgram& program, std::uint64_t place, bool gathers) const;
  void add_turn(RankProgram& program, std::uint32_t place, std::uint32_t window) const;

  std::vector<Rank> order_;
  std::vector<std::uint32_t> place_;  ///< per rank
  Demand demand_;
  std::vector<TurnWait> by_waiting_, by_releasing_;  ///< sorted
};

/// The schedule of `algorithm`, by program. With more than limits::most_messages_compared messages it is the one that
/// plan_exchange() would choose. Without a form `why_not` says why. Time and memory are linear in the nodes of the
/// network.
struct FoundRing {
  std::optional<RingForm> form;
  std::string_view algorithm;
  std::string_view why_not;
};

[[nodiscard]] FoundRing ring_form_of(const Network& network, const Demand& demand);

}  // namespace hocket
