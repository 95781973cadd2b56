#include <map>

#include "core/algorithms/all_to_all/product/lines.hpp"
#include "core/algorithms/shared/edge_colours.hpp"
#include "core/network/routing.hpp"
#include "core/schedule/bounds.hpp"

namespace hocket::product {

static PartSets by_type(std::uint32_t parts, const std::vector<std::vector<std::uint32_t>>& of_node) {
  PartSets result;
  result.parts = parts;
  std::map<std::vector<std::uint32_t>, std::uint32_t> number;  // ordered, so that equal structures look equal
  for (const auto& set : of_node) number.emplace(set, 0);
  for (auto& [set, type] : number) {
    type = static_cast<std::uint32_t>(result.sets.size());
    result.sets.push_back(set);
  }
  for (const auto& set : of_node) result.type.push_back(number.at(set));
  return result;
}

/// A full permutation in one part, by far the most frequent group.
static bool is_permutation(const Group& group) { return group.parts() == 1 && group.moves.size() == group.nodes; }

template <class End>
static PartSets sets_of(const Group& group, End end) {
  if (is_permutation(group)) return {1, {{0}}, std::vector<std::uint32_t>(group.nodes, 0)};
  std::vector<std::vector<std::uint32_t>> sets(group.nodes);
  for (std::uint32_t part = 0; part < group.parts(); ++part)
    for (const Move& move : group.part(part)) sets[move.*end].push_back(part);
  return by_type(group.parts(), sets);
}

PartSets source_sets(const Group& group) { return sets_of(group, &Move::from); }

PartSets target_sets(const Group& group) { return sets_of(group, &Move::to); }

Group group_of(std::uint32_t nodes, std::uint32_t parts, const std::vector<PlacedMove>& moves) {
  Group group;
  group.nodes = nodes;
  group.begin.assign(parts + 1, 0);
  for (const PlacedMove& move : moves) ++group.begin[move.part + 1];
  for (std::uint32_t part = 0; part < parts; ++part) group.begin[part + 1] += group.begin[part];
  std::vector<std::uint32_t> next(group.begin.begin(), group.begin.end() - 1);
  group.moves.resize(moves.size());
  for (const PlacedMove& move : moves) group.moves[next[move.part]++] = {move.from, move.to};
  return group;
}

bool Line::up(std::uint32_t from, std::uint32_t to) const { return goes_up(side, ring, ties, from, to); }

std::vector<std::uint32_t> Line::channels(std::uint32_t from, std::uint32_t to) const {
  std::vector<std::uint32_t> found;
  const bool upwards = up(from, to);
  for (; from != to; from = (from + (upwards ? 1 : side - 1)) % side) found.push_back(upwards ? from : side + from);
  return found;
}

std::uint32_t Line::load() const {
  return static_cast<std::uint32_t>((ring ? ring_loads(side, ties) : line_loads(side)).most());
}

namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;

/// Round r of a tournament of n teams, smaller number first; with an odd n, team r rests.
std::vector<Pair> tournament_round(std::uint32_t n, std::uint32_t round) {
  const Tournament tournament(n);
  std::vector<Pair> pairs;
  for (std::uint32_t pair = 0; pair < tournament.pairs(); ++pair)
    pairs.push_back(std::minmax({tournament.team(round, {pair, false}), tournament.team(round, {pair, true})}));
  return pairs;
}

/// The four coordinates of two classes, going round upwards or downwards, all in one part.
void add_tile(const Line& line, Pair classes, bool upwards, std::uint32_t part, std::vector<PlacedMove>& moves) {
  const std::uint32_t half = line.side / 2;
  const std::array<std::uint32_t, 4> round{classes.first, classes.second, classes.first + half, classes.second + half};
  for (std::size_t i = 0; i < 4; ++i) moves.push_back({round[i], round[(i + (upwards ? 1 : 3)) % 4], part});
}

/// Adds the moves of both coordinates of a class to each other (half a side apart), or of each to itself.
void add_class(const Line& line, std::uint32_t a, bool across, std::uint32_t part, std::vector<PlacedMove>& moves) {
  const std::uint32_t b = a + line.side / 2;
  moves.push_back({a, across ? b : a, part});
  moves.push_back({b, across ? a : b, part});
}

/// The classes whose ties go up, and those whose ties go down; empty unless both of a class go the same
/// way and half of the classes either way.
std::array<std::vector<std::uint32_t>, 2> tie_classes(const Line& line) {
  std::array<std::vector<std::uint32_t>, 2> classes;
  const std::uint32_t half = line.side / 2;
  for (std::uint32_t a = 0; a < half; ++a) {
    if (line.ties[a] != line.ties[a + half]) return {};
    classes[line.ties[a] == '+' ? 0 : 1].push_back(a);
  }
  if (classes[0].size() != classes[1].size()) return {};
  return classes;
}

bool has_tiles(const Line& line) {
  if (!line.ring) return line.side % 2 == 0;
  return line.side % 4 == 0 && !tie_classes(line)[0].empty();
}

/// Ring of 4q as 4q permutations: of each round, some tiles upwards and the others downwards, and the
/// other way round.
std::vector<Group> ring_permutations(const Line& line) {
  const std::uint32_t q = line.side / 4, parts = (q + 1) / 2, classes = 2 * q;
  std::vector<Group> groups;
  for (std::uint32_t round = 0; round < classes - 1; ++round) {
    const std::vector<Pair> tiles = tournament_round(classes, round);
    for (const bool first : {true, false}) {
      std::vector<PlacedMove> moves;
      for (std::uint32_t t = 0; t < q; ++t) add_tile(line, tiles[t], (t < parts) == first, t % parts, moves);
      groups.push_back(group_of(line.side, parts, moves));
    }
  }
  const auto ties = tie_classes(line);
  for (const bool first : {true, false}) {
    std::vector<PlacedMove> moves;
    for (std::size_t way = 0; way < 2; ++way)
      for (std::uint32_t t = 0; t < q; ++t)
        // Upward ties in the first `parts` classes, downward ones in the others, so that neither is more than `parts`.
        add_class(line, ties[way][t], (t < parts) == (first == (way == 0)), t % parts, moves);
    groups.push_back(group_of(line.side, parts, moves));
  }
  return groups;
}

/// Ring of 4q as 2q groups of two moves and q parts: part p has tile p upwards and tile p + 1 downwards.
std::vector<Group> ring_pairs(const Line& line) {
  const std::uint32_t q = line.side / 4, classes = 2 * q;
  std::vector<Group> groups;
  for (std::uint32_t round = 0; round < classes - 1; ++round) {
    const std::vector<Pair> tiles = tournament_round(classes, round);
    std::vector<PlacedMove> moves;
    for (std::uint32_t part = 0; part < q; ++part) {
      add_tile(line, tiles[part], true, part, moves);
      add_tile(line, tiles[(part + 1) % q], false, part, moves);
    }
    groups.push_back(group_of(line.side, q, moves));
  }
  const auto ties = tie_classes(line);
  std::vector<PlacedMove> moves;
  for (std::uint32_t part = 0; part < q; ++part) {
    const std::uint32_t next = (part + 1) % q;
    add_class(line, ties[0][part], true, part, moves);
    add_class(line, ties[0][next], false, part, moves);
    add_class(line, ties[1][next], true, part, moves);
    add_class(line, ties[1][part], false, part, moves);
  }
  groups.push_back(group_of(line.side, q, moves));
  return groups;
}

/// Path of 2h: the tiles of each round all upwards, and all downwards; going round once uses every channel
/// of the path at most once in either direction. With an odd h the resting class swaps in the first.
std::vector<Group> path_permutations(const Line& line) {
  const std::uint32_t h = line.side / 2, odd = h % 2;
  std::vector<Group> groups;
  for (std::uint32_t round = 0; round < h - 1 + odd; ++round) {
    const std::vector<Pair> tiles = tournament_round(h, round);
    for (const bool upwards : {true, false}) {
      const auto count = static_cast<std::uint32_t>(tiles.size());
      std::vector<PlacedMove> moves;
      for (std::uint32_t t = 0; t < count; ++t) add_tile(line, tiles[t], upwards, t, moves);
      if (odd == 1) add_class(line, round, upwards, upwards ? count : 0, moves);
      groups.push_back(group_of(line.side, std::max(1u, count + (upwards ? odd : 0)), moves));
    }
  }
  if (odd == 0)
    for (const bool first : {true, false}) {
      std::vector<PlacedMove> moves;
      for (std::uint32_t a = 0; a < h; ++a) add_class(line, a, (a < h / 2) == first, a % (h / 2), moves);
      groups.push_back(group_of(line.side, h / 2, moves));
    }
  return groups;
}

/// Path as shifts modulo the side: the moves by c that do not turn round are chains, and those that do are
/// as many as min(c, side − c). Together no more parts than the load, but of very different numbers.
std::vector<Group> path_shifts(const Line& line) {
  std::vector<Group> groups;
  for (std::uint32_t c = 0; c < line.side; ++c) {
    const std::uint32_t turned = line.side - c, parts = std::max(1u, std::min(c, turned));
    std::vector<PlacedMove> moves;
    for (std::uint32_t from = 0; from < line.side; ++from) {
      const std::uint32_t to = (from + c) % line.side;
      moves.push_back({from, to, std::min(from, to) % parts});
    }
    groups.push_back(group_of(line.side, parts, moves));
  }
  return groups;
}

bool in_pairs(const Line& line, bool permutations) {
  return line.ring && !permutations && line.side % 8 == 4 && line.side > 4;
}

}  // namespace

std::vector<Group> closed_form_groups(const Line& line, bool permutations) {
  if (!line.ring && line.side % 2 == 1) return path_shifts(line);
  if (!has_tiles(line)) return {};
  if (!line.ring) return path_permutations(line);
  return in_pairs(line, permutations) ? ring_pairs(line) : ring_permutations(line);
}

std::vector<GroupSize> closed_form_sizes(const Line& line, bool permutations) {
  std::vector<GroupSize> sizes;
  if (!line.ring && line.side % 2 == 1) {
    for (std::uint32_t c = 0; c < line.side; ++c) sizes.push_back({1, std::max(1u, std::min(c, line.side - c))});
    return sizes;
  }
  if (!has_tiles(line)) return {};
  const std::uint32_t q = line.side / 4, h = line.side / 2;
  if (in_pairs(line, permutations)) return std::vector<GroupSize>(std::size_t{2} * q, {2, q});
  if (line.ring) return std::vector<GroupSize>(line.side, {1, (q + 1) / 2});
  if (h % 2 == 0) return std::vector<GroupSize>(line.side, {1, h / 2});
  for (std::uint32_t round = 0; round < h; ++round) {
    sizes.push_back({1, (h + 1) / 2});
    sizes.push_back({1, std::max(1u, (h - 1) / 2)});
  }
  return sizes;
}

}  // namespace hocket::product
