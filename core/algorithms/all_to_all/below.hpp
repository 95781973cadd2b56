#pragma once
/// Ranks below the links of a tree, seen from the root of its schedule.
#include <cstdint>
#include <vector>

#include "core/algorithms/all_to_all/place_set.hpp"
#include "core/algorithms/all_to_all/tree_phases.hpp"
#include "core/network/network.hpp"

namespace hocket::closed_forms {

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
