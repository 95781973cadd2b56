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
#include "core/schedule/schedule.hpp"

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
///
/// A shift takes all that leaves a subtree to one other. Of the hosts there that a link leads to, which are few, each
/// gets its message from one place of the subtree, if that has a rank. Places without ranks are passed over digit by
/// digit.
class NestedShifts final : public ClosedForm {
 public:
  using Id = std::uint32_t;  ///< index of a subtree with ranks on its level, in the order of the tree; level 0: hosts
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
  static constexpr std::uint32_t most_levels = 8;
  using Digits = std::array<std::uint32_t, most_levels>;

  /// The reason why some messages of a phase would share a channel; empty if none do.
  [[nodiscard]] static std::string_view why_not(const Network& network);
  /// Null if why_not() gives a reason.
  [[nodiscard]] static std::unique_ptr<NestedShifts> make(const Network& network);

  [[nodiscard]] std::uint32_t ranks() const override { return static_cast<std::uint32_t>(rank_at_.size()); }
  [[nodiscard]] std::uint64_t phases() const override { return block_begin_.back(); }
  [[nodiscard]] std::uint64_t phase(Rank src, Rank dst) const override;
  [[nodiscard]] std::uint32_t sends_before(const PhasedMessage& message) const override;
  [[nodiscard]] std::optional<Rank> target(Rank rank, std::uint64_t phase) const override;
  [[nodiscard]] std::optional<Rank> source(Rank rank, std::uint64_t phase) const override;
  [[nodiscard]] std::optional<PhasedMessage> user(Channel channel, std::uint64_t phase, Side side) const override;
  [[nodiscard]] bool uses(const PhasedMessage& message, Channel channel) const override;

 private:
  [[nodiscard]] std::uint32_t levels() const { return static_cast<std::uint32_t>(side_.size()); }
  [[nodiscard]] std::uint32_t colour(std::uint32_t block, Id host) const {
    return block == 0 ? 0 : colour_[block][host];
  }
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

  /// A channel that messages take: between a subtree and the switch above it that has these digits.
  struct Link {
    std::uint32_t level;
    Id subtree;
    std::uint32_t digits;
    bool up;
  };
  [[nodiscard]] std::optional<Link> link(Channel channel) const;
  /// The hosts of a subtree to which the link with these digits leads.
  [[nodiscard]] std::span<const Id> led_to(std::uint32_t level, Id subtree, std::uint32_t digits) const;

  // From a shift on, in a direction; both are the nearest of a block, or none.
  [[nodiscard]] std::optional<PhasedMessage> user_up(const Link& link, const Turn& from, Side side) const;
  [[nodiscard]] std::optional<PhasedMessage> user_down(const Link& link, const Turn& from, Side side) const;

  /// Digits of some levels, and the subtree above these from which they lead down.
  struct Walk {
    std::uint32_t top, bottom;  ///< levels: from a subtree of `top` to one of `bottom`
    Id from;
    Digits base;
    bool receives;        ///< digits of the shift are taken from those of the base, else added to them
    std::uint32_t least;  ///< digit of the highest level
  };
  void start_again(Digits& digits, std::uint32_t bottom, std::uint32_t top, Side side) const;
  /// The next digits of a walk that differ on `level` or above; false if there are none. Lower ones start again.
  [[nodiscard]] bool step(Digits& digits, const Walk& walk, std::uint32_t level, Side side) const;
  /// The nearest digits of a shift, from the given ones on, that lead to a subtree with ranks; `digits` become these.
  [[nodiscard]] std::optional<Id> settle(const Walk& walk, Digits& digits, Side side) const;
  /// The walk from the ancestor of `subtree` on level `top` down to `subtree`, which is on level `bottom`.
  [[nodiscard]] Walk walk(std::uint32_t bottom, std::uint32_t top, Id subtree, bool receives) const;
  [[nodiscard]] Turn first_of(Id dst, const Turn& from, Side side) const;
  [[nodiscard]] std::optional<PhasedMessage> nearest_to(Id dst, const Walk& walk, Turn turn, Side side) const;

  explicit NestedShifts(const Network& network) : tree_(network.fat_tree()) {}
  void number_subtrees(const Network& network);
  [[nodiscard]] bool colour_hosts();
  [[nodiscard]] bool colour_block(std::uint32_t block);
  void list_led_to();
  [[nodiscard]] std::optional<Id> partner(Id host, const Turn& turn, bool receives) const;

  std::shared_ptr<const FatTree> tree_;
  std::vector<std::uint32_t> side_;      ///< per level: the most children with ranks of a subtree of the level above
  std::vector<std::uint32_t> colours_;   ///< per block
  std::vector<std::vector<Id>> parent_;  ///< per level and subtree; but the top's
  std::vector<std::vector<Id>> first_child_, first_host_;  ///< per level from 1, and one more
  std::vector<std::vector<std::uint8_t>> colour_;          ///< per block and host
  std::vector<std::uint64_t> block_begin_;                 ///< phases, and the end
  std::vector<Id> host_of_;                                ///< per rank
  std::vector<Rank> rank_at_;                              ///< per host
  std::vector<std::uint32_t> number_;                      ///< per host: in the order of the whole tree
  std::vector<std::vector<Id>> subtree_at_;                ///< per level and number in the whole tree
  std::vector<std::uint32_t> way_;                         ///< per host
  std::vector<Grouped> led_to_;                            ///< per level: hosts, by subtree and digits
  std::vector<std::int64_t> places_below_;                 ///< a subtree of a level, with and without ranks
};

}  // namespace hocket
