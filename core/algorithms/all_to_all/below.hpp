#pragma once
/// Ranks below the links of a tree, seen from the root of its schedule.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/algorithms/all_to_all/tree_phases.hpp"
#include "core/network/network.hpp"
#include "core/schedule/closed_form.hpp"

namespace hocket::closed_forms {

/// A view: an interval, or a sorted list.
class PlaceSet {
 public:
  PlaceSet(std::uint32_t first, std::uint32_t count, const std::uint32_t* list)
      : first_(first), count_(count), list_(list) {}

  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] bool contains(std::uint32_t place) const {
    if (list_ == nullptr) return place - first_ < count_;
    return std::binary_search(list_, list_ + count_, place);
  }
  /// The nearest one at or before (at or after) the place.
  [[nodiscard]] std::optional<std::uint32_t> nearest(std::uint32_t place, Side side) const {
    if (list_ == nullptr) {
      if (side == Side::before)
        return place < first_ ? std::nullopt : std::optional(std::min(place, first_ + count_ - 1));
      return place >= first_ + count_ ? std::nullopt : std::optional(std::max(place, first_));
    }
    if (side == Side::before) {
      const auto* it = std::upper_bound(list_, list_ + count_, place);
      return it == list_ ? std::nullopt : std::optional(it[-1]);
    }
    const auto* it = std::lower_bound(list_, list_ + count_, place);
    return it == list_ + count_ ? std::nullopt : std::optional(*it);
  }
  /// Steps back (on) from the place to the nearest one of the set, round a circle of m places; 0 if it is in the set.
  [[nodiscard]] std::uint64_t steps(std::uint32_t place, std::uint64_t m, Side side) const {
    if (const auto found = nearest(place, side)) return side == Side::before ? place - *found : *found - place;
    return side == Side::before ? place + m - last() : first() + m - place;
  }
  /// Steps back (on) from the place to the nearest one outside the set, which must exist; 0 if it is outside itself.
  [[nodiscard]] std::uint64_t steps_out(std::uint32_t place, std::uint64_t m, Side side) const {
    if (!contains(place)) return 0;
    if (side == Side::before) {
      const std::uint32_t run = run_begin(place);
      return run > 0 ? place - run + 1 : place + 1 + steps_out(static_cast<std::uint32_t>(m - 1), m, side);
    }
    const std::uint32_t run = run_end(place);
    return run < m ? run - place : m - place + steps_out(0, m, side);
  }

 private:
  [[nodiscard]] std::uint32_t first() const { return list_ == nullptr ? first_ : list_[0]; }
  [[nodiscard]] std::uint32_t last() const { return list_ == nullptr ? first_ + count_ - 1 : list_[count_ - 1]; }

  /// The places from the first one of a run to this one are all in the set: list_[k] − k is the same for a run.
  [[nodiscard]] std::uint32_t run_begin(std::uint32_t place) const {
    if (list_ == nullptr) return first_;
    const auto at = static_cast<std::uint32_t>(std::lower_bound(list_, list_ + count_, place) - list_);
    std::uint32_t low = 0, high = at;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (place - list_[middle] == at - middle)
        high = middle;
      else
        low = middle + 1;
    }
    return list_[low];
  }
  /// One after the last of the run.
  [[nodiscard]] std::uint32_t run_end(std::uint32_t place) const {
    if (list_ == nullptr) return first_ + count_;
    const auto at = static_cast<std::uint32_t>(std::lower_bound(list_, list_ + count_, place) - list_);
    std::uint32_t low = at, high = count_ - 1;
    while (low < high) {
      const std::uint32_t middle = low + (high - low + 1) / 2;
      if (list_[middle] - place == middle - at)
        low = middle;
      else
        high = middle - 1;
    }
    return list_[low] + 1;
  }

  std::uint32_t first_, count_;
  const std::uint32_t* list_;  ///< null: an interval
};

class Below {
 public:
  Below(const Network& network, const TreePhases& phases);

  /// The branch in which the lower end of the channel's link is.
  [[nodiscard]] std::uint32_t branch(Channel channel) const { return of(channel).branch; }
  /// True if the channel leads towards the root.
  [[nodiscard]] bool up(Channel channel) const { return (channel % 2 == 0) == of(channel).a_is_lower; }
  /// The places of the ranks below.
  [[nodiscard]] PlaceSet places(Channel channel) const {
    const Link& link = of(channel);
    return {link.first, link.count, link.listed ? lists_.data() + link.list : nullptr};
  }

 private:
  struct Link {
    std::uint32_t branch = 0, first = 0, count = 0;
    bool a_is_lower = false, listed = false;
    std::uint64_t list = 0;
  };

  [[nodiscard]] const Link& of(Channel channel) const { return links_[channel / 2]; }

  std::vector<Link> links_;
  std::vector<std::uint32_t> lists_;  ///< the places below links where they are no interval
};

}  // namespace hocket::closed_forms
