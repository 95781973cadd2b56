/// "nested-shifts": shifts of hosts, leaves and pods, materialised.
#include "core/algorithms/all_to_all/nested_shifts.hpp"

#include <algorithm>
#include <bit>

namespace hocket {
namespace {

constexpr std::uint32_t most_colours = 64;

std::string_view unfit(const Network& network) {
  const FatTree* tree = network.fat_tree().get();
  if (tree == nullptr) return "it needs a fat tree, whose messages to a host come down one way";
  if (!network.equal_rates()) return "links differ in rate";
  if (network.hosts().size() != network.ranks()) return "hosts have several ranks";
  if (network.ranks() < 2) return "it needs two ranks";
  if (tree->levels() > NestedShifts::most_levels) return "the tree has too many levels";
  return {};
}

}  // namespace

std::string_view NestedShifts::why_not(const Network& network) {
  if (const std::string_view reason = unfit(network); !reason.empty()) return reason;
  return make(network) == nullptr ? "too many messages share a link" : std::string_view();
}

std::unique_ptr<NestedShifts> NestedShifts::make(const Network& network) {
  if (!unfit(network).empty()) return nullptr;
  std::unique_ptr<NestedShifts> made(new NestedShifts(network));
  made->number_subtrees(network);
  if (!made->colour_hosts()) return nullptr;
  made->list_led_to();
  return made;
}

void NestedShifts::number_subtrees(const Network& network) {
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

bool NestedShifts::colour_hosts() {
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
bool NestedShifts::colour_block(std::uint32_t block) {
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

std::uint64_t NestedShifts::phase(Rank src, Rank dst) const {
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

NestedShifts::Turn NestedShifts::turn(std::uint64_t phase) const {
  std::uint32_t block = 0;
  while (phase >= block_begin_[block + 1]) ++block;
  const std::uint64_t within = phase - block_begin_[block];
  return {block, static_cast<std::int64_t>(within / colours_[block]),
          static_cast<std::uint32_t>(within % colours_[block])};
}

NestedShifts::Digits NestedShifts::digits(std::uint32_t block, std::int64_t shift) const {
  Digits digits{};
  auto left = static_cast<std::uint64_t>(shift);
  for (std::uint32_t level = 0; level < block; ++level) {
    digits[level] = static_cast<std::uint32_t>(left % side_[level]);
    left /= side_[level];
  }
  digits[block] = static_cast<std::uint32_t>(left) + 1;
  return digits;
}

std::int64_t NestedShifts::shift(std::uint32_t block, const Digits& digits) const {
  std::uint64_t shift = digits[block] - 1;
  for (std::uint32_t level = block; level-- > 0;) shift = shift * side_[level] + digits[level];
  return static_cast<std::int64_t>(shift);
}

std::optional<NestedShifts::Id> NestedShifts::partner(Id host, const Turn& turn, bool receives) const {
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

std::optional<Rank> NestedShifts::target(Rank rank, std::uint64_t phase) const {
  const std::optional<Id> found = partner(host_of_[rank], turn(phase), false);
  return found ? std::optional(rank_at_[*found]) : std::nullopt;
}

std::optional<Rank> NestedShifts::source(Rank rank, std::uint64_t phase) const {
  const std::optional<Id> found = partner(host_of_[rank], turn(phase), true);
  return found ? std::optional(rank_at_[*found]) : std::nullopt;
}

/// Counts two kinds of sends: all those within src's child of the smallest subtree that has both ranks; then, on each
/// level from there down, those to siblings of dst's subtree, from src's own digit cyclically to dst's.
std::uint32_t NestedShifts::sends_before(const PhasedMessage& message) const {
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

}  // namespace hocket
