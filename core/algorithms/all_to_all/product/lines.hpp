#pragma once
/// All moves of one line of a grid, dealt out to groups, and groups of several dimensions crossed.
///
/// A *line* is one ring (torus) or path (mesh) of a grid. A *move* is a pair (from, to) of its
/// coordinates, also from a coordinate to itself. A *part* is a set of moves that share no channel and
/// have different sources and different targets: what one line can do at a time. A *group* is a set of
/// moves in which every coordinate is the source of the same number of moves and the target of as many,
/// dealt out to parts. All moves of a line are dealt out to groups (lines.hpp); the groups of two
/// dimensions are crossed to groups of the plane (crossing.hpp), and so on: the parts of a group of the
/// whole grid are phases.
///
/// Source: the product of ring permutations is that of the talk (Stricker and Hardwick) after Hinrichs,
/// Kosak, O'Hallaron, Stricker and Take, SPAA 1994; groups with several moves per coordinate are our own.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hocket::product {

inline constexpr std::uint32_t none = ~std::uint32_t{0};

struct Move {
  std::uint32_t from, to;
};

/// Moves grouped by part: those of part p are [begin[p], begin[p + 1]).
struct Group {
  std::uint32_t nodes = 0;
  std::vector<std::uint32_t> begin{0};
  std::vector<Move> moves;

  [[nodiscard]] std::uint32_t parts() const { return static_cast<std::uint32_t>(begin.size() - 1); }
  [[nodiscard]] std::span<const Move> part(std::uint32_t p) const {
    return {moves.data() + begin[p], moves.data() + begin[p + 1]};
  }
  /// Moves given by add() belong to the part that this ends.
  void add(std::uint32_t from, std::uint32_t to) { moves.push_back({from, to}); }
  void end_part() { begin.push_back(static_cast<std::uint32_t>(moves.size())); }
};

/// A move with its part; group_of() takes these in any order.
struct PlacedMove {
  std::uint32_t from, to, part;
};
[[nodiscard]] Group group_of(std::uint32_t nodes, std::uint32_t parts, const std::vector<PlacedMove>& moves);

/// Sets of parts in which the nodes take part; nodes with the same set are of one type.
struct PartSets {
  std::uint32_t parts = 0;
  std::vector<std::vector<std::uint32_t>> sets;  ///< per type: its parts, ascending
  std::vector<std::uint32_t> type;               ///< per node
};

/// The parts in which each node is a source.
[[nodiscard]] PartSets source_sets(const Group& group);
/// The parts in which each node is a target.
[[nodiscard]] PartSets target_sets(const Group& group);

struct Line {
  std::uint32_t side = 1;
  bool ring = false;  ///< false: a path; also a ring of two, which has one link
  std::string ties;   ///< ring of even side: '+' or '-' per source
  auto operator<=>(const Line&) const = default;

  /// True if the move goes towards higher coordinates.
  [[nodiscard]] bool up(std::uint32_t from, std::uint32_t to) const;
  /// The channels of a move: c for coordinate c upwards, side + c for coordinate c downwards.
  [[nodiscard]] std::vector<std::uint32_t> channels(std::uint32_t from, std::uint32_t to) const;
  /// The largest load of a channel if every coordinate sends to every other.
  [[nodiscard]] std::uint32_t load() const;
};

/// The size of a group: moves per coordinate, and parts.
struct GroupSize {
  std::uint32_t moves = 1, parts = 1;
  auto operator<=>(const GroupSize&) const = default;
};

/// The sizes that a closed form gives for this line, without a search; empty where there is none.
/// `permutations`: only groups with one move per coordinate.
///
/// - rings of 4q with balanced ties: 4q permutations of q/2 parts (q even), or 2q groups of two moves and
///   q parts (q odd; as permutations: (q+1)/2 parts each)
/// - paths of 2h: 2h permutations of h/2 parts (h even), h each of (h−1)/2 and (h+1)/2 (h odd)
/// - paths of odd side: the shifts by c, of min(c, side − c) parts
[[nodiscard]] std::vector<GroupSize> closed_form_sizes(const Line& line, bool permutations);

/// The groups whose sizes closed_form_sizes gives.
///
/// Coordinates that are half a side apart form a class. Four coordinates of two classes, visited in the
/// order of the line, are a *tile*: going round it once uses every channel of a ring once. The rounds of a
/// tournament of the classes (circle method) are permutations made of tiles; what is left are the moves
/// within a class, half a side long or to oneself.
/// Source for four messages that fill a ring: Hinrichs et al., SPAA 1994; the tournament: own.
[[nodiscard]] std::vector<Group> closed_form_groups(const Line& line, bool permutations);

/// Groups of these sizes that hold every move of the line, those to itself included, exactly once; the
/// moves of the sizes must add up to the side. Empty where none is found: closed forms first, then a
/// deterministic search of at most so many attempts (fractions of a second each).
[[nodiscard]] std::vector<Group> deal(const Line& line, const std::vector<GroupSize>& sizes, std::uint32_t attempts);

/// Groups as of deal(), for `side` permutations of one part each, the first of which is the identity.
[[nodiscard]] std::vector<Group> deal_with_rest(const Line& line);

/// One way to deal out the lines of every dimension, and the phases that crossing them takes, estimated.
struct Choice {
  std::vector<std::vector<GroupSize>> sizes;  ///< per dimension
  double phases = 0;
};

/// All sensible ways, fewest phases first; at equal numbers those in closed form first.
[[nodiscard]] std::vector<Choice> choices(const std::vector<Line>& lines);

/// One phase of a crossing. Messages travel in the left dimensions first and turn where these end, into the line of the
/// right dimension.
struct CrossPhase {
  std::vector<std::uint32_t> left;   ///< per source type of the right group: the left part to use, or none
  std::vector<std::uint32_t> right;  ///< per target type of the left group: the right part to use, or none
  std::vector<bool> fires;           ///< [left type · right types + right type]: those that turn there send
};

/// Pairs of moves, types told apart, beyond which no search is made.
inline constexpr std::size_t most_meetings = 4000;

/// The fewest phases that a bounded, deterministic search finds (`fires` is not set); empty if it finds none.
[[nodiscard]] std::vector<CrossPhase> search_crossing(const PartSets& left, const PartSets& right);

/// Phases in which every move of the left group meets every move of the right one exactly once, grouped
/// so that each group is again regular. A line of the left dimensions uses one part at a time, which
/// depends on where it lies in the right dimension, and so does each line of the right dimension.
/// `left` are target sets, `right` source sets. Deterministic.
[[nodiscard]] std::vector<std::vector<CrossPhase>> cross(const PartSets& left, const PartSets& right);

/// The moves of the plane in these phases: node x · right.nodes + y for node x of the left group.
[[nodiscard]] Group compose(const Group& left, const PartSets& left_targets, const Group& right,
                            const PartSets& right_sources, const std::vector<CrossPhase>& phases);

}  // namespace hocket::product
