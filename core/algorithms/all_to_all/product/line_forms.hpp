#pragma once
/// Groups of rings of 4q and of paths of even side, without a search.
#include <cstdint>
#include <string>
#include <vector>

#include "core/algorithms/all_to_all/product/group.hpp"

namespace hocket::product {

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

}  // namespace hocket::product
