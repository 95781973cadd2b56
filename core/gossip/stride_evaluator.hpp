#pragma once
/// Volumes of sequences of strides, for the search that tries many of them.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/gossip/stride.hpp"

namespace hocket::gossip {

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

}  // namespace hocket::gossip
