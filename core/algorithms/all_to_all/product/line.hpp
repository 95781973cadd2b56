#pragma once
/// One line of a grid: its moves and its channels.
#include <cstdint>
#include <string>
#include <vector>

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

}  // namespace hocket::product
