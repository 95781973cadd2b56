/// "dragonfly": groups, routers and hosts by classes, materialised.
#include "core/algorithms/all_to_all/dragonfly_phases.hpp"

#include <algorithm>
#include <utility>

namespace hocket {
namespace {

constexpr std::uint64_t most_turns = std::uint64_t{1} << 28;
constexpr std::uint8_t no_turn = 255;

/// Number of values in 0 … end - 1 whose remainder by `modulus` is below `least`.
std::uint32_t with_remainder_below(std::uint32_t least, std::uint32_t end, std::uint32_t modulus) {
  return end / modulus * least + std::min(end % modulus, least);
}

}  // namespace

std::string_view DragonflyPhases::why_not(const Network& network) {
  const Dragonfly* dragonfly = network.dragonfly().get();
  if (dragonfly == nullptr) return "it needs a dragonfly, one link between any two groups";
  if (!network.equal_rates()) return "links differ in rate";
  if (network.hosts().size() != network.ranks()) return "hosts have several ranks";
  const std::uint32_t groups = dragonfly->groups(), routers = groups * dragonfly->routers();
  std::vector<std::uint32_t> hosts(routers, 0), links(routers, 0);
  for (const Node host : network.hosts()) ++hosts[dragonfly->router(host)];
  for (std::uint32_t from = 0; from < groups; ++from)
    for (std::uint32_t to = 0; to < groups; ++to)
      if (from != to) ++links[dragonfly->router(dragonfly->tail(dragonfly->between(from, to)))];
  const auto differ = [](const std::vector<std::uint32_t>& counts) {
    return std::ranges::any_of(counts, [&](std::uint32_t count) { return count != counts.front(); });
  };
  if (differ(hosts)) return "routers have different numbers of hosts with ranks";
  if (differ(links)) return "routers have different numbers of links to other groups";
  if (std::uint64_t{groups} * (groups - 1) * dragonfly->routers() > most_turns) return "the dragonfly is too large";
  return {};
}

DragonflyPhases::DragonflyPhases(const Network& network)
    : dragonfly_(network.dragonfly()),
      groups_(dragonfly_->groups()),
      routers_(dragonfly_->routers()),
      hosts_(network.ranks() / (groups_ * routers_)),
      colours_((groups_ - 1) / routers_),
      matchings_(routers_),
      at_once_(std::min({matchings_.pairs(), hosts_, colours_})),
      inside_(std::max(routers_, hosts_)) {
  std::vector<std::uint32_t> taken(std::size_t{groups_} * routers_, 0);
  place_.resize(network.ranks());
  rank_at_.resize(network.ranks());
  rank_of_.assign(network.nodes(), nobody);
  for (const Node host : network.hosts()) {
    const std::uint32_t router = dragonfly_->router(host), place = router * hosts_ + taken[router]++;
    place_[network.first_rank(host)] = place;
    rank_of_[host] = network.first_rank(host);
    rank_at_[place] = network.first_rank(host);
  }
  colour_links();
  deal_turns();
}

std::uint32_t DragonflyPhases::colours_of(std::uint32_t batch) const {
  return std::min(at_once_, colours_ - first_colour(batch));
}

/// Edge colouring of the links, between routers where they begin and routers where they lead.
void DragonflyPhases::colour_links() {
  const std::uint32_t routers = groups_ * routers_;
  std::vector<Channel> links;
  BipartiteGraph graph{{}, 2 * routers, colours_};
  for (std::uint32_t from = 0; from < groups_; ++from)
    for (std::uint32_t ahead = 1; ahead < groups_; ++ahead) {
      links.push_back(dragonfly_->between(from, (from + ahead) % groups_));
      graph.edges.push_back({{tail(links.back()), routers + head(links.back())}});
    }
  EdgeColours colours(graph);
  for (std::uint32_t edge = 0; edge < links.size(); ++edge) colours.add(edge);
  out_.resize(std::size_t{routers} * colours_);
  in_.resize(out_.size());
  colour_.resize(std::size_t{groups_} * groups_);
  for (std::uint32_t edge = 0; edge < links.size(); ++edge) {
    const std::uint32_t from = tail(links[edge]), to = head(links[edge]), colour = colours.colour_of()[edge];
    out_[std::size_t{from} * colours_ + colour] = in_[std::size_t{to} * colours_ + colour] = links[edge];
    colour_[std::size_t{from / routers_} * groups_ + to / routers_] = static_cast<std::uint16_t>(colour);
  }
}

/// A message whose differences are both u leaves its group by the link from a router t, to which it comes from the
/// router u before; and from there to t goes what a link of its colour brings to that router. So per difference and
/// colour the routers where links begin stand in circles: neighbours take turns, and the last one of an odd circle has
/// a turn of its own.
void DragonflyPhases::deal_turns() {
  const std::uint32_t routers = groups_ * routers_;
  turn_.assign(std::size_t{routers} * colours_ * routers_, no_turn);
  std::vector<std::uint32_t> most(std::size_t{routers_} * colours_, 1);
  struct Place {
    std::uint32_t group_begins, place;
  };
  std::vector<Place> tails(routers);  // per router: the router where its incoming link begins
  for (std::uint32_t colour = 0; colour < colours_; ++colour) {
    for (std::uint32_t router = 0; router < routers; ++router) {
      const std::uint32_t from = tail(in(router, colour)), place = from % routers_;
      tails[router] = {from - place, place};
    }
    for (std::uint32_t difference = 0; difference < routers_; ++difference) {
      const std::size_t at = std::size_t{difference} * colours_ + colour;
      std::uint8_t* turns = &turn_[at * routers];
      if (difference == 0) std::fill_n(turns, routers, 0);  // they use no link within a group
      for (std::uint32_t first = 0; first < routers; ++first) {
        if (turns[first] != no_turn) continue;
        std::uint32_t length = 0, last = first;
        Place at_link{first - first % routers_, first % routers_};
        for (std::uint32_t router = first; turns[router] == no_turn;) {
          turns[router] = static_cast<std::uint8_t>(length++ % 2);
          at_link = tails[at_link.group_begins + wrapped(at_link.place + opposite(difference), routers_)];
          last = std::exchange(router, at_link.group_begins + at_link.place);
        }
        if (length % 2 == 1) turns[last] = 2;
        most[at] = std::max(most[at], 2 + length % 2);
      }
    }
  }
  first_step_.assign(1, inside_);
  for (std::uint32_t batch = 0; first_colour(batch) < colours_; ++batch) {
    std::vector<std::uint32_t>& before = turns_before_.emplace_back(1, 0);
    for (std::uint32_t shift = 0; shift < routers_; ++shift) {
      std::uint32_t turns = 1;
      for (std::uint32_t number = 0; number < colours_of(batch); ++number)
        turns = std::max(turns,
                         most[std::size_t{(shift + 2 * number) % routers_} * colours_ + first_colour(batch) + number]);
      before.push_back(before.back() + turns);
    }
    first_step_.push_back(first_step_.back() + apart_steps() + before.back());
  }
}

DragonflyPhases::Step DragonflyPhases::step(std::uint32_t number) const {
  if (number < inside_) return {Kind::inside, number, 0, 0, false, 0};
  std::uint32_t batch = 0;
  while (number >= first_step_[batch + 1]) ++batch;
  number -= first_step_[batch];
  const std::uint32_t pairs = matchings_.pairs(), turned_rounds = number / pairs;
  if (number < apart_steps())
    return {Kind::apart, number - turned_rounds * pairs, batch, turned_rounds / 2, turned_rounds % 2 == 1, 0};
  number -= apart_steps();
  const std::vector<std::uint32_t>& before = turns_before_[batch];
  const auto shift = static_cast<std::uint32_t>(std::ranges::upper_bound(before, number) - before.begin() - 1);
  return {Kind::alike, shift, batch, 0, false, number - before[shift]};
}

DragonflyPhases::Lane DragonflyPhases::lane(const Step& step, std::uint32_t number) const {
  const std::uint32_t colour = first_colour(step.batch) + number;
  if (step.kind == Kind::alike) {
    const std::uint32_t difference = wrapped(step.shift + 2 * number, routers_);
    return {colour, difference, difference};
  }
  const std::uint32_t pair = wrapped(number + step.shift, matchings_.pairs());
  return {colour, matchings_.team(step.round, {pair, step.turned}), matchings_.team(step.round, {pair, !step.turned})};
}

std::optional<DragonflyPhases::Lane> DragonflyPhases::lane_of(const Step& step, std::uint32_t colour) const {
  if (colour / at_once_ != step.batch) return std::nullopt;
  return lane(step, colour - first_colour(step.batch));
}

std::optional<DragonflyPhases::Lane> DragonflyPhases::lane_with(const Step& step, std::uint32_t difference,
                                                                bool is_last) const {
  std::uint32_t number = 0;
  if (step.kind == Kind::alike) {
    const std::uint32_t twice = wrapped(difference + routers_ - step.shift, routers_);
    if (twice % 2 == 1 && routers_ % 2 == 0) return std::nullopt;
    number = (twice % 2 == 1 ? twice + routers_ : twice) / 2;
  } else {
    const auto place = matchings_.place(step.round, difference);
    if (!place || (place->second == step.turned) == is_last) return std::nullopt;
    number = wrapped(place->pair + matchings_.pairs() - step.shift, matchings_.pairs());
  }
  return number < colours_of(step.batch) ? std::optional(lane(step, number)) : std::nullopt;
}

std::optional<DragonflyPhases::Lane> DragonflyPhases::lane_of_host(const Step& step, std::uint32_t host,
                                                                   std::uint32_t added) const {
  const std::uint32_t number = host_before(wrapped(host + hosts_ - added, hosts_), first_colour(step.batch));
  return number < colours_of(step.batch) ? std::optional(lane(step, number)) : std::nullopt;
}

std::uint64_t DragonflyPhases::phase(Rank src, Rank dst) const {
  const std::uint32_t from = router(src), to = router(dst), sender = host(src), receiver = host(dst);
  if (from / routers_ == to / routers_) {
    const std::uint32_t shift = wrapped(difference(from, to) + inside_ - sender, inside_);
    return first_phase(shift) + host_before(receiver, sender);
  }
  const Channel link = dragonfly_->between(from / routers_, to / routers_);
  const Lane lane{colour(from / routers_, to / routers_), difference(from, tail(link)), difference(head(link), to)};
  const std::uint32_t batch = lane.colour / at_once_, number = lane.colour % at_once_;
  std::uint32_t step = first_step_[batch];
  if (lane.first == lane.last) {
    const std::uint32_t shift = wrapped(lane.first + routers_ - 2 * number, routers_);
    step += apart_steps() + turns_before_[batch][shift] + turn_of(link, lane);
  } else {
    const std::uint32_t round = matchings_.round_of(lane.first, lane.last), pairs = matchings_.pairs();
    const auto [pair, turned] = *matchings_.place(round, lane.first);
    step += (2 * round + (turned ? 1 : 0)) * pairs + wrapped(pair + pairs - number, pairs);
  }
  return first_phase(step) + std::uint64_t{host_before(sender, lane.colour)} * hosts_ +
         host_before(receiver, lane.colour);
}

std::optional<Rank> DragonflyPhases::target(Rank rank, const Step& step, std::uint64_t offset) const {
  const std::uint32_t at = router(rank), own = host(rank);
  const auto [sender, receiver] = hosts(step, offset);
  if (step.kind == Kind::inside) {
    const std::uint32_t difference = wrapped(step.shift + own, inside_);
    if (difference >= routers_) return std::nullopt;
    const Rank dst = this->rank(beside(at, difference), host_after(own, receiver));
    return dst != rank ? std::optional(dst) : std::nullopt;
  }
  const std::optional<Lane> lane = lane_of_host(step, own, sender);
  if (!lane) return std::nullopt;
  const Channel link = out(beside(at, lane->first), lane->colour);
  if (!takes_turn(step, *lane, link)) return std::nullopt;
  return this->rank(beside(head(link), lane->last), host_after(lane->colour, receiver));
}

std::optional<Rank> DragonflyPhases::source(Rank rank, const Step& step, std::uint64_t offset) const {
  const std::uint32_t at = router(rank), own = host(rank);
  const auto [sender, receiver] = hosts(step, offset);
  if (step.kind == Kind::inside) {
    const std::uint32_t other = host_before(own, receiver), difference = wrapped(step.shift + other, inside_);
    if (difference >= routers_) return std::nullopt;
    const Rank src = this->rank(beside(at, opposite(difference)), other);
    return src != rank ? std::optional(src) : std::nullopt;
  }
  const std::optional<Lane> lane = lane_of_host(step, own, receiver);
  if (!lane) return std::nullopt;
  const Channel link = in(beside(at, opposite(lane->last)), lane->colour);
  if (!takes_turn(step, *lane, link)) return std::nullopt;
  return this->rank(beside(tail(link), opposite(lane->first)), host_after(lane->colour, sender));
}

std::uint32_t DragonflyPhases::sends_before(const PhasedMessage& message) const {
  const auto [src, dst, phase] = message;
  const std::uint32_t number = step_of(phase), own = host(src);
  const Step step = this->step(number);
  const auto [sender, receiver] = hosts(step, phase - first_phase(number));
  if (step.kind == Kind::inside) {
    const std::uint32_t steps =
        with_remainder_below(routers_, own + step.shift, inside_) - with_remainder_below(routers_, own, inside_);
    const std::uint32_t to_itself = wrapped(inside_ - own, inside_);  // the step, in its first phase
    return steps * hosts_ + receiver - (std::pair(step.shift, receiver) > std::pair(to_itself, 0u) ? 1 : 0);
  }
  // Each colour takes a message of src to each host that its link and the last difference leave.
  const std::uint32_t colours = colours_of(step.batch), per_step = colours * hosts_;
  std::uint32_t count = routers_ * hosts_ - 1 + first_colour(step.batch) * routers_ * routers_ * hosts_ + receiver;
  if (step.kind == Kind::apart) {
    const std::uint32_t last = host_before(own, first_colour(step.batch)) + hosts_ + 1;
    return count + (number - first_step_[step.batch]) * per_step +
           hosts_ *
               (with_remainder_below(colours, last, hosts_) - with_remainder_below(colours, last - sender, hosts_));
  }
  count += (apart_steps() + step.shift) * per_step;
  const std::uint32_t at = router(src);
  const auto turn = [&](const Lane& lane) { return turn_of(out(beside(at, lane.first), lane.colour), lane); };
  for (std::uint32_t i = 0; i < colours; ++i)
    if (turn(lane(step, i)) < step.turn) count += hosts_;
  for (std::uint32_t added = 0; added < sender; ++added)
    if (const auto lane = lane_of_host(step, own, added); lane && turn(*lane) == step.turn) count += hosts_;
  return count;
}

}  // namespace hocket
