/// "dragonfly": all groups of a full dragonfly at once, in closed form.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/edge_colours.hpp"
#include "core/algorithms/shared/phase_writer.hpp"
#include "core/limits.hpp"

namespace hocket {
namespace {

constexpr std::uint64_t most_turns = std::uint64_t{1} << 28;
constexpr std::uint8_t no_turn = 255;

/// Number of values in 0 … end - 1 whose remainder by `modulus` is below `least`.
std::uint32_t with_remainder_below(std::uint32_t least, std::uint32_t end, std::uint32_t modulus) {
  return end / modulus * least + std::min(end % modulus, least);
}

/// Every group does the same in every phase, with other groups: each of its links to others carries a message of a
/// sender that is a first difference u of router numbers before the link's router, to a receiver a last difference v
/// behind the router at the link's other end. Links have colours, those of a router different ones in either
/// direction, and u and v follow from phase and colour. A link between routers that are u apart then carries the first
/// hop of one colour or the last hop of one, if no two colours of a phase have the same difference, first or last. So
/// a phase deals the pairs of a perfect matching of all differences out to colours. Messages with u = v come in no
/// matching: the first hop of one meets the last hop of another, in circles, whose messages take turns. Messages within
/// a group go by shifts of routers and hosts. Source: own.
///
/// A step is a stretch of phases with the same differences; in its phases hosts of the routers take turns. In a step a
/// link between routers carries messages of one lane, or none, in all phases; so the nearest user is in the phase next
/// to it, or at the end of a step next to it. A host's turn comes after as many phases as routers have hosts, at most.
class DragonflyPhases final : public ClosedForm {
 public:
  /// The reason why some messages of a phase would share a channel; empty if none do.
  [[nodiscard]] static std::string_view why_not(const Network& network) {
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
  /// Requires that why_not() is empty.
  explicit DragonflyPhases(const Network& network)
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

  [[nodiscard]] std::uint32_t ranks() const override { return static_cast<std::uint32_t>(rank_at_.size()); }
  [[nodiscard]] std::uint64_t phases() const override { return first_phase(steps()); }
  [[nodiscard]] std::uint64_t phase(Rank src, Rank dst) const override {
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
  [[nodiscard]] std::uint32_t sends_before(const PhasedMessage& message) const override {
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
  [[nodiscard]] std::optional<Rank> target(Rank rank, std::uint64_t phase) const override {
    const std::uint32_t number = step_of(phase);
    return target(rank, step(number), phase - first_phase(number));
  }
  [[nodiscard]] std::optional<Rank> source(Rank rank, std::uint64_t phase) const override {
    const std::uint32_t number = step_of(phase);
    return source(rank, step(number), phase - first_phase(number));
  }
  [[nodiscard]] std::optional<PhasedMessage> user(Channel channel, std::uint64_t phase, Side side) const override {
    if (phase == before_all && side == Side::before) return std::nullopt;
    std::uint32_t number = 0;
    std::uint64_t offset = 0;
    if (phase != before_all) {
      number = step_of(phase);
      offset = phase - first_phase(number) + (side == Side::after ? 1 : 0);
    }
    for (;;) {
      if (const auto found = in_step(channel, number, offset, side)) return found;
      if (side == Side::before ? number == 0 : number + 1 == steps()) return std::nullopt;
      number += side == Side::before ? ~std::uint32_t{0} : 1;
      offset = side == Side::before ? first_phase(number + 1) - first_phase(number) : 0;
    }
  }
  [[nodiscard]] bool uses(const PhasedMessage& message, Channel channel) const override {
    if (dragonfly_->is_leaf(dragonfly_->tail(channel))) return rank_of_[dragonfly_->tail(channel)] == message.src;
    if (dragonfly_->is_leaf(dragonfly_->head(channel))) return rank_of_[dragonfly_->head(channel)] == message.dst;
    const std::uint32_t src = router(message.src), dst = router(message.dst);
    const std::uint32_t from = tail(channel), to = head(channel);
    if (src / routers_ == dst / routers_) return from == src && to == dst;
    const Channel link = dragonfly_->between(src / routers_, dst / routers_);
    return channel == link || (from == src && to == tail(link)) || (from == head(link) && to == dst);
  }

 private:
  static constexpr Rank nobody = ~Rank{0};

  enum class Kind : std::uint8_t {
    inside,  ///< within groups
    apart,   ///< between groups, by a matching: first and last difference are not the same
    alike,   ///< between groups, first and last difference are the same
  };
  struct Step {
    Kind kind;
    std::uint32_t shift;  ///< inside: of routers; else which colour comes first
    std::uint32_t batch;  ///< number of the batch of colours
    std::uint32_t round;  ///< apart: number of the round of the matchings
    bool turned;          ///< apart: which end of a pair comes first
    std::uint32_t turn;   ///< alike: of the circles' messages
  };
  [[nodiscard]] std::uint32_t steps() const { return first_step_.back(); }
  [[nodiscard]] std::uint64_t first_phase(std::uint32_t step) const {
    return step <= inside_ ? std::uint64_t{step} * hosts_
                           : inside_ * std::uint64_t{hosts_} + (step - inside_) * block();
  }
  [[nodiscard]] std::uint32_t step_of(std::uint64_t phase) const {
    const std::uint64_t within = std::uint64_t{inside_} * hosts_;
    return static_cast<std::uint32_t>(phase < within ? phase / hosts_ : inside_ + (phase - within) / block());
  }
  [[nodiscard]] Step step(std::uint32_t number) const {
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
  /// Overloads for a step known to the caller: `offset` counts phases from the step's first.
  [[nodiscard]] std::optional<Rank> target(Rank rank, const Step& step, std::uint64_t offset) const {
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
  [[nodiscard]] std::optional<Rank> source(Rank rank, const Step& step, std::uint64_t offset) const {
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
  /// Hosts of the routers that take part: `sender` and `receiver` are added to the colour. Within groups `receiver` is
  /// added to the sender's own number, and `sender` is not used.
  struct Hosts {
    std::uint32_t sender, receiver;
  };
  [[nodiscard]] Hosts hosts(const Step& step, std::uint64_t offset) const {
    const auto at = static_cast<std::uint32_t>(offset);
    return step.kind == Kind::inside ? Hosts{0, at} : Hosts{at / hosts_, at % hosts_};
  }

  /// A colour with its two differences.
  struct Lane {
    std::uint32_t colour, first, last;
  };
  /// The sender's host number for this difference, in a step within groups; a host of this number need not exist.
  [[nodiscard]] std::uint32_t sender_inside(const Step& step, std::uint32_t difference) const {
    return wrapped(difference + inside_ - step.shift, inside_);
  }
  /// The lane of a colour in a step between groups; none if the colour is not in the step's batch.
  [[nodiscard]] std::optional<Lane> lane_of(const Step& step, std::uint32_t colour) const {
    if (colour / at_once_ != step.batch) return std::nullopt;
    return lane(step, colour - first_colour(step.batch));
  }
  /// The lane with this first (`is_last`: last) difference, in a step between groups.
  [[nodiscard]] std::optional<Lane> lane_with(const Step& step, std::uint32_t difference, bool is_last) const {
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
  /// The lane, in a step between groups, in which the host with this number takes part, `added` being added to the
  /// colour: Hosts::sender to find where it sends, Hosts::receiver to find where it receives.
  [[nodiscard]] std::optional<Lane> lane_of_host(const Step& step, std::uint32_t host, std::uint32_t added) const {
    const std::uint32_t number = host_before(wrapped(host + hosts_ - added, hosts_), first_colour(step.batch));
    return number < colours_of(step.batch) ? std::optional(lane(step, number)) : std::nullopt;
  }
  /// True if the link carries a message of this lane in this step.
  [[nodiscard]] bool takes_turn(const Step& step, const Lane& lane, Channel link) const {
    return step.kind != Kind::alike || turn_of(link, lane) == step.turn;
  }

  /// The number of a host that is so many behind another number.
  [[nodiscard]] std::uint32_t host_after(std::uint32_t number, std::uint32_t added) const {
    return wrapped((number < hosts_ ? number : number % hosts_) + added, hosts_);
  }
  /// Cyclic distance from a number to a host, modulo the hosts of a router: the inverse of host_after().
  [[nodiscard]] std::uint32_t host_before(std::uint32_t host, std::uint32_t number) const {
    return wrapped(host + hosts_ - (number < hosts_ ? number : number % hosts_), hosts_);
  }
  /// The number of a rank's router, and that of its host on the router.
  [[nodiscard]] std::uint32_t router(Rank rank) const { return place_[rank] / hosts_; }
  [[nodiscard]] std::uint32_t host(Rank rank) const { return place_[rank] % hosts_; }
  [[nodiscard]] Rank rank(std::uint32_t router, std::uint32_t host) const {
    return rank_at_[std::size_t{router} * hosts_ + host];
  }
  /// The link to another group of this colour that leaves a router, or comes to it.
  [[nodiscard]] Channel out(std::uint32_t router, std::uint32_t colour) const {
    return out_[std::size_t{router} * colours_ + colour];
  }
  [[nodiscard]] Channel in(std::uint32_t router, std::uint32_t colour) const {
    return in_[std::size_t{router} * colours_ + colour];
  }
  /// The router where a link begins, or where it leads.
  [[nodiscard]] std::uint32_t tail(Channel link) const { return dragonfly_->router(dragonfly_->tail(link)); }
  [[nodiscard]] std::uint32_t head(Channel link) const { return dragonfly_->router(dragonfly_->head(link)); }
  [[nodiscard]] std::uint32_t colour(std::uint32_t from, std::uint32_t to) const {
    return colour_[std::size_t{from} * groups_ + to];
  }
  /// Another router of the same group.
  [[nodiscard]] std::uint32_t beside(std::uint32_t router, std::uint32_t difference) const {
    const std::uint32_t place = router % routers_;
    return router - place + wrapped(place + difference, routers_);
  }
  /// Cyclic distance from the place of one router within its group to that of another.
  [[nodiscard]] std::uint32_t difference(std::uint32_t from, std::uint32_t to) const {
    return wrapped(to % routers_ + routers_ - from % routers_, routers_);
  }
  [[nodiscard]] std::uint32_t opposite(std::uint32_t difference) const {
    return difference == 0 ? 0 : routers_ - difference;
  }
  /// A sum of two remainders.
  [[nodiscard]] static std::uint32_t wrapped(std::uint32_t sum, std::uint32_t modulus) {
    return sum < modulus ? sum : sum - modulus;
  }
  [[nodiscard]] std::uint64_t block() const { return std::uint64_t{hosts_} * hosts_; }
  [[nodiscard]] std::uint32_t first_colour(std::uint32_t batch) const { return batch * at_once_; }
  [[nodiscard]] std::uint32_t colours_of(std::uint32_t batch) const {
    return std::min(at_once_, colours_ - first_colour(batch));
  }
  [[nodiscard]] std::uint32_t apart_steps() const { return 2 * matchings_.rounds() * matchings_.pairs(); }
  [[nodiscard]] std::uint8_t turn_of(Channel link, const Lane& lane) const {
    return turn_[(std::size_t{lane.first} * colours_ + lane.colour) * groups_ * routers_ + tail(link)];
  }
  [[nodiscard]] Lane lane(const Step& step, std::uint32_t number) const {
    const std::uint32_t colour = first_colour(step.batch) + number;
    if (step.kind == Kind::alike) {
      const std::uint32_t difference = wrapped(step.shift + 2 * number, routers_);
      return {colour, difference, difference};
    }
    const std::uint32_t pair = wrapped(number + step.shift, matchings_.pairs());
    return {colour, matchings_.team(step.round, {pair, step.turned}),
            matchings_.team(step.round, {pair, !step.turned})};
  }
  /// The nearest user in a step, from an offset on (before: of those below it).
  [[nodiscard]] std::optional<PhasedMessage> in_step(Channel channel, std::uint32_t number, std::uint64_t offset,
                                                     Side side) const {
    const Step step = this->step(number);
    const std::uint64_t first = first_phase(number), size = first_phase(number + 1) - first;
    const bool before = side == Side::before, up = dragonfly_->is_leaf(dragonfly_->tail(channel));
    if (before ? offset == 0 : offset >= size) return std::nullopt;
    if (before) --offset;
    if (!up && !dragonfly_->is_leaf(dragonfly_->head(channel))) return over_link(channel, step, first + offset, offset);
    const Rank rank = rank_of_[up ? dragonfly_->tail(channel) : dragonfly_->head(channel)];
    if (rank == nobody) return std::nullopt;
    // A sender's turn lasts as many phases as routers have hosts, a receiver's comes in one of as many.
    const bool lasts = up && step.kind != Kind::inside;
    for (std::uint64_t tries = 0; tries < hosts_; ++tries) {
      if (const auto other = up ? target(rank, step, offset) : source(rank, step, offset))
        return up ? PhasedMessage{rank, *other, first + offset} : PhasedMessage{*other, rank, first + offset};
      if (lasts) offset = before ? offset - offset % hosts_ : offset + hosts_ - 1 - offset % hosts_;
      if (before ? offset-- == 0 : ++offset == size) return std::nullopt;
    }
    return std::nullopt;
  }
  /// The message that a channel between routers carries.
  [[nodiscard]] std::optional<PhasedMessage> over_link(Channel channel, const Step& step, std::uint64_t phase,
                                                       std::uint64_t offset) const {
    const std::uint32_t from = tail(channel), to = head(channel);
    const auto [sender, receiver] = hosts(step, offset);
    const auto in_lane = [&](const Lane& lane, Channel link) {
      const Rank src = rank(beside(tail(link), opposite(lane.first)), host_after(lane.colour, sender));
      const Rank dst = rank(beside(head(link), lane.last), host_after(lane.colour, receiver));
      return PhasedMessage{src, dst, phase};
    };
    if (from / routers_ != to / routers_) {
      if (step.kind == Kind::inside) return std::nullopt;
      const std::optional<Lane> lane = lane_of(step, colour(from / routers_, to / routers_));
      return lane && takes_turn(step, *lane, channel) ? std::optional(in_lane(*lane, channel)) : std::nullopt;
    }
    const std::uint32_t apart = difference(from, to);
    if (step.kind == Kind::inside) {
      const std::uint32_t host = sender_inside(step, apart);
      if (host >= hosts_) return std::nullopt;
      return PhasedMessage{rank(from, host), rank(to, host_after(host, receiver)), phase};
    }
    if (const std::optional<Lane> first = lane_with(step, apart, false)) {
      const Channel link = out(to, first->colour);
      if (takes_turn(step, *first, link)) return in_lane(*first, link);
    }
    if (const std::optional<Lane> last = lane_with(step, apart, true)) {
      const Channel link = in(from, last->colour);
      if (takes_turn(step, *last, link)) return in_lane(*last, link);
    }
    return std::nullopt;
  }
  /// Edge colouring of the links, between routers where they begin and routers where they lead.
  void colour_links() {
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
  /// colour the routers where links begin stand in circles: neighbours take turns, and the last one of an odd circle
  /// has a turn of its own.
  void deal_turns() {
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
          turns = std::max(
              turns, most[std::size_t{(shift + 2 * number) % routers_} * colours_ + first_colour(batch) + number]);
        before.push_back(before.back() + turns);
      }
      first_step_.push_back(first_step_.back() + apart_steps() + before.back());
    }
  }

  std::shared_ptr<const Dragonfly> dragonfly_;
  std::uint32_t groups_, routers_, hosts_ = 0, colours_ = 0;
  Tournament matchings_;                                  ///< matchings of the differences
  std::uint32_t at_once_ = 0;                             ///< colours of a batch
  std::uint32_t inside_ = 0;                              ///< steps within groups
  std::vector<std::uint32_t> first_step_;                 ///< per batch, and the end
  std::vector<std::vector<std::uint32_t>> turns_before_;  ///< per batch and shift: steps of the kind alike; and all
  std::vector<std::uint32_t> place_;                      ///< per rank: router and host
  std::vector<Rank> rank_at_;                             ///< per place
  std::vector<Rank> rank_of_;                             ///< per node, or `nobody`
  std::vector<Channel> out_, in_;                         ///< per router and colour
  std::vector<std::uint16_t> colour_;                     ///< per two groups
  std::vector<std::uint8_t> turn_;                        ///< per difference, colour and router where the link begins
};

}  // namespace
}  // namespace hocket

namespace hocket::algorithms {

static Schedule make_dragonfly(const Network& network, const Demand& demand, const AlgorithmOptions&) {
  return written_out(DragonflyPhases(network), demand);
}

/// Compares with the bound, since some messages take turns.
static bool dragonfly_is_far(const Network& network, const Demand&, const Bounds& bounds) {
  return !limits::is_near(network.ranks(), DragonflyPhases(network).phases(), bounds.phases);
}

static FoundForm dragonfly_form(const Network& network, const Demand& demand, bool near) {
  if (network.dragonfly() == nullptr) return {};
  if (const std::string_view reason = DragonflyPhases::why_not(network); !reason.empty()) return {nullptr, {}, reason};
  auto form = std::make_unique<DragonflyPhases>(network);
  if (near && !limits::is_near(network.ranks(), form->phases(), lower_bounds(network, demand).phases))
    return {nullptr, {}, "the dragonfly's groups are so small that its schedule is far from the bound"};
  return {std::move(form)};
}

constinit const Algorithm dragonfly{
    .pattern = Pattern::all_to_all,
    .name = "dragonfly",
    .summary = "all groups of a full dragonfly at once, by matchings of the routers' distances",
    .source = "own",
    .contention_free = true,
    .refuses = [](const Network& network, const Demand&) { return DragonflyPhases::why_not(network); },
    .make = make_dragonfly,
    .rank = 5,
    .is_far = dragonfly_is_far,
    .form = dragonfly_form,
};

}  // namespace hocket::algorithms
