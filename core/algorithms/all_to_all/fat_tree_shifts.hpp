#pragma once
/// All-to-alls on fat trees as shifts, in closed form.
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/network/network.hpp"

namespace hocket {

/// In phase j the rank at position p sends to p + j + 1, around; positions follow the hosts in the order of the tree.
/// With D-mod-k routes no two messages of a phase share a channel if every subtree that messages leave has as many
/// channels up as hosts, each with a rank. Then ranks fill whole subtrees: the hosts of one have the same last digits,
/// whichever subtrees these are. Source: Zahavi, "Fat-tree routing and node ordering providing contention free traffic
/// for MPI global collectives" (2012); whole subtrees: own.
class FatTreeShifts {
 public:
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

  /// The reason why some messages of a phase would share a channel; empty if none do.
  [[nodiscard]] static std::string_view why_not(const Network& network);
  /// Requires that why_not() is empty.
  explicit FatTreeShifts(const Network& network);

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(rank_at_.size()); }
  [[nodiscard]] std::uint64_t phases() const { return ranks() - 1; }
  /// The phase in which src sends to dst (src != dst).
  [[nodiscard]] std::uint64_t phase(Rank src, Rank dst) const {
    return (position_[dst] + ranks() - position_[src] - 1) % ranks();
  }
  [[nodiscard]] Rank target(Rank rank, std::uint64_t phase) const { return at(position_[rank] + phase + 1); }
  [[nodiscard]] Rank source(Rank rank, std::uint64_t phase) const { return at(position_[rank] + ranks() - phase - 1); }

  [[nodiscard]] std::uint32_t position(Rank rank) const { return position_[rank]; }
  [[nodiscard]] Rank at(std::uint64_t position) const { return rank_at_[position % ranks()]; }
  /// The position of a host, given by its number in the order of the tree; `nowhere` if the host has no rank.
  [[nodiscard]] std::uint32_t position_of_host(std::uint32_t host) const { return position_of_host_[host]; }
  /// True unless one node of the level has all ranks below it: then messages leave subtrees of the level.
  [[nodiscard]] bool are_left(std::uint32_t level) const { return rank_at_.size() > alone_below_[level]; }

 private:
  std::vector<std::uint32_t> position_, position_of_host_;
  std::vector<Rank> rank_at_;
  std::vector<std::uint32_t> alone_below_;  ///< per level: all ranks, if they are below one node of it, else 0
};

}  // namespace hocket
