/// "tree": the optimal schedule of Faraj and Yuan, and any row of it in closed form.
#include <algorithm>
#include <memory>
#include <optional>
#include <ranges>

#include "core/algorithms/all_to_all/tree_phases.hpp"
#include "core/algorithms/registry.hpp"

namespace hocket::closed_forms {
namespace {

constexpr std::int64_t step(Side side) { return side == Side::before ? -1 : 1; }

/// The first of these numbers for which it does not hold, or `end`; it holds for all before that and none behind.
template <class Holds>
std::uint32_t first_without(std::uint32_t begin, std::uint32_t end, Holds holds) {
  const auto numbers = std::views::iota(begin, end);
  return begin + static_cast<std::uint32_t>(std::ranges::partition_point(numbers, holds) - numbers.begin());
}

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
    return list_[first_without(0, at, [&](std::uint32_t i) { return place - list_[i] != at - i; })];
  }
  /// One after the last of the run.
  [[nodiscard]] std::uint32_t run_end(std::uint32_t place) const {
    if (list_ == nullptr) return first_ + count_;
    const auto at = static_cast<std::uint32_t>(std::lower_bound(list_, list_ + count_, place) - list_);
    return list_[first_without(at, count_, [&](std::uint32_t i) { return list_[i] - place == i - at; }) - 1] + 1;
  }

  std::uint32_t first_, count_;
  const std::uint32_t* list_;  ///< null: an interval
};

class Below {
 public:
  Below(const Network& network, const TreePhases& phases) : links_(network.spec().links.size()) {
    const Tree& tree = *network.tree();
    // The link towards the root of the schedule, per node: on the way from there to the root of the tree they turn
    // round.
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

    // Ranks come in ascending places: below a link they are an interval if last and first are as far apart as there
    // are.
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

/// In each phase a branch sends at most one message over the root, gets at most one, and has at most one of its own. So
/// the users of a channel follow from the senders and receivers of its branch, phase by phase, of which those below the
/// channel's link count. Source: own, from the patterns of Faraj and Yuan, section 4.
class TreeForm final : public ClosedForm {
 public:
  explicit TreeForm(const Network& network) : phases_(network), below_(network, phases_), rank_at_(network.ranks()) {
    for (Rank rank = 0; rank < network.ranks(); ++rank)
      rank_at_[phases_.before(phases_.branch_of(rank)) + phases_.place_of(rank)] = rank;
  }

  [[nodiscard]] std::uint32_t ranks() const override { return static_cast<std::uint32_t>(rank_at_.size()); }
  [[nodiscard]] std::uint64_t phases() const override { return phases_.phases(); }
  [[nodiscard]] std::uint64_t phase(Rank src, Rank dst) const override { return phases_.phase(src, dst); }
  [[nodiscard]] std::uint32_t sends_before(const PhasedMessage& message) const override {
    const std::uint32_t branch = phases_.branch_of(message.src);
    const std::uint64_t place = phases_.place_of(message.src), m = size(branch), phase = message.phase;
    if (branch == 0) {
      // One message over the root a round, and in each of the first rounds one within the branch.
      const std::uint64_t round = phase / m, locals = std::min(round, m - 1);
      const auto before = [&](std::uint64_t who) {
        return phases_.in_round(round, static_cast<std::uint32_t>(who)) < phase ? 1 : 0;
      };
      const std::uint64_t local_now = round + 1 < m ? before((place + 2 * m - 1 - round) % m) : 0;
      return static_cast<std::uint32_t>(round + before(place) + locals + local_now);
    }
    std::uint64_t sends = 0;
    const auto turn =
        turn_at(static_cast<Phase>(phase), [&](std::uint32_t at) { return phases_.start(branch, target(branch, at)); });
    if (turn) {
      const std::uint32_t to = target(branch, *turn);
      const std::uint64_t all = phases_.before(phases_.branches());
      // Ranks of the branches before `to`, in the order of phases.
      sends = to > branch ? phases_.before(to) - phases_.before(branch + 1)
                          : all - phases_.before(branch + 1) + phases_.before(to);
      const std::uint64_t mine = phases_.start(branch, to) + place * size(to);
      if (phase > mine) sends += std::min(phase - mine, size(to));
    }
    const auto first = static_cast<std::uint64_t>(first_local(branch));
    if (phase > first) {
      const std::uint64_t next = size(branch - 1), receiver = std::min((phase - first) / next, m);
      sends += receiver - (place < receiver ? 1 : 0);
      const std::uint64_t begin = first + receiver * next;
      if (receiver < m && receiver != place && begin + (place + (m - begin % m) + phases() % m) % m < phase) ++sends;
    }
    return static_cast<std::uint32_t>(sends);
  }
  [[nodiscard]] std::optional<Rank> target(Rank rank, std::uint64_t phase) const override {
    const std::uint32_t branch = phases_.branch_of(rank);
    const auto p = static_cast<Phase>(phase);
    if (senders(branch, p).kind != Stretch::Kind::idle)
      if (const PhasedMessage found = sent(branch, p); found.src == rank) return found.dst;
    if (const auto found = local_in(branch, phase); found && found->src == rank) return found->dst;
    return std::nullopt;
  }
  [[nodiscard]] std::optional<Rank> source(Rank rank, std::uint64_t phase) const override {
    const std::uint32_t branch = phases_.branch_of(rank);
    const auto p = static_cast<Phase>(phase);
    if (receivers(branch, p).kind != Stretch::Kind::idle)
      if (const PhasedMessage found = received(branch, p); found.dst == rank) return found.src;
    if (const auto found = local_in(branch, phase); found && found->dst == rank) return found->src;
    return std::nullopt;
  }
  void append_messages(std::uint64_t phase, std::vector<Hop>& messages) const override {
    const auto append = [&](const PhasedMessage& found) { messages.push_back({found.src, found.dst}); };
    for (std::uint32_t branch = 0; branch < phases_.branches(); ++branch) {
      const auto p = static_cast<Phase>(phase);
      if (senders(branch, p).kind != Stretch::Kind::idle) append(sent(branch, p));
      if (const auto found = local_in(branch, phase)) append(*found);
    }
  }
  [[nodiscard]] std::optional<PhasedMessage> user(Channel channel, std::uint64_t phase, Side side) const override {
    const std::uint32_t branch = below_.branch(channel);
    const PlaceSet places = below_.places(channel);
    const bool up = below_.up(channel), whole = places.count() == size(branch);
    const Phase from = static_cast<Phase>(phase) + step(side);
    const Phase none = side == Side::before ? -1 : static_cast<Phase>(phases());
    const auto over_root = [&](std::uint32_t of, Phase at) { return up ? senders(of, at) : receivers(of, at); };
    const Phase crossing = find(branch, places, from, none, side, over_root);
    if (!whole) {
      const auto sending = [&](std::uint32_t of, Phase at) { return local_senders(of, at); };
      const Phase within =
          up ? find(branch, places, from, crossing, side, sending) : local_down(branch, places, from, crossing, side);
      if (within != crossing) return local(branch, within);
    }
    if (crossing == none) return std::nullopt;
    return up ? sent(branch, crossing) : received(branch, crossing);
  }
  [[nodiscard]] bool uses(const PhasedMessage& message, Channel channel) const override {
    const PlaceSet places = below_.places(channel);
    const auto is_below = [&](Rank rank) {
      return phases_.branch_of(rank) == below_.branch(channel) && places.contains(phases_.place_of(rank));
    };
    const bool from = is_below(message.src), to = is_below(message.dst);
    return below_.up(channel) ? from && !to : to && !from;
  }

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
  [[nodiscard]] std::uint32_t target(std::uint32_t branch, std::uint32_t turn) const {
    const std::uint32_t later = phases_.branches() - 1 - branch;
    return turn < later ? branch + 1 + turn : turn - later;
  }
  [[nodiscard]] std::uint32_t source(std::uint32_t branch, std::uint32_t turn) const {
    return turn < branch ? branch - 1 - turn : phases_.branches() - 1 - (turn - branch);
  }
  /// The last partner whose phases have begun.
  template <class Start>
  [[nodiscard]] std::optional<std::uint32_t> turn_at(Phase phase, Start start) const {
    const auto has_begun = [&](std::uint32_t turn) { return static_cast<Phase>(start(turn)) <= phase; };
    const std::uint32_t begun = first_without(0, phases_.branches() - 1, has_begun);
    return begun == 0 ? std::nullopt : std::optional(begun - 1);
  }
  template <class Start, class Busy>
  [[nodiscard]] Stretch stretch_of_turn(Phase phase, Start start, Busy busy) const {
    const auto turn = turn_at(phase, start);
    if (!turn) return {0, static_cast<Phase>(start(0))};
    Stretch at_work = busy(*turn, static_cast<Phase>(start(*turn)));
    at_work.turn = *turn;
    if (phase < at_work.end) return at_work;
    const bool last = *turn + 2 == phases_.branches();
    return {at_work.end, static_cast<Phase>(last ? phases() : start(*turn + 1))};
  }
  [[nodiscard]] Stretch senders(std::uint32_t branch, Phase phase) const {
    if (branch == 0) {
      const std::uint64_t m0 = size(0), round = static_cast<std::uint64_t>(phase) / m0;
      const auto begin = static_cast<Phase>(round * m0);
      return {begin, begin + static_cast<Phase>(m0), Stretch::Kind::turning, phases_.rotation(round)};
    }
    return stretch_of_turn(
        phase, [&](std::uint32_t turn) { return phases_.start(branch, target(branch, turn)); },
        [&](std::uint32_t turn, Phase begin) -> Stretch {
          const std::uint64_t width = size(target(branch, turn));
          return {begin, begin + static_cast<Phase>(size(branch) * width), Stretch::Kind::stairs, width};
        });
  }
  [[nodiscard]] Stretch receivers(std::uint32_t branch, Phase phase) const {
    const std::uint64_t m = size(branch);
    if (branch == 0) {
      Stretch round = senders(0, phase);
      round.number += static_cast<std::uint64_t>(phase) / m + 1;
      return round;
    }
    return stretch_of_turn(
        phase, [&](std::uint32_t turn) { return phases_.start(source(branch, turn), branch); },
        [&](std::uint32_t turn, Phase begin) -> Stretch {
          const std::uint32_t from = source(branch, turn);
          const std::uint64_t origin = from == 0 ? phases() : static_cast<std::uint64_t>(begin);
          return {begin, begin + static_cast<Phase>(m * size(from)), Stretch::Kind::turning, (m - origin % m) % m};
        });
  }
  [[nodiscard]] PhasedMessage crossing(std::uint32_t from, std::uint32_t to, Phase phase) const {
    const auto p = static_cast<std::uint64_t>(phase);
    const std::uint64_t m0 = size(0), m = size(to);
    if (from == 0) return {rank(0, (p + phases_.rotation(p / m0, to)) % m0), rank(to, (p + m - phases() % m) % m), p};
    const std::uint64_t into = p - phases_.start(from, to), round = p / m0;
    const std::uint64_t receiver = to == 0 ? (p + phases_.rotation(round) + round + 1) % m : into % m;
    return {rank(from, into / m), rank(to, receiver), p};
  }
  [[nodiscard]] PhasedMessage sent(std::uint32_t branch, Phase phase) const {
    if (branch == 0) return crossing(0, phases_.target_of_round(static_cast<std::uint64_t>(phase) / size(0)), phase);
    return crossing(branch, target(branch, senders(branch, phase).turn), phase);
  }
  [[nodiscard]] PhasedMessage received(std::uint32_t branch, Phase phase) const {
    if (branch == 0) {
      const auto turn = turn_at(phase, [&](std::uint32_t at) { return phases_.start(source(branch, at), branch); });
      return crossing(source(branch, *turn), branch, phase);
    }
    return crossing(source(branch, receivers(branch, phase).turn), branch, phase);
  }

  // Messages within a branch.
  /// Step 3 fills the first |M0| − 1 rounds of the largest branch, step 5 the last phases of the others.
  [[nodiscard]] Phase first_local(std::uint32_t branch) const {
    return branch == 0 ? 0 : static_cast<Phase>(phases() - size(branch) * size(branch - 1));
  }
  [[nodiscard]] Phase end_local(std::uint32_t branch) const {
    return static_cast<Phase>(branch == 0 ? (size(0) - 1) * size(0) : phases());
  }
  /// The ranks that send out from below a link to others in the branch while no sender over the root is below the link.
  [[nodiscard]] Stretch local_senders(std::uint32_t branch, Phase phase) const {
    const Phase first = first_local(branch), end = end_local(branch);
    const auto all = static_cast<Phase>(phases());
    if (phase < first) return {0, first};
    if (phase >= end) return {end, all};
    if (branch == 0) return receivers(0, phase);
    const std::uint64_t m = size(branch), next = size(branch - 1);
    const Phase begin = phase - (phase - first) % static_cast<Phase>(next);
    const Phase full = begin + static_cast<Phase>(m);
    if (phase >= full) return {full, begin + static_cast<Phase>(next)};
    return {begin, full, Stretch::Kind::turning, (m - phases() % m) % m};
  }
  /// The nearest phase, from `from` on and not beyond `until`, in which a rank of `below` receives from another rank of
  /// the branch; else `until`. The receiver is the rank that sends over the root, and the local sender must be
  /// elsewhere.
  [[nodiscard]] Phase local_down(std::uint32_t branch, PlaceSet below, Phase from, Phase until, Side side) const {
    const Phase first = first_local(branch), end = end_local(branch);
    from = side == Side::before ? std::min(from, end - 1) : std::max(from, first);
    const Phase limit = side == Side::before ? std::max(until, first - 1) : std::min(until, end);
    const auto beyond = [&](Phase phase) { return side == Side::before ? phase <= limit : phase >= limit; };
    const std::uint64_t m = size(branch);
    const auto stretch_at = [&](std::uint32_t of, Phase phase) { return senders(of, phase); };
    while (!beyond(from)) {
      const Phase phase = find(branch, below, from, limit, side, stretch_at);
      // In the largest branch whoever sends locally receives over the root: none of those below, here.
      if (beyond(phase)) break;
      if (branch == 0) return phase;
      const auto next = static_cast<Phase>(size(branch - 1));
      const Phase begin = phase - (phase - first) % next, full = begin + static_cast<Phase>(m);
      const Phase at = side == Side::before ? std::min(phase, full - 1) : phase;
      if (at < full && at >= begin) {
        const auto sender = static_cast<std::uint32_t>((static_cast<std::uint64_t>(at) + m - phases() % m) % m);
        const Phase found = at + step(side) * static_cast<Phase>(below.steps_out(sender, m, side));
        if (found >= begin && found < full) return beyond(found) ? until : found;
      }
      from = side == Side::before ? begin - 1 : begin + next;
    }
    return until;
  }
  [[nodiscard]] PhasedMessage local(std::uint32_t branch, Phase phase) const {
    const auto p = static_cast<std::uint64_t>(phase);
    const std::uint64_t m = size(branch);
    if (branch == 0) {
      const std::uint64_t receiver = p + phases_.rotation(p / m);
      return {rank(0, (receiver + p / m + 1) % m), rank(0, receiver % m), p};
    }
    const auto first = static_cast<std::uint64_t>(first_local(branch));
    return {rank(branch, (p + m - phases() % m) % m), rank(branch, (p - first) / size(branch - 1)), p};
  }
  [[nodiscard]] std::optional<PhasedMessage> local_in(std::uint32_t branch, std::uint64_t phase) const {
    const auto p = static_cast<Phase>(phase);
    if (size(branch) < 2 || local_senders(branch, p).kind == Stretch::Kind::idle) return std::nullopt;
    const PhasedMessage found = local(branch, p);
    return found.src != found.dst ? std::optional(found) : std::nullopt;
  }

  /// The nearest phase, from one on and not beyond `until`, in which one of these places is at work; else `until`.
  template <class StretchAt>
  [[nodiscard]] Phase find(std::uint32_t branch, PlaceSet places, Phase from, Phase until, Side side,
                           StretchAt stretch_at) const {
    const std::uint64_t m = size(branch);
    const auto beyond = [&](Phase phase) { return side == Side::before ? phase <= until : phase >= until; };
    while (!beyond(from)) {
      const Stretch stretch = stretch_at(branch, from);
      const auto here = static_cast<std::uint64_t>(from);
      if (stretch.kind == Stretch::Kind::turning) {
        const auto place = static_cast<std::uint32_t>((here + stretch.number) % m);
        const Phase found = from + step(side) * static_cast<Phase>(places.steps(place, m, side));
        if (found >= stretch.begin && found < stretch.end) return beyond(found) ? until : found;
      } else if (stretch.kind == Stretch::Kind::stairs) {
        const auto width = static_cast<Phase>(stretch.number);
        const auto place = static_cast<std::uint32_t>((from - stretch.begin) / width);
        if (const auto nearest = places.nearest(place, side)) {
          Phase found = from;
          if (*nearest != place)
            found = stretch.begin + (side == Side::before ? (*nearest + Phase{1}) * width - 1 : *nearest * width);
          return beyond(found) ? until : found;
        }
      }
      from = side == Side::before ? stretch.begin - 1 : stretch.end;
    }
    return until;
  }

  TreePhases phases_;
  Below below_;
  std::vector<Rank> rank_at_;  ///< indexed by branch and place
};

}  // namespace
}  // namespace hocket::closed_forms

namespace hocket::algorithms {

static std::string_view tree_refuses(const Network& network, const Demand&) {
  return network.tree() == nullptr ? "it needs a tree of switches" : "";
}

static Schedule make_tree(const Network& network, const Demand& demand, const AlgorithmOptions&) {
  const TreePhases phases(network);
  std::vector<std::uint32_t> phase_of;
  std::vector<Hop> hops;
  phase_of.reserve(demand.messages());
  hops.reserve(demand.messages());
  for (Rank src = 0; src < demand.ranks; ++src)
    for (Rank dst = 0; dst < demand.ranks; ++dst) {
      if (src == dst) continue;
      phase_of.push_back(static_cast<std::uint32_t>(phases.phase(src, dst)));
      hops.push_back({src, dst});
    }
  return group_by_phase(demand.ranks, demand.bytes, phases.phases(), phase_of, hops);
}

/// Compares with the bound, since the schedule sends one message at a time over an inter-switch link, however wide that
/// is.
static bool tree_is_far(const Network& network, const Demand&, const Bounds& bounds) {
  return TreePhases(network).phases() != bounds.phases;
}

static FoundForm tree_form(const Network& network, const Demand& demand, bool) {
  if (network.tree() == nullptr) return {};
  auto form = std::make_unique<closed_forms::TreeForm>(network);
  if (form->phases() == lower_bounds(network, demand).phases) return {std::move(form)};
  return {nullptr, {}, "the tree schedule does not meet the bound"};
}

constinit const Algorithm tree{
    .pattern = Pattern::all_to_all,
    .name = "tree",
    .summary = "optimal phases on any tree of switches with equal links",
    .source = "Faraj and Yuan, section 4",
    .contention_free = true,
    .refuses = tree_refuses,
    .make = make_tree,
    .rank = 1,
    .is_far = tree_is_far,
    .form = tree_form,
};

}  // namespace hocket::algorithms
