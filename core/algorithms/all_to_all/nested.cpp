/// "nested-shifts": shifts of hosts, leaves and pods, one within the other.

#include "core/algorithms/all_to_all/nested_shifts.hpp"
#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/phase_writer.hpp"
#include "core/limits.hpp"

namespace hocket {

namespace {

void keep_nearer(std::optional<PhasedMessage>& best, const std::optional<PhasedMessage>& other, Side side) {
  if (!other) return;
  if (!best || (side == Side::before ? other->phase > best->phase : other->phase < best->phase)) best = other;
}

}  // namespace

void NestedShifts::start_again(Digits& digits, std::uint32_t bottom, std::uint32_t top, Side side) const {
  for (std::uint32_t level = bottom; level < top; ++level) digits[level] = side == Side::after ? 0 : side_[level] - 1;
}

bool NestedShifts::step(Digits& digits, const Walk& walk, std::uint32_t level, Side side) const {
  for (; level < walk.top; ++level) {
    const std::uint32_t least = level + 1 == walk.top ? walk.least : 0;
    if (digits[level] == (side == Side::after ? side_[level] - 1 : least)) continue;
    digits[level] += side == Side::after ? 1 : ~std::uint32_t{0};
    start_again(digits, walk.bottom, level, side);
    return true;
  }
  return false;
}

void NestedShifts::list_led_to() {
  for (Id host = 0; host < ranks(); ++host) way_.push_back(tree_->way(number_[host]));
  places_below_.push_back(1);
  for (std::uint32_t level = 0; level < levels(); ++level) {
    places_below_.push_back(places_below_.back() * side_[level]);
    const std::uint32_t size = tree_->hosts_below(level), twins = tree_->twins(level + 1);
    std::vector<Id>& at = subtree_at_.emplace_back(tree_->hosts_below(levels()) / size, nowhere);
    for (Id subtree = 0; subtree < subtrees(level); ++subtree) at[number_[first_host(level, subtree)] / size] = subtree;
    led_to_.push_back(group(std::uint64_t{subtrees(level)} * twins, [&](auto visit) {
      for (Id subtree = 0; subtree < subtrees(level); ++subtree)
        for (Id host = first_host(level, subtree); host < first_host(level, subtree + 1); ++host)
          visit(std::uint64_t{subtree} * twins + way_[host] % twins, host);
    }));
  }
}

std::optional<NestedShifts::Link> NestedShifts::link(Channel channel) const {
  Node lower = tree_->head(channel ^ 1), upper = tree_->head(channel);
  const bool up = tree_->level(lower) < tree_->level(upper);
  if (!up) std::swap(lower, upper);
  const std::uint32_t level = tree_->level(lower);
  const Id subtree = subtree_at_[level][tree_->first_host(lower) / tree_->hosts_below(level)];
  if (subtree == nowhere) return std::nullopt;
  return Link{level, subtree, tree_->twin(upper), up};
}

std::span<const NestedShifts::Id> NestedShifts::led_to(std::uint32_t level, Id subtree, std::uint32_t digits) const {
  return led_to_[level].of(std::uint64_t{subtree} * tree_->twins(level + 1) + digits);
}

std::optional<NestedShifts::Id> NestedShifts::settle(const Walk& walk, Digits& digits, Side side) const {
  for (;;) {
    Id at = walk.from;
    std::uint32_t level = walk.top;
    std::uint32_t digit = 0, count = 0, most = 0;
    for (; level > walk.bottom; --level) {
      most = side_[level - 1];
      digit = walk.base[level - 1] + (walk.receives ? most - digits[level - 1] : digits[level - 1]);
      if (digit >= most) digit -= most;
      count = children(level, at);
      if (digit >= count) break;
      at = first_child_[level][at] + digit;
    }
    if (level == walk.bottom) return at;
    // The digits of the shift that lead to the nearest child.
    const std::uint32_t far = (side == Side::after) == walk.receives ? digit - count + 1 : most - digit;
    std::uint32_t& of_level = digits[level - 1];
    const std::uint32_t least = level == walk.top ? walk.least : 0;
    const bool within = side == Side::after ? of_level + far < most : of_level >= least + far;
    if (within) {
      of_level += side == Side::after ? far : ~far + 1;
      start_again(digits, walk.bottom, level - 1, side);
    } else if (!step(digits, walk, level, side)) {
      return std::nullopt;
    }
  }
}

/// The first shift from a turn on in which messages to the host come, by their colour.
NestedShifts::Turn NestedShifts::first_of(Id dst, const Turn& from, Side side) const {
  Turn turn{from.block, from.shift, colour(from.block, dst)};
  if (side == Side::before && turn.colour >= from.colour) --turn.shift;
  if (side == Side::after && turn.colour <= from.colour) ++turn.shift;
  return turn;
}

NestedShifts::Walk NestedShifts::walk(std::uint32_t bottom, std::uint32_t top, Id subtree, bool receives) const {
  Walk made{top, bottom, subtree, {}, receives, 0};
  for (std::uint32_t level = bottom; level < top; ++level) {
    made.base[level] = digit(level, made.from);
    made.from = parent_[level][made.from];
  }
  return made;
}

/// The nearest message to the host, of those that have its colour.
std::optional<PhasedMessage> NestedShifts::nearest_to(Id dst, const Walk& walk, Turn turn, Side side) const {
  Digits digits = this->digits(turn.block, turn.shift);
  const std::optional<Id> src = settle(walk, digits, side);
  if (!src) return std::nullopt;
  turn.shift = shift(turn.block, digits);
  return PhasedMessage{rank_at_[*src], rank_at_[dst], phase(turn)};
}

std::optional<PhasedMessage> NestedShifts::user_down(const Link& link, const Turn& from, Side side) const {
  std::optional<PhasedMessage> best;
  for (const Id dst : led_to(link.level, link.subtree, link.digits)) {
    const Turn turn = first_of(dst, from, side);
    if (turn.shift < 0 || turn.shift >= shifts(turn.block)) continue;
    Walk places = walk(0, turn.block + 1, dst, true);
    places.least = 1;
    keep_nearer(best, nearest_to(dst, places, turn, side), side);
  }
  return best;
}

/// Shift by shift of the subtrees of the link's level. Each of them is as many shifts as there are places below.
std::optional<PhasedMessage> NestedShifts::user_up(const Link& link, const Turn& from, Side side) const {
  const std::uint32_t block = from.block;
  const std::int64_t places_below = places_below_[link.level];
  Walk subtrees = walk(link.level, block + 1, link.subtree, false);
  subtrees.least = 1;
  Digits digits = this->digits(block, std::clamp<std::int64_t>(from.shift, 0, shifts(block) - 1));
  std::optional<PhasedMessage> best;
  while (const std::optional<Id> to = settle(subtrees, digits, side)) {
    for (std::uint32_t level = 0; level < link.level; ++level) digits[level] = 0;
    const std::int64_t first = shift(block, digits), last = first + places_below - 1;
    for (const Id dst : led_to(link.level, *to, link.digits)) {
      Turn turn = first_of(dst, from, side);
      turn.shift = side == Side::before ? std::min(turn.shift, last) : std::max(turn.shift, first);
      if (turn.shift < first || turn.shift > last) continue;
      Walk places = walk(0, link.level, dst, true);
      places.from = link.subtree;
      keep_nearer(best, nearest_to(dst, places, turn, side), side);
    }
    if (best || !step(digits, subtrees, link.level, side)) return best;
  }
  return std::nullopt;
}

std::optional<PhasedMessage> NestedShifts::user(Channel channel, std::uint64_t phase, Side side) const {
  const std::optional<Link> found = link(channel);
  if (!found) return std::nullopt;
  if (phase == before_all && side == Side::before) return std::nullopt;
  const std::uint32_t first = found->level, last = levels() - 1;  // blocks whose messages leave the subtree
  Turn turn = phase == before_all ? Turn{0, -1, 0} : this->turn(phase);
  if (turn.block < first || phase == before_all) {
    if (side == Side::before) return std::nullopt;
    turn = {first, -1, colours_[first]};
  }
  for (;;) {
    if (shifts(turn.block) > 0)
      if (const auto message = found->up ? user_up(*found, turn, side) : user_down(*found, turn, side)) return message;
    if (turn.block == (side == Side::before ? first : last)) return std::nullopt;
    if (side == Side::before) {
      --turn.block;
      turn.shift = shifts(turn.block);
      turn.colour = 0;
    } else {
      ++turn.block;
      turn.shift = -1;
      turn.colour = colours_[turn.block];
    }
  }
}

bool NestedShifts::uses(const PhasedMessage& message, Channel channel) const {
  const std::optional<Link> found = link(channel);
  if (!found) return false;
  const Id src = host_of_[message.src], dst = host_of_[message.dst];
  const auto below = [&](Id host) {
    return host >= first_host(found->level, found->subtree) && host < first_host(found->level, found->subtree + 1);
  };
  return below(found->up ? src : dst) && !below(found->up ? dst : src) &&
         way_[dst] % tree_->twins(found->level + 1) == found->digits;
}

}  // namespace hocket

namespace hocket::algorithms {

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
  return {std::move(shifts)};
}

constinit const Algorithm nested_shifts{
    .pattern = Pattern::all_to_all,
    .name = "nested-shifts",
    .summary = "shifts of hosts, leaves and pods of a fat tree, one within the other; of parts, and oversubscribed",
    .source = "own; after Zahavi",
    .contention_free = true,
    .refuses = [](const Network& network, const Demand&) { return NestedShifts::why_not(network); },
    .make = make_nested_shifts,
    .rank = 4,
    .is_far = nested_shifts_are_far,
    .form = nested_form,
};

}  // namespace hocket::algorithms
