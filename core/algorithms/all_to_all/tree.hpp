#pragma once
/// The optimal all-to-all on a tree, row by row; ranks below the links of a tree, seen from the root of its schedule.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/algorithms/all_to_all/tree_phases.hpp"
#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"

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

inline Below::Below(const Network& network, const TreePhases& phases) : links_(network.spec().links.size()) {
  const Tree& tree = *network.tree();
  // The link towards the root of the schedule, per node: on the way from there to the root of the tree they turn round.
  std::vector<Channel> to_root(tree.up);
  for (Node node = phases.root(); tree.parent[node] != Tree::none; node = tree.parent[node])
    to_root[tree.parent[node]] = tree.up[node] ^ 1;
  const auto& specs = network.spec().links;
  const auto upper_end = [&](Node node) {
    const LinkSpec& link = specs[to_root[node] / 2];
    return link.a == node ? link.b : link.a;
  };
  const auto each_link = [&](Rank rank, auto visit) {
    for (Node node = network.host_of(rank); node != phases.root(); node = upper_end(node))
      visit(node, to_root[node] / 2);
  };

  // Ranks come in ascending places: below a link they are an interval if last and first are as far apart as there are.
  std::vector<std::uint32_t> last(links_.size(), 0);
  for (Rank rank = 0; rank < network.ranks(); ++rank)
    each_link(rank, [&](Node node, std::uint32_t at) {
      Link& link = links_[at];
      if (link.count++ == 0) {
        link.branch = phases.branch_of(rank);
        link.first = phases.place_of(rank);
        link.a_is_lower = specs[at].a == node;
      }
      last[at] = phases.place_of(rank);
    });
  std::uint64_t listed = 0;
  for (std::size_t at = 0; at < links_.size(); ++at) {
    Link& link = links_[at];
    if (link.count == 0 || last[at] - link.first + 1 == link.count) continue;
    link.listed = true;
    link.list = listed;
    listed += link.count;
  }
  if (listed == 0) return;
  lists_.resize(listed);
  std::vector<std::uint32_t> filled(links_.size(), 0);
  for (Rank rank = 0; rank < network.ranks(); ++rank)
    each_link(rank, [&](Node, std::uint32_t at) {
      if (links_[at].listed) lists_[links_[at].list + filled[at]++] = phases.place_of(rank);
    });
}

/// In each phase a branch sends at most one message over the root, gets at most one, and has at most one of its own. So
/// the users of a channel follow from the senders and receivers of its branch, phase by phase, of which those below the
/// channel's link count. Source: own, from the patterns of Faraj and Yuan, section 4.
class TreeForm final : public ClosedForm {
 public:
  explicit TreeForm(const Network& network);

  [[nodiscard]] std::uint32_t ranks() const override { return static_cast<std::uint32_t>(rank_at_.size()); }
  [[nodiscard]] std::uint64_t phases() const override { return phases_.phases(); }
  [[nodiscard]] std::uint64_t phase(Rank src, Rank dst) const override { return phases_.phase(src, dst); }
  [[nodiscard]] std::uint32_t sends_before(const PhasedMessage& message) const override;
  [[nodiscard]] std::optional<Rank> target(Rank rank, std::uint64_t phase) const override;
  [[nodiscard]] std::optional<Rank> source(Rank rank, std::uint64_t phase) const override;
  void append_messages(std::uint64_t phase, std::vector<Hop>& messages) const override;
  [[nodiscard]] std::optional<PhasedMessage> user(Channel channel, std::uint64_t phase, Side side) const override;
  [[nodiscard]] bool uses(const PhasedMessage& message, Channel channel) const override;

 private:
  using Phase = std::int64_t;  ///< −1 and phases(): none

  /// Phases in which a place of a branch follows from the phase in one way.
  struct Stretch {
    Phase begin, end;
    enum class Kind : std::uint8_t {
      idle,
      turning,  ///< (phase + offset) mod the branch's size
      stairs    ///< (phase − begin) / width
    } kind = Kind::idle;
    std::uint64_t number = 0;  ///< offset, or width
    std::uint32_t turn = 0;    ///< turn of the partner over the root, if not idle and not in the largest branch
  };

  [[nodiscard]] std::uint64_t size(std::uint32_t branch) const { return phases_.size(branch); }
  [[nodiscard]] Rank rank(std::uint32_t branch, std::uint64_t place) const {
    return rank_at_[phases_.before(branch) + place];
  }

  // Messages over the root. The partners of a branch in the order of their phases.
  [[nodiscard]] std::uint32_t target(std::uint32_t branch, std::uint32_t turn) const;
  [[nodiscard]] std::uint32_t source(std::uint32_t branch, std::uint32_t turn) const;
  template <class Start>
  [[nodiscard]] std::optional<std::uint32_t> turn_at(Phase phase, Start start) const;
  template <class Start, class Busy>
  [[nodiscard]] Stretch stretch_of_turn(Phase phase, Start start, Busy busy) const;
  [[nodiscard]] Stretch senders(std::uint32_t branch, Phase phase) const;
  [[nodiscard]] Stretch receivers(std::uint32_t branch, Phase phase) const;
  [[nodiscard]] PhasedMessage crossing(std::uint32_t from, std::uint32_t to, Phase phase) const;
  [[nodiscard]] PhasedMessage sent(std::uint32_t branch, Phase phase) const;
  [[nodiscard]] PhasedMessage received(std::uint32_t branch, Phase phase) const;

  // Messages within a branch.
  [[nodiscard]] Phase first_local(std::uint32_t branch) const;
  [[nodiscard]] Phase end_local(std::uint32_t branch) const;
  [[nodiscard]] Stretch local_senders(std::uint32_t branch, Phase phase) const;
  [[nodiscard]] Phase local_down(std::uint32_t branch, PlaceSet below, Phase from, Phase until, Side side) const;
  [[nodiscard]] PhasedMessage local(std::uint32_t branch, Phase phase) const;
  [[nodiscard]] std::optional<PhasedMessage> local_in(std::uint32_t branch, std::uint64_t phase) const;

  /// The nearest phase, from one on and not beyond `until`, in which one of these places is at work; else `until`.
  template <class StretchAt>
  [[nodiscard]] Phase find(std::uint32_t branch, PlaceSet places, Phase from, Phase until, Side side,
                           StretchAt stretch_at) const;

  TreePhases phases_;
  Below below_;
  std::vector<Rank> rank_at_;  ///< indexed by branch and place
};

}  // namespace hocket::closed_forms
