#pragma once
/// All-to-alls on fat trees of which ranks fill any part, or that are oversubscribed, in closed form.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/network/network.hpp"

namespace hocket {

/// Shifts of hosts within leaves, of leaves within pods, and so on, one within the other: a rank has a digit per level,
/// its place among the subtrees beside it that have ranks, and the digits of its target are its own plus those of the
/// shift, each modulo the most there are on its level. So in a phase all that leaves one subtree goes to one other, to
/// different hosts there. Those of them to which the same link leads have different *colours*, and take turns: each
/// shift has a phase for each colour.
///
/// Shifts come in blocks, by the highest digit that changes: first within leaves (which takes no colours), then within
/// pods, and so on. Source: own, from the shifts of Zahavi, "Fat-tree routing and node ordering providing contention
/// free traffic for MPI global collectives" (2012), which need full trees.
class NestedShifts {
 public:
  using Id = std::uint32_t;  ///< index of a subtree with ranks on its level, in the order of the tree; level 0: hosts
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
  static constexpr std::uint32_t most_levels = 8;
  using Digits = std::array<std::uint32_t, most_levels>;

  /// The reason why some messages of a phase would share a channel; empty if none do.
  [[nodiscard]] static std::string_view why_not(const Network& network);
  /// Null if why_not() gives a reason.
  [[nodiscard]] static std::unique_ptr<NestedShifts> make(const Network& network);

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(rank_at_.size()); }
  [[nodiscard]] std::uint64_t phases() const { return block_begin_.back(); }
  /// The phase in which src sends to dst (src != dst).
  [[nodiscard]] std::uint64_t phase(Rank src, Rank dst) const;
  [[nodiscard]] std::optional<Rank> target(Rank rank, std::uint64_t phase) const;
  [[nodiscard]] std::optional<Rank> source(Rank rank, std::uint64_t phase) const;
  /// The messages of src in phases before its message to dst.
  [[nodiscard]] std::uint32_t sends_before(Rank src, Rank dst) const;

  // Parts of the form, for code that inverts it: from a channel and a phase to the message.
  [[nodiscard]] std::uint32_t levels() const { return static_cast<std::uint32_t>(side_.size()); }
  /// The most children with ranks that a subtree of the level above has.
  [[nodiscard]] std::uint32_t side(std::uint32_t level) const { return side_[level]; }
  [[nodiscard]] std::uint32_t colours(std::uint32_t block) const { return colours_[block]; }
  [[nodiscard]] std::uint32_t colour(std::uint32_t block, Id host) const {
    return block == 0 ? 0 : colour_[block][host];
  }
  [[nodiscard]] Id host(Rank rank) const { return host_of_[rank]; }
  [[nodiscard]] Rank rank(Id host) const { return rank_at_[host]; }
  /// The number of a host in the order of the whole tree.
  [[nodiscard]] std::uint32_t number(Id host) const { return number_[host]; }
  [[nodiscard]] Id parent(std::uint32_t level, Id subtree) const { return parent_[level][subtree]; }
  [[nodiscard]] Id first_child(std::uint32_t level, Id subtree) const { return first_child_[level][subtree]; }
  [[nodiscard]] std::uint32_t children(std::uint32_t level, Id subtree) const {
    return first_child_[level][subtree + 1] - first_child_[level][subtree];
  }
  [[nodiscard]] std::uint32_t digit(std::uint32_t level, Id subtree) const {
    return subtree - first_child_[level + 1][parent_[level][subtree]];
  }
  /// The subtree's hosts are [first_host(level, subtree), first_host(level, subtree + 1)).
  [[nodiscard]] Id first_host(std::uint32_t level, Id subtree) const {
    return level == 0 ? subtree : first_host_[level][subtree];
  }
  [[nodiscard]] Id subtree_of(std::uint32_t level, Id host) const {
    for (std::uint32_t i = 0; i < level; ++i) host = parent_[i][host];
    return host;
  }
  [[nodiscard]] std::uint32_t subtrees(std::uint32_t level) const {
    return level < levels() ? static_cast<std::uint32_t>(parent_[level].size()) : 1;
  }
  /// The block of a phase, the number of its shift in the block, and the colour.
  struct Turn {
    std::uint32_t block;
    std::int64_t shift;
    std::uint32_t colour;
  };
  [[nodiscard]] Turn turn(std::uint64_t phase) const;
  [[nodiscard]] std::uint64_t phase(const Turn& turn) const {
    return block_begin_[turn.block] + static_cast<std::uint64_t>(turn.shift) * colours_[turn.block] + turn.colour;
  }
  [[nodiscard]] std::int64_t shifts(std::uint32_t block) const {
    return static_cast<std::int64_t>((block_begin_[block + 1] - block_begin_[block]) / colours_[block]);
  }
  /// The digits of a shift; that of the block's own level is at least 1.
  [[nodiscard]] Digits digits(std::uint32_t block, std::int64_t shift) const;
  [[nodiscard]] std::int64_t shift(std::uint32_t block, const Digits& digits) const;

 private:
  NestedShifts() = default;
  void number_subtrees(const Network& network);
  [[nodiscard]] bool colour_hosts(const FatTree& tree);
  [[nodiscard]] bool colour_block(const FatTree& tree, std::uint32_t block);
  [[nodiscard]] std::optional<Id> partner(Id host, const Turn& turn, bool receives) const;

  std::vector<std::uint32_t> side_, colours_;              ///< per level
  std::vector<std::vector<Id>> parent_;                    ///< per level and subtree; but the top's
  std::vector<std::vector<Id>> first_child_, first_host_;  ///< per level from 1, and one more
  std::vector<std::vector<std::uint8_t>> colour_;          ///< per block and host
  std::vector<std::uint64_t> block_begin_;                 ///< phases, and the end
  std::vector<Id> host_of_;                                ///< per rank
  std::vector<Rank> rank_at_;                              ///< per host
  std::vector<std::uint32_t> number_;                      ///< per host: in the order of the whole tree
};

}  // namespace hocket
