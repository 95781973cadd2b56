#pragma once
/// Nested shifts turned round: who uses a channel in a phase?
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/algorithms/all_to_all/nested_shifts.hpp"
#include "core/schedule/closed_form.hpp"

namespace hocket::closed_forms {

/// A shift takes all that leaves a subtree to one other. Of the hosts there that a link leads to, which are few, each
/// gets its message from one place of the subtree, if that has a rank. Places without ranks are passed over digit by
/// digit. Source: own.
class NestedForm final : public ClosedForm {
 public:
  NestedForm(const Network& network, std::unique_ptr<const NestedShifts> shifts);

  [[nodiscard]] std::uint32_t ranks() const override { return shifts_->ranks(); }
  [[nodiscard]] std::uint64_t phases() const override { return shifts_->phases(); }
  [[nodiscard]] std::uint64_t phase(Rank src, Rank dst) const override { return shifts_->phase(src, dst); }
  [[nodiscard]] std::uint32_t sends_before(const PhasedMessage& message) const override {
    return shifts_->sends_before(message.src, message.dst);
  }
  [[nodiscard]] std::optional<Rank> target(Rank rank, std::uint64_t phase) const override {
    return shifts_->target(rank, phase);
  }
  [[nodiscard]] std::optional<Rank> source(Rank rank, std::uint64_t phase) const override {
    return shifts_->source(rank, phase);
  }
  [[nodiscard]] std::optional<PhasedMessage> user(Channel channel, std::uint64_t phase, Side side) const override;
  [[nodiscard]] bool uses(const PhasedMessage& message, Channel channel) const override;

 private:
  using Id = NestedShifts::Id;
  using Digits = NestedShifts::Digits;
  using Turn = NestedShifts::Turn;

  /// A channel that messages take: between a subtree and the switch above it that has these digits.
  struct Link {
    std::uint32_t level;
    Id subtree;
    std::uint32_t digits;
    bool up;
  };
  [[nodiscard]] std::optional<Link> link(Channel channel) const;
  /// The hosts of a subtree to which the link with these digits leads.
  [[nodiscard]] std::span<const Id> led_to(std::uint32_t level, const Id& subtree, std::uint32_t digits) const;

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
  /// The nearest digits of a shift, from the given ones on, that lead to a subtree with ranks; `digits` become these.
  [[nodiscard]] std::optional<Id> settle(const Walk& walk, Digits& digits, Side side) const;
  /// The walk from the ancestor of `subtree` on level `top` down to `subtree`, which is on level `bottom`.
  [[nodiscard]] Walk walk(std::uint32_t bottom, std::uint32_t top, Id subtree, bool receives) const;
  [[nodiscard]] Turn first_of(Id dst, const Turn& from, Side side) const;
  [[nodiscard]] std::optional<PhasedMessage> nearest_to(Id dst, const Walk& walk, Turn turn, Side side) const;

  std::shared_ptr<const FatTree> tree_;
  std::unique_ptr<const NestedShifts> shifts_;
  std::vector<std::vector<Id>> subtree_at_;               ///< per level and number in the whole tree
  std::vector<std::uint32_t> way_;                        ///< per host
  std::vector<std::vector<std::uint32_t>> first_led_to_;  ///< per level, subtree and digits, and one more
  std::vector<std::vector<Id>> led_to_;                   ///< per level: hosts
  std::vector<std::int64_t> places_below_;                ///< a subtree of a level, with and without ranks
};

}  // namespace hocket::closed_forms
