#include "core/gossip/steps.hpp"

#include <cmath>
#include <utility>

#include "core/error.hpp"

namespace hocket::gossip {

std::uint64_t check_sides(const std::vector<std::uint32_t>& sides, std::uint64_t most_nodes) {
  if (sides.empty()) throw InputError("a grid needs at least one side");
  std::uint64_t nodes = 1;
  for (const std::uint32_t side : sides) {
    nodes *= side;
    if (nodes == 0 || nodes > most_nodes)
      throw InputError("a grid needs sides of at least 1 and at most " + std::to_string(most_nodes) + " nodes in all");
  }
  return nodes;
}

namespace {

/// The most ports of a processor, and the fewest channels into one.
struct Degrees {
  std::uint32_t most = 0, fewest = 0;
};

Degrees degrees(const Grid& grid) {
  Degrees degrees;
  for (const std::uint32_t side : grid.sides) {
    if (side == 1) continue;
    degrees.most += grid.wraparound || side > 2 ? 2 : 1;
    degrees.fewest += grid.wraparound ? 2 : 1;
  }
  return degrees;
}

void check_r(double r) {
  if (!(r >= 0) || !std::isfinite(r)) throw InputError("r must be a number of at least 0");
}

}  // namespace

std::uint32_t ceil_log(std::uint32_t base, std::uint64_t n) {
  std::uint32_t log = 0;
  for (std::uint64_t power = 1; power < n; power *= base) ++log;
  return log;
}

std::uint64_t fewest_steps(std::uint64_t nodes, std::uint32_t ports) {
  if (nodes > 1 && ports == 0) throw InputError("processors without ports cannot gossip");
  return ceil_log(ports + 1, nodes);
}

std::uint64_t fewest_half_duplex_steps(std::uint64_t nodes) {
  if (nodes < 2) return 0;
  // phi^t = L_t - (-1/phi)^t with the Lucas numbers L: exact where floating point is not.
  std::uint64_t steps = 1, lucas = 1, next = 3;
  while (steps % 2 == 0 ? lucas <= nodes : lucas < nodes) {
    next += std::exchange(lucas, next);
    ++steps;
  }
  return steps;
}

double half_duplex_volume(std::uint64_t nodes) {
  if (nodes < 2) return 0;
  return static_cast<double>(nodes) * static_cast<double>(nodes - 1) / static_cast<double>(nodes / 2);
}

double synchronous_bound(const Grid& grid, double r, Ports ports) {
  check_r(r);
  const std::uint32_t nodes = grid.nodes();
  if (nodes < 2) return 0;
  // Twice N - 1 or more, so that the channels into a corner never limit.
  if (ports == Ports::half_duplex)
    return r * static_cast<double>(fewest_half_duplex_steps(nodes)) + half_duplex_volume(nodes);
  const Degrees d = degrees(grid);
  return r * static_cast<double>(fewest_steps(nodes, d.most)) + (nodes - 1.0) / d.fewest;
}

double asynchronous_bound(const Grid& grid, double r) {
  check_r(r);
  const std::uint32_t nodes = grid.nodes();
  if (nodes < 2) return 0;
  const Degrees d = degrees(grid);
  return std::max(r * static_cast<double>(fewest_steps(nodes, d.most)), r + (nodes - 1.0) / d.fewest);
}

double potential_drop(double share) {
  if (share <= 0) return 0;
  // x = (sqrt(1 + share^2) - 1) / share, without the cancellation.
  const double x = share / (std::sqrt(1 + share * share) + 1);
  return 2 * std::atanh(x) - share * std::log(x);
}

double inverse_potential_drop(double drop) {
  if (drop <= 0) return 0;
  double low = 0, high = 1;
  while (potential_drop(high) < drop) high *= 2;
  for (int i = 0; i < 200; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (potential_drop(middle) < drop ? low : high) = middle;
  }
  return low;  // the lower end: a bound must not be rounded up
}

double ring_volume_bound(std::uint64_t n, double potential, std::uint64_t steps) {
  const double size = static_cast<double>(n), count = static_cast<double>(steps);
  return count * (size / 2) * inverse_potential_drop(potential / (size * count));
}

double ring_bound(std::uint64_t n, double r) {
  check_r(r);
  if (n < 2) return 0;
  const double size = static_cast<double>(n), least = (size - 1) / 2;
  const double potential = std::lgamma(size + 1);
  double best = INFINITY;
  // More steps never need more volume, so the first number that needs the least one ends the search.
  for (std::uint64_t steps = fewest_steps(n, 2); static_cast<double>(steps) * r + least < best; ++steps) {
    const double volume = std::max(least, ring_volume_bound(n, potential, steps));
    best = std::min(best, static_cast<double>(steps) * r + volume);
    if (volume <= least) break;
  }
  return best;
}

double lower_bound(const Grid& grid, double r, Ports ports) {
  const double simple = synchronous_bound(grid, r, ports);
  const auto longest = std::max_element(grid.sides.begin(), grid.sides.end());
  const bool ring = grid.wraparound && longest != grid.sides.end() && *longest == grid.nodes();
  return ring ? std::max(simple, ring_bound(*longest, r)) : simple;
}

}  // namespace hocket::gossip
