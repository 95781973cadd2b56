/// "nested-shifts": all-to-alls on fat trees of which ranks fill any part, or that are oversubscribed: shifts of hosts,
/// leaves and pods, one within the other, in closed form.
#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <optional>

#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/phase_writer.hpp"
#include "core/limits.hpp"

namespace hocket {
namespace {

constexpr std::uint32_t most_colours = 64;

void keep_nearer(std::optional<PhasedMessage>& best, const std::optional<PhasedMessage>& other, Side side) {
  if (!other) return;
  if (!best || (side == Side::before ? other->phase > best->phase : other->phase < best->phase)) best = other;
}

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
  [[nodiscard]] static std::string_view why_not(const Network& network) {
    if (const std::string_view reason = unfit(network); !reason.empty()) return reason;
    return make(network) == nullptr ? "too many messages share a link" : std::string_view();
  }
  /// Null if why_not() gives a reason.
  [[nodiscard]] static std::unique_ptr<NestedShifts> make(const Network& network) {
    if (!unfit(network).empty()) return nullptr;
    std::unique_ptr<NestedShifts> made(new NestedShifts(network));
    made->number_subtrees(network);
    if (!made->colour_hosts()) return nullptr;
    made->list_led_to();
    return made;
  }

  [[nodiscard]] std::uint32_t ranks() const override { return static_cast<std::uint32_t>(rank_at_.size()); }
  [[nodiscard]] std::uint64_t phases() const override { return block_begin_.back(); }
  [[nodiscard]] std::uint64_t phase(Rank src, Rank dst) const override {
    Id from = host_of_[src], to = host_of_[dst];
    const Id target = to;
    Digits digits{};
    std::uint32_t level = 0;
    for (; from != to; ++level) {
      const std::uint32_t x = digit(level, from), y = digit(level, to);
      digits[level] = y >= x ? y - x : y + side_[level] - x;
      from = parent_[level][from];
      to = parent_[level][to];
    }
    return phase({level - 1, shift(level - 1, digits), colour(level - 1, target)});
  }
  /// Counts two kinds of sends: all those within src's child of the smallest subtree that has both ranks; then, on each
  /// level from there down, those to siblings of dst's subtree, from src's own digit cyclically to dst's.
  [[nodiscard]] std::uint32_t sends_before(const PhasedMessage& message) const override {
    Id from = host_of_[message.src], to = host_of_[message.dst];
    Id below = from;  // the subtree of src next to the one that has both
    std::uint32_t count = 0;
    const auto hosts = [&](std::uint32_t level, Id above, std::uint32_t begin, std::uint32_t end) {
      const std::uint32_t there = children(level + 1, above);
      const Id first = first_child_[level + 1][above];
      return first_host(level, first + std::min(end, there)) - first_host(level, first + std::min(begin, there));
    };
    for (std::uint32_t level = 0; from != to; ++level) {
      below = from;
      const std::uint32_t x = digit(level, from), y = digit(level, to);
      from = parent_[level][from];
      const Id above = parent_[level][to];
      const bool top = from == above;
      if (top) count += first_host(level, below + 1) - first_host(level, below) - 1;
      const std::uint32_t begin = x + (top ? 1 : 0);
      if (y >= begin)
        count += hosts(level, above, begin, y);
      else
        count += hosts(level, above, begin, side_[level]) + hosts(level, above, 0, y);
      to = above;
    }
    return count;
  }
  [[nodiscard]] std::optional<Rank> target(Rank rank, std::uint64_t phase) const override {
    const std::optional<Id> found = partner(host_of_[rank], turn(phase), false);
    return found ? std::optional(rank_at_[*found]) : std::nullopt;
  }
  [[nodiscard]] std::optional<Rank> source(Rank rank, std::uint64_t phase) const override {
    const std::optional<Id> found = partner(host_of_[rank], turn(phase), true);
    return found ? std::optional(rank_at_[*found]) : std::nullopt;
  }
  [[nodiscard]] std::optional<PhasedMessage> user(Channel channel, std::uint64_t phase, Side side) const override {
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
        if (const auto message = found->up ? user_up(*found, turn, side) : user_down(*found, turn, side))
          return message;
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
  [[nodiscard]] bool uses(const PhasedMessage& message, Channel channel) const override {
    const std::optional<Link> found = link(channel);
    if (!found) return false;
    const Id src = host_of_[message.src], dst = host_of_[message.dst];
    const auto below = [&](Id host) {
      return host >= first_host(found->level, found->subtree) && host < first_host(found->level, found->subtree + 1);
    };
    return below(found->up ? src : dst) && !below(found->up ? dst : src) &&
           way_[dst] % tree_->twins(found->level + 1) == found->digits;
  }

 private:
  /// Reasons that are told without a colouring.
  [[nodiscard]] static std::string_view unfit(const Network& network) {
    const FatTree* tree = network.fat_tree().get();
    if (tree == nullptr) return "it needs a fat tree, whose messages to a host come down one way";
    if (!network.equal_rates()) return "links differ in rate";
    if (network.hosts().size() != network.ranks()) return "hosts have several ranks";
    if (network.ranks() < 2) return "it needs two ranks";
    if (tree->levels() > most_levels) return "the tree has too many levels";
    return {};
  }
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
  [[nodiscard]] Turn turn(std::uint64_t phase) const {
    std::uint32_t block = 0;
    while (phase >= block_begin_[block + 1]) ++block;
    const std::uint64_t within = phase - block_begin_[block];
    return {block, static_cast<std::int64_t>(within / colours_[block]),
            static_cast<std::uint32_t>(within % colours_[block])};
  }
  [[nodiscard]] std::uint64_t phase(const Turn& turn) const {
    return block_begin_[turn.block] + static_cast<std::uint64_t>(turn.shift) * colours_[turn.block] + turn.colour;
  }
  [[nodiscard]] std::int64_t shifts(std::uint32_t block) const {
    return static_cast<std::int64_t>((block_begin_[block + 1] - block_begin_[block]) / colours_[block]);
  }
  /// The digits of a shift; that of the block's own level is at least 1.
  [[nodiscard]] Digits digits(std::uint32_t block, std::int64_t shift) const {
    Digits digits{};
    auto left = static_cast<std::uint64_t>(shift);
    for (std::uint32_t level = 0; level < block; ++level) {
      digits[level] = static_cast<std::uint32_t>(left % side_[level]);
      left /= side_[level];
    }
    digits[block] = static_cast<std::uint32_t>(left) + 1;
    return digits;
  }
  [[nodiscard]] std::int64_t shift(std::uint32_t block, const Digits& digits) const {
    std::uint64_t shift = digits[block] - 1;
    for (std::uint32_t level = block; level-- > 0;) shift = shift * side_[level] + digits[level];
    return static_cast<std::int64_t>(shift);
  }

  /// A channel that messages take: between a subtree and the switch above it that has these digits.
  struct Link {
    std::uint32_t level;
    Id subtree;
    std::uint32_t digits;
    bool up;
  };
  [[nodiscard]] std::optional<Link> link(Channel channel) const {
    const auto [lower, upper, up] = tree_->ends(channel);
    const std::uint32_t level = tree_->level(lower);
    const Id subtree = subtree_at_[level][tree_->first_host(lower) / tree_->hosts_below(level)];
    if (subtree == nowhere) return std::nullopt;
    return Link{level, subtree, tree_->twin(upper), up};
  }
  /// The hosts of a subtree to which the link with these digits leads.
  [[nodiscard]] std::span<const Id> led_to(std::uint32_t level, Id subtree, std::uint32_t digits) const {
    return led_to_[level].of(std::uint64_t{subtree} * tree_->twins(level + 1) + digits);
  }

  // From a shift on, in a direction; both are the nearest of a block, or none.
  /// Shift by shift of the subtrees of the link's level. Each of them is as many shifts as there are places below.
  [[nodiscard]] std::optional<PhasedMessage> user_up(const Link& link, const Turn& from, Side side) const {
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
  [[nodiscard]] std::optional<PhasedMessage> user_down(const Link& link, const Turn& from, Side side) const {
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

  /// Digits of some levels, and the subtree above these from which they lead down.
  struct Walk {
    std::uint32_t top, bottom;  ///< levels: from a subtree of `top` to one of `bottom`
    Id from;
    Digits base;
    bool receives;        ///< digits of the shift are taken from those of the base, else added to them
    std::uint32_t least;  ///< digit of the highest level
  };
  void start_again(Digits& digits, std::uint32_t bottom, std::uint32_t top, Side side) const {
    for (std::uint32_t level = bottom; level < top; ++level) digits[level] = side == Side::after ? 0 : side_[level] - 1;
  }
  /// The next digits of a walk that differ on `level` or above; false if there are none. Lower ones start again.
  [[nodiscard]] bool step(Digits& digits, const Walk& walk, std::uint32_t level, Side side) const {
    for (; level < walk.top; ++level) {
      const std::uint32_t least = level + 1 == walk.top ? walk.least : 0;
      if (digits[level] == (side == Side::after ? side_[level] - 1 : least)) continue;
      digits[level] += side == Side::after ? 1 : ~std::uint32_t{0};
      start_again(digits, walk.bottom, level, side);
      return true;
    }
    return false;
  }
  /// The nearest digits of a shift, from the given ones on, that lead to a subtree with ranks; `digits` become these.
  [[nodiscard]] std::optional<Id> settle(const Walk& walk, Digits& digits, Side side) const {
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
  /// The walk from the ancestor of `subtree` on level `top` down to `subtree`, which is on level `bottom`.
  [[nodiscard]] Walk walk(std::uint32_t bottom, std::uint32_t top, Id subtree, bool receives) const {
    Walk made{top, bottom, subtree, {}, receives, 0};
    for (std::uint32_t level = bottom; level < top; ++level) {
      made.base[level] = digit(level, made.from);
      made.from = parent_[level][made.from];
    }
    return made;
  }
  /// The first shift from a turn on in which messages to the host come, by their colour.
  [[nodiscard]] Turn first_of(Id dst, const Turn& from, Side side) const {
    Turn turn{from.block, from.shift, colour(from.block, dst)};
    if (side == Side::before && turn.colour >= from.colour) --turn.shift;
    if (side == Side::after && turn.colour <= from.colour) ++turn.shift;
    return turn;
  }
  /// The nearest message to the host, of those that have its colour.
  [[nodiscard]] std::optional<PhasedMessage> nearest_to(Id dst, const Walk& walk, Turn turn, Side side) const {
    Digits digits = this->digits(turn.block, turn.shift);
    const std::optional<Id> src = settle(walk, digits, side);
    if (!src) return std::nullopt;
    turn.shift = shift(turn.block, digits);
    return PhasedMessage{rank_at_[*src], rank_at_[dst], phase(turn)};
  }

  explicit NestedShifts(const Network& network) : tree_(network.fat_tree()) {}
  void number_subtrees(const Network& network) {
    const FatTree& tree = *tree_;
    std::vector<Rank> rank_of(tree.hosts_below(tree.levels()), nowhere);
    for (const Node host : network.hosts()) rank_of[tree.first_host(host)] = network.first_rank(host);
    host_of_.resize(network.ranks());
    for (std::uint32_t number = 0; number < rank_of.size(); ++number) {
      if (rank_of[number] == nowhere) continue;
      host_of_[rank_of[number]] = ranks();
      rank_at_.push_back(rank_of[number]);
      number_.push_back(number);
    }
    first_child_.resize(tree.levels() + 1);
    first_host_.resize(tree.levels() + 1);
    std::vector<std::uint32_t> numbers = number_;  // per subtree of the level: its number in the whole tree's order
    for (std::uint32_t level = 0; level < tree.levels(); ++level) {
      const std::uint32_t size = tree.hosts_below(level + 1) / tree.hosts_below(level);
      std::vector<Id>& parent = parent_.emplace_back();
      parent.reserve(numbers.size());
      std::vector<std::uint32_t> above;
      for (Id subtree = 0; subtree < numbers.size(); ++subtree) {
        if (above.empty() || above.back() != numbers[subtree] / size) {
          above.push_back(numbers[subtree] / size);
          first_child_[level + 1].push_back(subtree);
          first_host_[level + 1].push_back(first_host(level, subtree));
        }
        parent.push_back(static_cast<Id>(above.size() - 1));
      }
      first_child_[level + 1].push_back(static_cast<Id>(numbers.size()));
      first_host_[level + 1].push_back(ranks());
      std::uint32_t most = 0;
      for (Id subtree = 0; subtree < above.size(); ++subtree) most = std::max(most, children(level + 1, subtree));
      side_.push_back(most);
      numbers = std::move(above);
    }
  }
  [[nodiscard]] bool colour_hosts() {
    colours_.assign(levels(), 1);
    colour_.resize(levels());
    block_begin_.assign(1, 0);
    std::uint64_t below = 1;
    for (std::uint32_t block = 0; block < levels(); ++block) {
      if (block > 0 && side_[block] > 1 && !colour_block(block)) return false;
      block_begin_.push_back(block_begin_.back() + (side_[block] - 1) * below * colours_[block]);
      below *= side_[block];
    }
    return true;
  }
  /// Hosts of a subtree whose messages from other subtrees come over one link have different colours, on every level up
  /// to the block's. Each gets the first one that is left.
  [[nodiscard]] bool colour_block(std::uint32_t block) {
    const FatTree& tree = *tree_;
    std::vector<std::vector<std::uint64_t>> taken(block + 1);  // per level and link down to a subtree: colours
    for (std::uint32_t level = 1; level <= block; ++level)
      taken[level].assign(std::size_t{subtrees(level)} * tree.twins(level + 1), 0);
    colour_[block].resize(ranks());
    for (Id host = 0; host < ranks(); ++host) {
      const std::uint32_t way = tree.way(number_[host]);
      std::array<std::uint64_t*, most_levels> links{};
      std::uint64_t colours = 0;
      Id subtree = host;
      for (std::uint32_t level = 1; level <= block; ++level) {
        subtree = parent_[level - 1][subtree];
        links[level] = &taken[level][std::size_t{subtree} * tree.twins(level + 1) + way % tree.twins(level + 1)];
        colours |= *links[level];
      }
      const auto first = static_cast<std::uint32_t>(std::countr_one(colours));
      if (first == most_colours) return false;
      for (std::uint32_t level = 1; level <= block; ++level) *links[level] |= std::uint64_t{1} << first;
      colour_[block][host] = static_cast<std::uint8_t>(first);
      colours_[block] = std::max(colours_[block], first + 1);
    }
    return true;
  }
  void list_led_to() {
    for (Id host = 0; host < ranks(); ++host) way_.push_back(tree_->way(number_[host]));
    places_below_.push_back(1);
    for (std::uint32_t level = 0; level < levels(); ++level) {
      places_below_.push_back(places_below_.back() * side_[level]);
      const std::uint32_t size = tree_->hosts_below(level), twins = tree_->twins(level + 1);
      std::vector<Id>& at = subtree_at_.emplace_back(tree_->hosts_below(levels()) / size, nowhere);
      for (Id subtree = 0; subtree < subtrees(level); ++subtree)
        at[number_[first_host(level, subtree)] / size] = subtree;
      led_to_.push_back(group(std::uint64_t{subtrees(level)} * twins, [&](auto visit) {
        for (Id subtree = 0; subtree < subtrees(level); ++subtree)
          for (Id host = first_host(level, subtree); host < first_host(level, subtree + 1); ++host)
            visit(std::uint64_t{subtree} * twins + way_[host] % twins, host);
      }));
    }
  }
  [[nodiscard]] std::optional<Id> partner(Id host, const Turn& turn, bool receives) const {
    const Digits shift = digits(turn.block, turn.shift);
    Digits own;
    Id at = host;
    for (std::uint32_t level = 0; level <= turn.block; ++level) {
      own[level] = digit(level, at);
      at = parent_[level][at];
    }
    for (std::uint32_t level = turn.block + 1; level-- > 0;) {
      const std::uint32_t digit = (own[level] + (receives ? side_[level] - shift[level] : shift[level])) % side_[level];
      if (digit >= children(level + 1, at)) return std::nullopt;
      at = first_child_[level + 1][at] + digit;
    }
    if (colour(turn.block, receives ? host : at) != turn.colour) return std::nullopt;
    return at;
  }

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

}  // namespace
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
