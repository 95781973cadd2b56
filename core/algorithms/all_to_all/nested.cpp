/// "nested-shifts": shifts of hosts, leaves and pods, one within the other.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/algorithms/all_to_all/nested_shifts.hpp"
#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/phase_writer.hpp"
#include "core/limits.hpp"
#include "core/schedule/bounds.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket::closed_forms {

namespace {

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
  /// The nearest digits of a shift, from the given ones on, that lead to a subtree with ranks; `digits` become these.
  [[nodiscard]] std::optional<Id> settle(const Walk& walk, Digits& digits, Side side) const;
  /// The walk from the ancestor of `subtree` on level `top` down to `subtree`, which is on level `bottom`.
  [[nodiscard]] Walk walk(std::uint32_t bottom, std::uint32_t top, Id subtree, bool receives) const;
  [[nodiscard]] Turn first_of(Id dst, const Turn& from, Side side) const;
  [[nodiscard]] std::optional<PhasedMessage> nearest_to(Id dst, const Walk& walk, Turn turn, Side side) const;

  std::shared_ptr<const FatTree> tree_;
  std::unique_ptr<const NestedShifts> shifts_;
  std::vector<std::vector<Id>> subtree_at_;  ///< per level and number in the whole tree
  std::vector<std::uint32_t> way_;           ///< per host
  std::vector<Grouped> led_to_;              ///< per level: hosts, by subtree and digits
  std::vector<std::int64_t> places_below_;   ///< a subtree of a level, with and without ranks
};

void start_again(const NestedShifts& shifts, NestedShifts::Digits& digits, std::uint32_t bottom, std::uint32_t top,
                 Side side) {
  for (std::uint32_t level = bottom; level < top; ++level)
    digits[level] = side == Side::after ? 0 : shifts.side(level) - 1;
}

/// Digits of the levels from `bottom` up to below `top`, of which the highest is at least `least`.
struct Range {
  std::uint32_t bottom, top, least;
};

/// The next digits that differ on `level` or above; false if there are none. Lower ones start again.
bool step(const NestedShifts& shifts, NestedShifts::Digits& digits, const Range& range, std::uint32_t level,
          Side side) {
  for (; level < range.top; ++level) {
    const std::uint32_t least = level + 1 == range.top ? range.least : 0;
    if (digits[level] == (side == Side::after ? shifts.side(level) - 1 : least)) continue;
    digits[level] += side == Side::after ? 1 : ~std::uint32_t{0};
    start_again(shifts, digits, range.bottom, level, side);
    return true;
  }
  return false;
}

void keep_nearer(std::optional<PhasedMessage>& best, const std::optional<PhasedMessage>& other, Side side) {
  if (!other) return;
  if (!best || (side == Side::before ? other->phase > best->phase : other->phase < best->phase)) best = other;
}

NestedForm::NestedForm(const Network& network, std::unique_ptr<const NestedShifts> shifts)
    : tree_(network.fat_tree()), shifts_(std::move(shifts)) {
  const std::uint32_t levels = shifts_->levels();
  for (Id host = 0; host < shifts_->ranks(); ++host) way_.push_back(tree_->way(shifts_->number(host)));
  places_below_.push_back(1);
  for (std::uint32_t level = 0; level < levels; ++level) {
    places_below_.push_back(places_below_.back() * shifts_->side(level));
    const std::uint32_t size = tree_->hosts_below(level), twins = tree_->twins(level + 1);
    std::vector<Id>& at = subtree_at_.emplace_back(tree_->hosts_below(levels) / size, NestedShifts::nowhere);
    for (Id subtree = 0; subtree < shifts_->subtrees(level); ++subtree)
      at[shifts_->number(shifts_->first_host(level, subtree)) / size] = subtree;
    led_to_.push_back(group(std::uint64_t{shifts_->subtrees(level)} * twins, [&](auto visit) {
      for (Id subtree = 0; subtree < shifts_->subtrees(level); ++subtree)
        for (Id host = shifts_->first_host(level, subtree); host < shifts_->first_host(level, subtree + 1); ++host)
          visit(std::uint64_t{subtree} * twins + way_[host] % twins, host);
    }));
  }
}

std::optional<NestedForm::Link> NestedForm::link(Channel channel) const {
  Node lower = tree_->head(channel ^ 1), upper = tree_->head(channel);
  const bool up = tree_->level(lower) < tree_->level(upper);
  if (!up) std::swap(lower, upper);
  const std::uint32_t level = tree_->level(lower);
  const Id subtree = subtree_at_[level][tree_->first_host(lower) / tree_->hosts_below(level)];
  if (subtree == NestedShifts::nowhere) return std::nullopt;
  return Link{level, subtree, tree_->twin(upper), up};
}

std::span<const NestedForm::Id> NestedForm::led_to(std::uint32_t level, Id subtree, std::uint32_t digits) const {
  return led_to_[level].of(std::uint64_t{subtree} * tree_->twins(level + 1) + digits);
}

std::optional<NestedForm::Id> NestedForm::settle(const Walk& walk, Digits& digits, Side side) const {
  const NestedShifts& shifts = *shifts_;
  for (;;) {
    Id at = walk.from;
    std::uint32_t level = walk.top;
    std::uint32_t digit = 0, count = 0, most = 0;
    for (; level > walk.bottom; --level) {
      most = shifts.side(level - 1);
      digit = walk.base[level - 1] + (walk.receives ? most - digits[level - 1] : digits[level - 1]);
      if (digit >= most) digit -= most;
      count = shifts.children(level, at);
      if (digit >= count) break;
      at = shifts.first_child(level, at) + digit;
    }
    if (level == walk.bottom) return at;
    // The digits of the shift that lead to the nearest child.
    const std::uint32_t far = (side == Side::after) == walk.receives ? digit - count + 1 : most - digit;
    std::uint32_t& of_level = digits[level - 1];
    const std::uint32_t least = level == walk.top ? walk.least : 0;
    const bool within = side == Side::after ? of_level + far < most : of_level >= least + far;
    if (within) {
      of_level += side == Side::after ? far : ~far + 1;
      start_again(shifts, digits, walk.bottom, level - 1, side);
    } else if (!step(shifts, digits, {walk.bottom, walk.top, walk.least}, level, side)) {
      return std::nullopt;
    }
  }
}

/// The first shift from a turn on in which messages to the host come, by their colour.
NestedForm::Turn NestedForm::first_of(Id dst, const Turn& from, Side side) const {
  Turn turn{from.block, from.shift, shifts_->colour(from.block, dst)};
  if (side == Side::before && turn.colour >= from.colour) --turn.shift;
  if (side == Side::after && turn.colour <= from.colour) ++turn.shift;
  return turn;
}

NestedForm::Walk NestedForm::walk(std::uint32_t bottom, std::uint32_t top, Id subtree, bool receives) const {
  Walk made{top, bottom, subtree, {}, receives, 0};
  for (std::uint32_t level = bottom; level < top; ++level) {
    made.base[level] = shifts_->digit(level, made.from);
    made.from = shifts_->parent(level, made.from);
  }
  return made;
}

/// The nearest message to the host, of those that have its colour.
std::optional<PhasedMessage> NestedForm::nearest_to(Id dst, const Walk& walk, Turn turn, Side side) const {
  Digits digits = shifts_->digits(turn.block, turn.shift);
  const std::optional<Id> src = settle(walk, digits, side);
  if (!src) return std::nullopt;
  turn.shift = shifts_->shift(turn.block, digits);
  return PhasedMessage{shifts_->rank(*src), shifts_->rank(dst), shifts_->phase(turn)};
}

std::optional<PhasedMessage> NestedForm::user_down(const Link& link, const Turn& from, Side side) const {
  std::optional<PhasedMessage> best;
  for (const Id dst : led_to(link.level, link.subtree, link.digits)) {
    const Turn turn = first_of(dst, from, side);
    if (turn.shift < 0 || turn.shift >= shifts_->shifts(turn.block)) continue;
    Walk places = walk(0, turn.block + 1, dst, true);
    places.least = 1;
    keep_nearer(best, nearest_to(dst, places, turn, side), side);
  }
  return best;
}

/// Shift by shift of the subtrees of the link's level. Each of them is as many shifts as there are places below.
std::optional<PhasedMessage> NestedForm::user_up(const Link& link, const Turn& from, Side side) const {
  const std::uint32_t block = from.block;
  const std::int64_t places_below = places_below_[link.level];
  Walk subtrees = walk(link.level, block + 1, link.subtree, false);
  subtrees.least = 1;
  Digits digits = shifts_->digits(block, std::clamp<std::int64_t>(from.shift, 0, shifts_->shifts(block) - 1));
  std::optional<PhasedMessage> best;
  while (const std::optional<Id> to = settle(subtrees, digits, side)) {
    for (std::uint32_t level = 0; level < link.level; ++level) digits[level] = 0;
    const std::int64_t first = shifts_->shift(block, digits), last = first + places_below - 1;
    for (const Id dst : led_to(link.level, *to, link.digits)) {
      Turn turn = first_of(dst, from, side);
      turn.shift = side == Side::before ? std::min(turn.shift, last) : std::max(turn.shift, first);
      if (turn.shift < first || turn.shift > last) continue;
      Walk places = walk(0, link.level, dst, true);
      places.from = link.subtree;
      keep_nearer(best, nearest_to(dst, places, turn, side), side);
    }
    if (best || !step(*shifts_, digits, {link.level, subtrees.top, 1}, link.level, side)) return best;
  }
  return std::nullopt;
}

std::optional<PhasedMessage> NestedForm::user(Channel channel, std::uint64_t phase, Side side) const {
  const std::optional<Link> found = link(channel);
  if (!found) return std::nullopt;
  if (phase == before_all && side == Side::before) return std::nullopt;
  const std::uint32_t first = found->level, last = shifts_->levels() - 1;  // blocks whose messages leave the subtree
  Turn turn = phase == before_all ? Turn{0, -1, 0} : shifts_->turn(phase);
  if (turn.block < first || phase == before_all) {
    if (side == Side::before) return std::nullopt;
    turn = {first, -1, shifts_->colours(first)};
  }
  for (;;) {
    if (shifts_->shifts(turn.block) > 0)
      if (const auto message = found->up ? user_up(*found, turn, side) : user_down(*found, turn, side)) return message;
    if (turn.block == (side == Side::before ? first : last)) return std::nullopt;
    if (side == Side::before) {
      --turn.block;
      turn.shift = shifts_->shifts(turn.block);
      turn.colour = 0;
    } else {
      ++turn.block;
      turn.shift = -1;
      turn.colour = shifts_->colours(turn.block);
    }
  }
}

bool NestedForm::uses(const PhasedMessage& message, Channel channel) const {
  const std::optional<Link> found = link(channel);
  if (!found) return false;
  const Id src = shifts_->host(message.src), dst = shifts_->host(message.dst);
  const auto below = [&](Id host) {
    return host >= shifts_->first_host(found->level, found->subtree) &&
           host < shifts_->first_host(found->level, found->subtree + 1);
  };
  return below(found->up ? src : dst) && !below(found->up ? dst : src) &&
         way_[dst] % tree_->twins(found->level + 1) == found->digits;
}

}  // namespace

}  // namespace hocket::closed_forms

namespace hocket::algorithms {

static std::string_view nested_shifts_refuses(const Network& network, const Demand&) {
  return NestedShifts::why_not(network);
}

static Schedule make_nested_shifts(const Network& network, const Demand& demand, const AlgorithmOptions&) {
  return written_out(*NestedShifts::make(network), demand);
}

/// Compares with the bound, since each place of a subtree takes a phase, with and without a rank.
static bool nested_shifts_are_far(const Network& network, const Demand&, const Bounds& bounds) {
  return !limits::is_near(network.ranks(), NestedShifts::make(network)->phases(), bounds.phases);
}

static FoundForm nested_form(const Network& network, const Demand& demand, bool near) {
  if (network.fat_tree() == nullptr) return {};
  std::unique_ptr<NestedShifts> shifts = NestedShifts::make(network);
  if (shifts == nullptr) return {nullptr, {}, NestedShifts::why_not(network)};
  if (near && !limits::is_near(network.ranks(), shifts->phases(), lower_bounds(network, demand).phases))
    return {nullptr, {}, "nested shifts are far from the bound"};
  return {std::make_unique<closed_forms::NestedForm>(network, std::move(shifts))};
}

constinit const Algorithm nested_shifts{
    .pattern = Pattern::all_to_all,
    .name = "nested-shifts",
    .summary = "shifts of hosts, leaves and pods of a fat tree, one within the other; of parts, and oversubscribed",
    .source = "own; after Zahavi",
    .contention_free = true,
    .refuses = nested_shifts_refuses,
    .make = make_nested_shifts,
    .rank = 4,
    .is_far = nested_shifts_are_far,
    .form = nested_form,
};

}  // namespace hocket::algorithms
