#include "core/algorithms/all_to_all/tree.hpp"

/// "tree": the optimal schedule of Faraj and Yuan, materialised.

#include "core/algorithms/registry.hpp"

namespace hocket::closed_forms {

namespace {

constexpr std::int64_t step(Side side) { return side == Side::before ? -1 : 1; }

}  // namespace

TreeForm::TreeForm(const Network& network) : phases_(network), below_(network, phases_), rank_at_(network.ranks()) {
  for (Rank rank = 0; rank < network.ranks(); ++rank)
    rank_at_[phases_.before(phases_.branch_of(rank)) + phases_.place_of(rank)] = rank;
}

std::uint32_t TreeForm::target(std::uint32_t branch, std::uint32_t turn) const {
  const std::uint32_t later = phases_.branches() - 1 - branch;
  return turn < later ? branch + 1 + turn : turn - later;
}

std::uint32_t TreeForm::source(std::uint32_t branch, std::uint32_t turn) const {
  return turn < branch ? branch - 1 - turn : phases_.branches() - 1 - (turn - branch);
}

/// The last partner whose phases have begun.
template <class Start>
std::optional<std::uint32_t> TreeForm::turn_at(Phase phase, Start start) const {
  std::uint32_t low = 0, high = phases_.branches() - 1;  // partners begun: at least low, at most high
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (static_cast<Phase>(start(middle)) <= phase)
      low = middle + 1;
    else
      high = middle;
  }
  return low == 0 ? std::nullopt : std::optional(low - 1);
}

template <class Start, class Busy>
TreeForm::Stretch TreeForm::stretch_of_turn(Phase phase, Start start, Busy busy) const {
  const auto turn = turn_at(phase, start);
  if (!turn) return {0, static_cast<Phase>(start(0))};
  Stretch at_work = busy(*turn, static_cast<Phase>(start(*turn)));
  at_work.turn = *turn;
  if (phase < at_work.end) return at_work;
  const bool last = *turn + 2 == phases_.branches();
  return {at_work.end, static_cast<Phase>(last ? phases() : start(*turn + 1))};
}

TreeForm::Stretch TreeForm::senders(std::uint32_t branch, Phase phase) const {
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

TreeForm::Stretch TreeForm::receivers(std::uint32_t branch, Phase phase) const {
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

PhasedMessage TreeForm::crossing(std::uint32_t from, std::uint32_t to, Phase phase) const {
  const auto p = static_cast<std::uint64_t>(phase);
  const std::uint64_t m0 = size(0), m = size(to);
  if (from == 0) return {rank(0, (p + phases_.rotation(p / m0, to)) % m0), rank(to, (p + m - phases() % m) % m), p};
  const std::uint64_t into = p - phases_.start(from, to), round = p / m0;
  const std::uint64_t receiver = to == 0 ? (p + phases_.rotation(round) + round + 1) % m : into % m;
  return {rank(from, into / m), rank(to, receiver), p};
}

PhasedMessage TreeForm::sent(std::uint32_t branch, Phase phase) const {
  if (branch == 0) return crossing(0, phases_.target_of_round(static_cast<std::uint64_t>(phase) / size(0)), phase);
  return crossing(branch, target(branch, senders(branch, phase).turn), phase);
}

PhasedMessage TreeForm::received(std::uint32_t branch, Phase phase) const {
  if (branch == 0) {
    const auto turn = turn_at(phase, [&](std::uint32_t at) { return phases_.start(source(branch, at), branch); });
    return crossing(source(branch, *turn), branch, phase);
  }
  return crossing(source(branch, receivers(branch, phase).turn), branch, phase);
}

/// Step 3 fills the first |M0| − 1 rounds of the largest branch, step 5 the last phases of the others.
TreeForm::Phase TreeForm::first_local(std::uint32_t branch) const {
  return branch == 0 ? 0 : static_cast<Phase>(phases() - size(branch) * size(branch - 1));
}

TreeForm::Phase TreeForm::end_local(std::uint32_t branch) const {
  return static_cast<Phase>(branch == 0 ? (size(0) - 1) * size(0) : phases());
}

/// The ranks that send out from below a link to others in the branch while no sender over the root is below the link.
TreeForm::Stretch TreeForm::local_senders(std::uint32_t branch, Phase phase) const {
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
/// the branch; else `until`. The receiver is the rank that sends over the root, and the local sender must be elsewhere.
TreeForm::Phase TreeForm::local_down(std::uint32_t branch, PlaceSet below, Phase from, Phase until, Side side) const {
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

PhasedMessage TreeForm::local(std::uint32_t branch, Phase phase) const {
  const auto p = static_cast<std::uint64_t>(phase);
  const std::uint64_t m = size(branch);
  if (branch == 0) {
    const std::uint64_t receiver = p + phases_.rotation(p / m);
    return {rank(0, (receiver + p / m + 1) % m), rank(0, receiver % m), p};
  }
  const auto first = static_cast<std::uint64_t>(first_local(branch));
  return {rank(branch, (p + m - phases() % m) % m), rank(branch, (p - first) / size(branch - 1)), p};
}

std::optional<PhasedMessage> TreeForm::local_in(std::uint32_t branch, std::uint64_t phase) const {
  const auto p = static_cast<Phase>(phase);
  if (size(branch) < 2 || local_senders(branch, p).kind == Stretch::Kind::idle) return std::nullopt;
  const PhasedMessage found = local(branch, p);
  return found.src != found.dst ? std::optional(found) : std::nullopt;
}

std::optional<Rank> TreeForm::target(Rank rank, std::uint64_t phase) const {
  const std::uint32_t branch = phases_.branch_of(rank);
  const auto p = static_cast<Phase>(phase);
  if (senders(branch, p).kind != Stretch::Kind::idle)
    if (const PhasedMessage found = sent(branch, p); found.src == rank) return found.dst;
  if (const auto found = local_in(branch, phase); found && found->src == rank) return found->dst;
  return std::nullopt;
}

std::optional<Rank> TreeForm::source(Rank rank, std::uint64_t phase) const {
  const std::uint32_t branch = phases_.branch_of(rank);
  const auto p = static_cast<Phase>(phase);
  if (receivers(branch, p).kind != Stretch::Kind::idle)
    if (const PhasedMessage found = received(branch, p); found.dst == rank) return found.src;
  if (const auto found = local_in(branch, phase); found && found->dst == rank) return found->src;
  return std::nullopt;
}

void TreeForm::append_messages(std::uint64_t phase, std::vector<Hop>& messages) const {
  const auto append = [&](const PhasedMessage& found) { messages.push_back({found.src, found.dst}); };
  for (std::uint32_t branch = 0; branch < phases_.branches(); ++branch) {
    const auto p = static_cast<Phase>(phase);
    if (senders(branch, p).kind != Stretch::Kind::idle) append(sent(branch, p));
    if (const auto found = local_in(branch, phase)) append(*found);
  }
}

template <class StretchAt>
TreeForm::Phase TreeForm::find(std::uint32_t branch, PlaceSet places, Phase from, Phase until, Side side,
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

std::optional<PhasedMessage> TreeForm::user(Channel channel, std::uint64_t phase, Side side) const {
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

bool TreeForm::uses(const PhasedMessage& message, Channel channel) const {
  const PlaceSet places = below_.places(channel);
  const auto is_below = [&](Rank rank) {
    return phases_.branch_of(rank) == below_.branch(channel) && places.contains(phases_.place_of(rank));
  };
  const bool from = is_below(message.src), to = is_below(message.dst);
  return below_.up(channel) ? from && !to : to && !from;
}

std::uint32_t TreeForm::sends_before(const PhasedMessage& message) const {
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
