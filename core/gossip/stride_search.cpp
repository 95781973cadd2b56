/// Looks for strides. Lists of windows give the starting points: windows of g₁, g₂, … holders along
/// strides that each are the product of the later windows. Then one stride at a time is replaced by
/// the one that helps most, from these starts and from random ones.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/gossip/stride.hpp"

namespace hocket::gossip {
namespace {

using Sequence = std::vector<StrideStep>;

/// Volumes of sequences. In a cube all colours do the same, so one of them is followed.
class Evaluator {
 public:
  Evaluator(const std::vector<std::uint32_t>& sides, std::uint64_t effort)
      : sides_(sides), space_(sides), left_(effort) {
    for (std::uint32_t axis = 0; axis < sides.size(); ++axis)
      if (sides[axis] > 1) axes_.push_back(axis);
    cubic_ = std::all_of(axes_.begin(), axes_.end(), [&](auto axis) { return sides[axis] == sides[axes_[0]]; });
  }

  [[nodiscard]] const std::vector<std::uint32_t>& axes() const { return axes_; }
  [[nodiscard]] bool cubic() const { return cubic_; }
  [[nodiscard]] bool exhausted() const { return left_ == 0; }
  [[nodiscard]] std::uint64_t left() const { return left_; }

  void spend(std::uint64_t work) { left_ -= std::min(left_, work); }

  /// Infinity if the sequence does not reach everyone, or needs `enough` or more.
  double volume(const Sequence& sequence, double enough) {
    spend(400);
    if (!cubic_) return unequal(sequence, enough);
    held_ = space_.origin();
    std::uint32_t size = 1;
    std::uint64_t sum = 0;
    const double scale = 2.0 * static_cast<double>(axes_.size());
    for (const StrideStep& step : sequence) {
      next_ = held_;
      if (step.turn != StrideStep::every_axis) {
        const std::uint32_t axis = axes_[static_cast<std::size_t>(step.turn)];
        space_.add_both(next_, held_, axis, step.strides[axis]);
      } else {
        for (const std::uint32_t axis : axes_) space_.add_both(next_, held_, axis, step.strides[axis]);
      }
      spend(space_.words() * 2 * axes_.size() + 60);
      const std::uint32_t now = count(next_);
      sum += std::uint64_t{step.strides[axes_[0]]} * (now - size);
      size = now;
      std::swap(held_, next_);
      if (static_cast<double>(sum) >= enough * scale) return INFINITY;
    }
    return size == space_.size() ? static_cast<double>(sum) / scale : INFINITY;
  }

 private:
  /// Follows all colours. What may come along several axes is spread in chunks, so the volume is a
  /// close estimate.
  double unequal(const Sequence& sequence, double enough) {
    const std::size_t d = axes_.size();
    std::vector<Bits> held(d, space_.origin()), along(d);
    std::vector<double> load(d);
    std::vector<std::uint32_t> sizes(d, 1);
    double sum = 0;
    for (const StrideStep& step : sequence) {
      std::fill(load.begin(), load.end(), 0.0);
      for (std::size_t colour = 0; colour < d; ++colour) {
        next_ = held[colour];
        std::size_t used = 0;
        for (std::size_t i = 0; i < d; ++i) {
          along[i].clear();
          const std::uint32_t s = step.strides[axes_[i]];
          if (s == 0 ||
              (step.turn != StrideStep::every_axis && (colour + static_cast<std::size_t>(step.turn)) % d != i))
            continue;
          ++used;
          along[i].assign(space_.words(), 0);
          space_.add_both(along[i], held[colour], axes_[i], s);
          for (std::size_t w = 0; w < next_.size(); ++w) next_[w] |= along[i][w];
        }
        spend(space_.words() * 4 * d + 150);
        const std::uint32_t size = count(next_);
        if (used == 1) {
          for (std::size_t i = 0; i < d; ++i)
            if (!along[i].empty()) load[i] += double(size - sizes[colour]) * step.strides[axes_[i]];
        } else if (used > 1) {
          spread(step, held[colour], along, load);
        }
        sizes[colour] = size;
        std::swap(held[colour], next_);
      }
      sum += *std::max_element(load.begin(), load.end()) / (2.0 * static_cast<double>(d));
      if (sum >= enough) return INFINITY;
    }
    for (const std::uint32_t size : sizes)
      if (size != space_.size()) return INFINITY;
    return sum;
  }

  void spread(const StrideStep& step, const Bits& held, const std::vector<Bits>& along, std::vector<double>& load) {
    const std::size_t d = axes_.size();
    std::vector<std::pair<int, std::uint32_t>> order;  // sets of axes, small ones first
    for (std::uint32_t set = 1; set < (1u << d); ++set) order.emplace_back(std::popcount(set), set);
    std::sort(order.begin(), order.end());
    for (const auto& [choices, set] : order) {
      std::uint32_t members = 0;
      for (std::size_t w = 0; w < held.size(); ++w) {
        std::uint64_t bits = ~held[w];
        for (std::size_t i = 0; i < d; ++i) {
          const std::uint64_t there = along[i].empty() ? 0 : along[i][w];
          bits &= (set >> i & 1) != 0 ? there : ~there;
        }
        members += static_cast<std::uint32_t>(std::popcount(bits));
      }
      spend(held.size() * d);
      if (members == 0) continue;
      const int chunks = choices == 1 ? 1 : 16;
      for (int chunk = 0; chunk < chunks; ++chunk) {
        std::size_t best = d;
        double least = INFINITY;
        for (std::size_t i = 0; i < d; ++i) {
          const double after = load[i] + double(members) / chunks * step.strides[axes_[i]];
          if ((set >> i & 1) != 0 && after < least) least = after, best = i;
        }
        load[best] = least;
      }
    }
  }

  std::vector<std::uint32_t> sides_, axes_;
  OffsetSpace space_;
  std::uint64_t left_;
  bool cubic_ = true;
  Bits held_, next_;
};

struct Found {
  double volume = INFINITY;
  Sequence sequence;
};

class Search {
 public:
  Search(const std::vector<std::uint32_t>& sides, double r, std::uint64_t effort)
      : sides_(sides), r_(r), evaluator_(sides, effort) {
    nodes_ = Grid{sides, true}.nodes();
    longest_ = *std::max_element(sides.begin(), sides.end());
  }

  StridePlan run() {
    windows();
    if (!evaluator_.cubic()) unequal_windows();
    const auto ports = static_cast<std::uint32_t>(2 * evaluator_.axes().size());
    const std::uint64_t fewest = fewest_steps(nodes_, ports);
    for (const auto& start : std::map(best_)) descend(start.second.sequence);
    // Numbers of steps whose least volume could still win take turns, until many starts brought nothing.
    double best = best_time();
    for (std::uint32_t idle = 0; idle < std::min(5000u, 20 * nodes_) && !evaluator_.exhausted(); ++idle) {
      bool tried = false;
      for (std::uint64_t steps = fewest; steps <= fewest + 24 && !evaluator_.exhausted(); ++steps)
        if (promising(steps)) {
          descend(random_start(steps));
          tried = true;
        }
      if (!tried) break;
      if (best_time() < best) idle = 0;
      best = best_time();
    }
    const auto& winner = *std::min_element(best_.begin(), best_.end(), [&](const auto& a, const auto& b) {
      return time(a.first, a.second.volume) < time(b.first, b.second.volume);
    });
    StridePlan plan{sides_, winner.second.sequence, 0};
    plan.volume = stride_volume(plan);
    return plan;
  }

 private:
  [[nodiscard]] double time(std::uint64_t steps, double volume) const {
    return static_cast<double>(steps) * r_ + volume;
  }
  [[nodiscard]] double best_time() const {
    double least = INFINITY;
    for (const auto& [steps, found] : best_) least = std::min(least, time(steps, found.volume));
    return least;
  }

  [[nodiscard]] bool promising(std::uint64_t steps) const {
    const double ports = 2.0 * static_cast<double>(evaluator_.axes().size());
    double volume = (nodes_ - 1) / ports;
    if (evaluator_.axes().size() == 1)
      volume = std::max(volume, ring_volume_bound(nodes_, std::lgamma(nodes_ + 1.0), steps));
    const double best = best_time();
    if (time(steps, volume) >= best) return false;
    const auto known = best_.find(steps);
    return known == best_.end() || time(steps, known->second.volume) < 1.15 * best;
  }

  void note(const Sequence& sequence, double volume) {
    if (volume == INFINITY) return;
    Found& found = best_[sequence.size()];
    if (volume < found.volume) found = {volume, sequence};
  }

  /// The stride on every axis: the same in a cube, in proportion to the sides elsewhere.
  [[nodiscard]] StrideStep step(double share, std::int32_t turn) const {
    StrideStep step{std::vector<std::uint32_t>(sides_.size()), turn};
    for (const std::uint32_t axis : evaluator_.axes())
      step.strides[axis] = std::clamp<std::uint32_t>(static_cast<std::uint32_t>(std::lround(share * sides_[axis])), 1,
                                                     std::max(1u, sides_[axis] / 2));
    return step;
  }

  // --- Starting points from lists of windows

  struct Windows {
    double estimate;
    std::vector<std::uint32_t> factors;
  };

  void windows() {
    std::vector<Windows> lists;
    std::vector<std::uint32_t> factors;
    collect(1, 2, factors, lists);
    const auto better = [](const Windows& a, const Windows& b) {
      return a.estimate != b.estimate ? a.estimate < b.estimate : a.factors < b.factors;
    };
    const std::size_t kept = std::min<std::size_t>(lists.size(), 24);
    std::partial_sort(lists.begin(), lists.begin() + static_cast<std::ptrdiff_t>(kept), lists.end(), better);
    lists.resize(kept);
    for (Windows& list : lists) {
      std::sort(list.factors.begin(), list.factors.end());
      int orders = 12;
      do try_windows(list.factors);
      while (--orders > 0 && std::next_permutation(list.factors.begin(), list.factors.end()));
    }
  }

  /// Each axis with windows of its own: axes one after the other, the short ones first, or all at once.
  void unequal_windows() {
    std::vector<std::uint32_t> axes = evaluator_.axes();
    std::stable_sort(axes.begin(), axes.end(), [&](auto a, auto b) { return sides_[a] < sides_[b]; });
    for (std::uint32_t most = 2; most <= longest_; most += 1 + most / 4) {
      Sequence after, together;
      for (const std::uint32_t axis : axes) {
        // Windows of at most `most`, larger where more is at stake.
        const double side = sides_[axis];
        const auto windows = std::max(1.0, std::ceil(std::log(side) / std::log(std::max(2.0, double(most))) - 1e-9));
        const auto factor = static_cast<std::uint32_t>(std::ceil(std::pow(side, 1 / windows) - 1e-9));
        std::vector<std::uint32_t> strides;
        for (int w = static_cast<int>(windows) - 1; w >= 0; --w) {
          const auto s = static_cast<std::uint32_t>(std::lround(std::pow(factor, w)));
          for (std::uint32_t i = 0; i < factor / 2; ++i)
            strides.push_back(std::clamp(s, 1u, std::max(1u, sides_[axis] / 2)));
        }
        for (std::size_t i = 0; i < strides.size(); ++i) {
          StrideStep alone{std::vector<std::uint32_t>(sides_.size()), StrideStep::every_axis};
          if (together.size() <= i) together.push_back(alone);
          together[i].strides[axis] = strides[i];
          alone.strides[axis] = strides[i];
          after.push_back(alone);
        }
      }
      note(after, evaluator_.volume(after, INFINITY));
      note(together, evaluator_.volume(together, INFINITY));
    }
  }

  /// All lists of factors in rising order that reach the longest side, the last one no larger than
  /// needed.
  void collect(std::uint64_t product, std::uint32_t least, std::vector<std::uint32_t>& factors,
               std::vector<Windows>& lists) {
    const auto last = static_cast<std::uint32_t>((longest_ + product - 1) / product);
    if (last >= least || factors.empty()) {
      factors.push_back(std::max(last, 2u));
      lists.push_back({estimate(factors), factors});
      factors.pop_back();
    }
    for (std::uint32_t g = least; product * g < longest_ && lists.size() < 200000; ++g) {
      // A later factor is no smaller, so g beyond the root leaves no room for it.
      if (std::uint64_t{g} * g * product > std::uint64_t{4} * longest_) break;
      factors.push_back(g);
      collect(product * g, g, factors, lists);
      factors.pop_back();
    }
  }

  [[nodiscard]] double estimate(const std::vector<std::uint32_t>& factors) const {
    double steps = 0, product = 1, shares = 0;
    for (const std::uint32_t g : factors) {
      steps += g / 2;
      product *= g;
      shares += 1 - 1.0 / g;
    }
    const auto axes = static_cast<double>(evaluator_.axes().size());
    // Exact for a ring; in a torus the last window costs most, and the first ones next to nothing.
    const double volume = axes == 1 ? longest_ / 2.0 * shares * std::min(1.0, longest_ / product + 0.2)
                                    : nodes_ / (2 * axes) * (1 + 0.3 * (shares - 1));
    return axes * steps * r_ + volume;
  }

  void try_windows(const std::vector<std::uint32_t>& factors) {
    const auto axes = static_cast<std::int32_t>(evaluator_.axes().size());
    Sequence single, all;
    double product = 1;
    for (const std::uint32_t g : factors) product *= g;
    double scale = product;
    for (const std::uint32_t g : factors) {
      scale /= g;
      const double share = evaluator_.cubic() ? scale / longest_ : scale / product;
      for (std::int32_t turn = 0; turn < axes; ++turn)
        for (std::uint32_t i = 0; i < g / 2; ++i) {
          single.push_back(step(share, turn));
          if (axes > 1) all.push_back(step(share, StrideStep::every_axis));
        }
    }
    if (axes == 1)
      for (StrideStep& s : single) s.turn = StrideStep::every_axis;
    note(single, evaluator_.volume(single, INFINITY));
    if (axes > 1) note(all, evaluator_.volume(all, INFINITY));
  }

  // --- Local search

  Sequence random_start(std::uint64_t steps) {
    evaluator_.spend(100 + 50 * steps);
    const auto known = best_.find(steps);
    const std::uint64_t choices = evaluator_.axes().size() + 1;
    Sequence sequence;
    if (known != best_.end() && random_() % 2 == 0) {
      sequence = known->second.sequence;
      for (std::uint64_t changes = 1 + random_() % 3; changes > 0; --changes) {
        sequence[random_() % steps] = random_step(choices);
        std::swap(sequence[random_() % steps], sequence[random_() % steps]);
      }
      return sequence;
    }
    for (std::uint64_t i = 0; i < steps; ++i) sequence.push_back(random_step(choices));
    std::sort(sequence.begin(), sequence.end(),
              [](const StrideStep& a, const StrideStep& b) { return a.strides > b.strides; });
    return sequence;
  }

  StrideStep random_step(std::uint64_t choices) {
    // Strides whose logarithms are spread evenly, as those of windows are.
    const double exponent = static_cast<double>(random_() % 10007) / 10007.0;
    const double share = std::pow(longest_ / 2.0, exponent) / longest_;
    const bool all = choices == 2 || random_() % 2 == 0;
    return step(share, all ? StrideStep::every_axis : static_cast<std::int32_t>(random_() % (choices - 1)));
  }

  /// Replaces one step at a time by the best one, until none helps.
  void descend(Sequence sequence) {
    double volume = evaluator_.volume(sequence, INFINITY);
    if (volume == INFINITY) return;
    const double goal = best_time() * 1.25;
    for (bool better = true; better;) {
      better = false;
      for (std::size_t i = 0; i < sequence.size() && !evaluator_.exhausted(); ++i) {
        StrideStep best = sequence[i];
        const StrideStep before = best;
        for_each_change(before, [&](const StrideStep& other) {
          if (evaluator_.exhausted()) return;
          sequence[i] = other;
          const double now = evaluator_.volume(sequence, volume);
          if (now < volume) {
            volume = now;
            best = other;
            better = true;
          }
        });
        sequence[i] = best;
      }
      if (time(sequence.size(), volume) > goal || evaluator_.exhausted()) break;
    }
    note(sequence, volume);
  }

  template <class F>
  void for_each_change(const StrideStep& from, const F& visit) {
    const std::vector<std::uint32_t>& axes = evaluator_.axes();
    const auto turns = static_cast<std::int32_t>(axes.size() > 1 ? axes.size() : 0);
    for (std::int32_t turn = StrideStep::every_axis; turn < turns; ++turn) {
      if (evaluator_.cubic()) {
        for (std::uint32_t s = 1; s <= longest_ / 2; ++s) {
          StrideStep other{std::vector<std::uint32_t>(sides_.size()), turn};
          for (const std::uint32_t axis : axes) other.strides[axis] = s;
          visit(other);
        }
        continue;
      }
      for (const std::uint32_t axis : axes)
        for (std::uint32_t s = 0; s <= sides_[axis] / 2; ++s) {
          StrideStep other = from;
          other.turn = turn;
          other.strides[axis] = s;
          visit(other);
        }
    }
  }

  std::vector<std::uint32_t> sides_;
  double r_;
  Evaluator evaluator_;
  std::uint32_t nodes_ = 1, longest_ = 1;
  std::map<std::uint64_t, Found> best_;  ///< per number of steps
  std::mt19937 random_{1};
};

}  // namespace

StridePlan search_stride(const std::vector<std::uint32_t>& sides, double r, std::uint64_t effort) {
  if (!(r >= 0) || !std::isfinite(r)) throw InputError("r must be a number of at least 0");
  if (check_sides(sides) == 1) return {sides, {}, 0};
  return std::make_unique<Search>(sides, r, effort)->run();  // too large for the stack of a thread
}

}  // namespace hocket::gossip
