#include <algorithm>
#include <limits>
#include <optional>
#include <queue>

#include "core/algorithms/shared/random.hpp"
#include "core/order/order.hpp"
#include "core/progress/progress.hpp"

namespace hocket::order {
namespace {

constexpr std::uint32_t most_passes = 6;
constexpr std::uint32_t most_starts = 8;
constexpr std::uint32_t most_without_gain = 64;  ///< exchanges of one pass that have not gained

class Bisection {
 public:
  Bisection(const Network& network, const Units& units, const UnitGraph& graph)
      : network_(network),
        units_(units),
        graph_(graph),
        steps_("mapping ranks", units.size()),
        slot_(units.size(), 0),
        outside_(units.size(), 0),
        inside_(units.size(), 0),
        left_(units.size(), 0),
        gain_(units.size(), 0),
        locked_(units.size(), 0) {}

  std::vector<Unit> run() {
    std::vector<Unit> all(units_.size());
    for (Unit unit = 0; unit < units_.size(); ++unit) all[unit] = unit;
    std::queue<std::pair<std::vector<Unit>, Unit>> parts;  // with their first slots; level by level
    parts.emplace(std::move(all), 0);
    while (!parts.empty()) {
      auto [units, begin] = std::move(parts.front());
      parts.pop();
      steps_.tick();
      if (units.size() == 1) slot_[units[0]] = begin;
      if (units.size() < 2) continue;
      auto [first, second] = divide(units, begin);
      const Unit middle = begin + static_cast<Unit>(first.size());
      parts.emplace(std::move(first), begin);
      parts.emplace(std::move(second), middle);
    }
    return std::move(slot_);
  }

 private:
  using Entry = std::pair<double, Unit>;
  using Heap = std::priority_queue<Entry>;

  /// Seconds a byte between two slots.
  [[nodiscard]] double way(Unit from, Unit to) {
    network_.find_route(units_.places[from].front(), units_.places[to].front(), route_);
    double sum = 0;
    for (const Channel channel : route_) sum += 1 / network_.rate(channel);
    return sum;
  }

  /// How many of `count` slots from `begin` on go to the first part.
  [[nodiscard]] Unit cut(Unit begin, Unit count) {
    const Unit middle = count / 2;
    Unit best = middle;
    double longest = way(begin + middle - 1, begin + middle);
    for (Unit off = 1; off <= count / 4; ++off)
      for (const Unit at : {middle - off, middle + off}) {
        if (at < 1 || at >= count) continue;
        if (const double length = way(begin + at - 1, begin + at); length > longest * (1 + 1e-9)) {
          longest = length;
          best = at;
        }
      }
    return best;
  }

  /// The units of the first and of the second part.
  std::pair<std::vector<Unit>, std::vector<Unit>> divide(const std::vector<Unit>& units, Unit begin) {
    const auto count = static_cast<Unit>(units.size());
    const Unit first = cut(begin, count);
    const Unit here = begin + first / 2, there = begin + first + (count - first) / 2;
    apart_ = std::max(way(here, there), std::numeric_limits<double>::min());
    for (const Unit unit : units) inside_[unit] = 1;
    for (const Unit unit : units) {
      outside_[unit] = 0;
      for (const auto& [to, bytes] : graph_.of(unit))
        if (!inside_[to]) outside_[unit] += bytes * (way(slot_[to], there) - way(slot_[to], here)) / apart_;
    }
    best_of_some(units, first);
    std::pair<std::vector<Unit>, std::vector<Unit>> parts;
    for (const Unit unit : units) {
      inside_[unit] = 0;
      slot_[unit] = left_[unit] ? here : there;
      (left_[unit] ? parts.first : parts.second).push_back(unit);
    }
    return parts;
  }

  /// Bytes that a unit exchanges with the first part less those with the second; what it exchanges with units elsewhere
  /// counts by how much nearer these are to the first.
  [[nodiscard]] double pull(Unit unit) const {
    double sum = outside_[unit];
    for (const auto& [to, bytes] : graph_.of(unit))
      if (inside_[to]) sum += left_[to] ? bytes : -bytes;
    return sum;
  }

  /// The cut with the fewest bytes of some that begin with another unit each.
  void best_of_some(const std::vector<Unit>& units, Unit first) {
    std::vector<char> best;
    double least = 0;
    for (std::uint32_t start = 0; start < std::min(most_starts, static_cast<std::uint32_t>(units.size())); ++start) {
      grow(units, first, units[random_.below(static_cast<Unit>(units.size()))]);
      refine(units);
      const double bytes = crossing(units);
      if (!best.empty() && bytes >= least) continue;
      least = bytes;
      best.clear();
      for (const Unit unit : units) best.push_back(left_[unit]);
    }
    for (std::size_t i = 0; i < units.size(); ++i) left_[units[i]] = best[i];
  }

  /// Bytes across the cut, and what they exchange with units elsewhere by the way that is saved.
  [[nodiscard]] double crossing(const std::vector<Unit>& units) const {
    double sum = 0;
    for (const Unit unit : units) {
      sum -= left_[unit] ? outside_[unit] : 0;
      for (const auto& [to, bytes] : graph_.of(unit))
        if (inside_[to] && left_[to] != left_[unit]) sum += bytes / 2;
    }
    return sum;
  }

  /// The first part grows from one unit by those that are pulled the most.
  void grow(const std::vector<Unit>& units, Unit first, Unit start) {
    for (const Unit unit : units) left_[unit] = 0;
    Heap heap;
    for (const Unit unit : units) {
      gain_[unit] = pull(unit);
      heap.emplace(gain_[unit], units_.size() - 1 - unit);  // of equals the one with the least number
    }
    for (Unit taken = 0; taken < first;) {
      Unit unit = start;
      if (taken > 0) {
        const auto [gain, mirrored] = heap.top();
        heap.pop();
        unit = units_.size() - 1 - mirrored;
        if (left_[unit] || gain != gain_[unit]) continue;
      }
      left_[unit] = 1;
      ++taken;
      for (const auto& [to, bytes] : graph_.of(unit)) {
        if (!inside_[to] || left_[to]) continue;
        gain_[to] += 2 * bytes;
        heap.emplace(gain_[to], units_.size() - 1 - to);
      }
    }
  }

  /// Exchanges pairs as long as a pass finds a better cut.
  void refine(const std::vector<Unit>& units) {
    for (std::uint32_t pass = 0; pass < most_passes; ++pass) {
      Heap out, in;  // of the first part, of the second: by how many bytes less cross the cut when they change sides
      for (const Unit unit : units) {
        gain_[unit] = pull(unit);
        locked_[unit] = 0;
        (left_[unit] ? out : in).emplace(left_[unit] ? -gain_[unit] : gain_[unit], unit);
      }
      std::vector<std::pair<Unit, Unit>> moved;
      double sum = 0, best = 0;
      std::size_t kept = 0;
      while (moved.size() < kept + most_without_gain) {
        const auto a = move(out, in);
        if (!a) break;
        const auto b = move(in, out, a->second);
        if (!b) {
          flip(a->second);
          break;
        }
        sum += a->first + b->first;
        moved.emplace_back(a->second, b->second);
        if (sum > best * (1 + 1e-12) + 1e-12) {
          best = sum;
          kept = moved.size();
        }
      }
      for (std::size_t i = kept; i < moved.size(); ++i) {
        left_[moved[i].first] = 1;
        left_[moved[i].second] = 0;
      }
      if (kept == 0) return;
    }
  }

  void flip(Unit unit) {
    const double change = left_[unit] ? -2.0 : 2.0;
    left_[unit] = !left_[unit];
    for (const auto& [to, bytes] : graph_.of(unit))
      if (inside_[to]) gain_[to] += change * bytes;
  }

  /// The free unit of one heap whose change of sides gains most; its neighbours are entered anew.
  std::optional<Entry> move(Heap& from, Heap& to, Unit but = ~Unit{0}) {
    while (!from.empty()) {
      const auto [gain, unit] = from.top();
      from.pop();
      const double now = left_[unit] ? -gain_[unit] : gain_[unit];
      if (locked_[unit] || unit == but || gain != now) continue;
      const bool was_left = left_[unit] != 0;
      locked_[unit] = 1;
      flip(unit);
      for (const auto& [near, bytes] : graph_.of(unit))
        if (inside_[near] && !locked_[near]) {
          const bool same = (left_[near] != 0) == was_left;
          (same ? from : to).emplace(left_[near] ? -gain_[near] : gain_[near], near);
        }
      return Entry{gain, unit};
    }
    return std::nullopt;
  }

  const Network& network_;
  const Units& units_;
  const UnitGraph& graph_;
  Steps steps_;
  std::vector<Unit> slot_;  ///< per unit: where it is, as far as that is known: the middle of its part
  std::vector<double>
      outside_;  ///< per unit: bytes with units elsewhere, by how much nearer they are to the first part
  std::vector<char> inside_, left_;  ///< of the part that is divided; of its first half
  std::vector<double> gain_;         ///< per unit: its pull
  std::vector<char> locked_;         ///< has changed sides in this pass
  std::vector<Channel> route_;
  double apart_ = 0;  ///< seconds a byte between the parts
  algorithms::Random random_{1};
};

}  // namespace

std::vector<Unit> bisected(const Network& network, const Units& units, const UnitGraph& graph) {
  return Bisection(network, units, graph).run();
}

}  // namespace hocket::order
