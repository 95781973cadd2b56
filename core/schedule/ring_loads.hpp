#pragma once
/// Loads of an all-to-all among the nodes of one ring or line of a grid.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace hocket {

/// Messages per channel when every node of a side sends one to every other.
struct RingLoads {
  std::vector<std::uint64_t> up;    ///< from coordinate c to the next
  std::vector<std::uint64_t> down;  ///< from coordinate c to the one before

  [[nodiscard]] std::uint64_t most() const {
    return std::max(*std::ranges::max_element(up), *std::ranges::max_element(down));
  }
};

[[nodiscard]] inline RingLoads line_loads(std::uint32_t side) {
  RingLoads loads{std::vector<std::uint64_t>(side), std::vector<std::uint64_t>(side)};
  for (std::uint64_t c = 0; c < side; ++c) {
    loads.up[c] = (c + 1) * (side - 1 - c);
    loads.down[c] = c * (side - c);
  }
  return loads;
}

/// `ties` as in NetworkSpec. Messages less than half-way round load all channels alike; one that is half-way
/// round loads the half ring before its source or behind it.
[[nodiscard]] inline RingLoads ring_loads(std::uint32_t side, const std::string& ties) {
  if (side <= 2) return line_loads(side);
  const std::uint64_t near = (side - 1) / 2;
  RingLoads loads{std::vector<std::uint64_t>(side, near * (near + 1) / 2), {}};
  loads.down = loads.up;
  if (ties.empty()) return loads;
  const std::uint32_t half = side / 2;
  std::uint64_t ups = 0;  // sources among the last `half` coordinates that go up
  for (std::uint32_t c = 0; c < half; ++c) ups += ties[c] == '+';
  for (std::uint32_t c = half; c < side + half; ++c) {
    // The window c - half … c - 1 ends where its ups pass last, and begins where its downs do.
    loads.up[(c - 1) % side] += ups;
    loads.down[c - half] += half - ups;
    ups += ties[c % side] == '+';
    ups -= ties[c - half] == '+';
  }
  return loads;
}

}  // namespace hocket
