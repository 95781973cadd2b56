/// "relays": hosts that forward have their ranks pass parts of messages on, so that parts of one message take different
/// ways. Where a message takes one way, the busiest channel carries more than it must.
#include <cmath>
#include <compare>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <random>
#include <utility>

#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/slots.hpp"
#include "core/limits.hpp"
#include "core/progress/progress.hpp"

namespace hocket::algorithms {

namespace {

/// A route between two hosts, of one rank each, that passes no other host.
struct RelayEdge {
  std::uint32_t from = 0, to = 0;
  std::span<const Channel> channels;
  double speed = 0;         ///< bytes/s
  std::uint32_t parts = 1;  ///< that it carries in a slot
};

/// Edges between hosts. `routes` must outlive it.
struct RelayGraph {
  RelayGraph(const Network& network, const HostRoutes& routes)
      : hosts(routes.hosts()), leaving(hosts), room(network.channels(), 1) {
    for (std::uint32_t from = 0; from < hosts; ++from)
      for (std::uint32_t to = 0; to < hosts; ++to) {
        const std::span<const Channel> channels = routes.between(from, to);
        if (channels.empty()) continue;
        leaving[from].push_back(static_cast<std::uint32_t>(edges.size()));
        edges.push_back({from, to, channels, own_speed(network, channels)});
        slowest = slowest == 0 ? edges.back().speed : std::min(slowest, edges.back().speed);
      }
  }

  /// Sets the parts that edges and channels carry in a slot in which the slowest edge carries so many.
  void divide(const Network& network, std::uint32_t of_slowest) {
    const auto whole = [&](double speed) {
      return static_cast<std::uint32_t>(std::clamp(std::floor(speed / slowest * of_slowest * (1 + 1e-9)), 1.0, 1e6));
    };
    for (RelayEdge& edge : edges) edge.parts = whole(edge.speed);
    for (Channel channel = 0; channel < room.size(); ++channel) room[channel] = whole(network.rate(channel));
  }

  std::uint32_t hosts;
  double slowest = 0;  ///< bytes/s of an edge
  std::vector<RelayEdge> edges;
  std::vector<std::vector<std::uint32_t>> leaving;  ///< edges, per host
  std::vector<std::uint32_t> room;                  ///< per channel: parts in a slot
};

/// The edges of every part's way, one list after the other; parts of one message are neighbours.
struct RelayWays {
  std::vector<std::uint32_t> begin{0}, edges;

  [[nodiscard]] std::uint32_t parts() const { return static_cast<std::uint32_t>(begin.size() - 1); }
};

constexpr int sweeps = 30, most_targets = 20;
constexpr std::uint64_t share_of_a_raise = 100;  // of the slots: a hundredth more
constexpr double least_penalty = 0.5, more_penalty = 1.2;
constexpr double learning = 0.3;

/// Ways such that channels carry no more than fits into `slots`, or little more. Messages by sender, then receiver,
/// each in so many parts. Parts that cross a channel with too many take other ways, one at a time, on which the
/// channels are least full, by a power that grows.
class Ways {
 public:
  Ways(const Network& network, const RelayGraph& graph, std::uint32_t parts, std::uint64_t slots)
      : graph_(graph),
        load_(network.channels(), 0),
        price_(network.channels(), 0),
        slots_(slots),
        history_(network.channels(), 0) {
    for (std::uint32_t from = 0; from < graph.hosts; ++from)
      for (std::uint32_t to = 0; to < graph.hosts; ++to)
        for (std::uint32_t part = 0; from != to && part < parts; ++part) ways_.push_back({from, to, {}});
  }

  RelayWays run() {
    Steps steps("ways through other ranks", most_targets);
    bool fits = false;
    for (int target = 0; target < most_targets && !fits; ++target, steps.tick()) {
      if (target > 0) slots_ += std::max<std::uint64_t>(1, slots_ / share_of_a_raise);
      for (int sweep = 0; sweep < sweeps && !fits; ++sweep) {
        penalty_ = least_penalty * std::pow(more_penalty, sweep);
        for (Channel channel = 0; channel < load_.size(); ++channel) {
          if (const double over = excess(channel, 0); over > 0) history_[channel] += learning * over;
          set_price(channel);
        }
        fits = true;
        for (Way& way : ways_) {
          if (!way.edges.empty() && std::ranges::none_of(way.edges, [&](std::uint32_t edge) { return is_full(edge); }))
            continue;
          carry(way, -1);
          find(way);
          carry(way, 1);
          fits = false;
        }
      }
    }
    RelayWays found;
    for (const Way& way : ways_) {
      found.edges.insert(found.edges.end(), way.edges.begin(), way.edges.end());
      found.begin.push_back(static_cast<std::uint32_t>(found.edges.size()));
    }
    return found;
  }

 private:
  struct Way {
    std::uint32_t from, to;
    std::vector<std::uint32_t> edges;
  };

  /// Parts beyond what fits, with so many more, in parts of a slot.
  [[nodiscard]] double excess(Channel channel, int more) const {
    const double room = graph_.room[channel];
    return (static_cast<double>(load_[channel] + more) - static_cast<double>(slots_) * room) / room;
  }
  /// True if a channel carries more than fits.
  [[nodiscard]] bool is_full(std::uint32_t edge) const {
    return std::ranges::any_of(graph_.edges[edge].channels, [&](Channel channel) { return excess(channel, 0) > 0; });
  }

  void carry(const Way& way, int parts) {
    for (const std::uint32_t edge : way.edges)
      for (const Channel channel : graph_.edges[edge].channels) {
        load_[channel] += parts;
        set_price(channel);
      }
  }

  void set_price(Channel channel) {
    price_[channel] = (1 + history_[channel]) * (1 + penalty_ * std::max(0.0, excess(channel, 1)));
  }

  /// The cheapest way (Dijkstra).
  void find(Way& way) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    constexpr std::uint32_t none = ~std::uint32_t{0};
    distance_.assign(graph_.hosts, infinite);
    by_.assign(graph_.hosts, none);
    settled_.assign(graph_.hosts, 0);
    distance_[way.from] = 0;
    for (std::uint32_t at = way.from; at != way.to;) {
      settled_[at] = 1;
      for (const std::uint32_t edge : graph_.leaving[at]) {
        double distance = distance_[at];
        for (const Channel channel : graph_.edges[edge].channels) distance += price_[channel];
        const std::uint32_t to = graph_.edges[edge].to;
        if (settled_[to] == 0 && distance < distance_[to]) distance_[to] = distance, by_[to] = edge;
      }
      std::uint32_t next = none;
      for (std::uint32_t host = 0; host < graph_.hosts; ++host)
        if (settled_[host] == 0 && by_[host] != none && (next == none || distance_[host] < distance_[next]))
          next = host;
      at = next;
    }
    way.edges.clear();
    for (std::uint32_t at = way.to; at != way.from; at = graph_.edges[by_[at]].from) way.edges.push_back(by_[at]);
    std::ranges::reverse(way.edges);
  }

  const RelayGraph& graph_;
  std::vector<Way> ways_;
  std::vector<std::int64_t> load_;  ///< parts, per channel
  std::vector<double> price_;       ///< per channel
  std::uint64_t slots_;
  double penalty_ = least_penalty;
  std::vector<double> history_;  ///< per channel: what it has been too full for
  std::vector<double> distance_;
  std::vector<std::uint32_t> by_;
  std::vector<char> settled_;
};

struct RelaySlots {
  std::uint64_t slots = 0;
  std::vector<std::uint32_t> slot_of;  ///< of each of RelayWays::edges
};

constexpr int most_lists = 120;

constexpr double shaking = 2;  // slots by which urgency is changed at random

/// Makes lists. A step is the crossing of one edge by one part.
class SlotLists {
 public:
  SlotLists(const RelayGraph& graph, const RelayWays& ways)
      : graph_(graph),
        ways_(ways),
        part_of_(ways.edges.size()),
        slot_(ways.edges.size()),
        waiting_(graph.edges.size()) {
    for (std::uint32_t part = 0; part < ways.parts(); ++part)
      for (std::uint32_t step = ways.begin[part]; step < ways.begin[part + 1]; ++step) part_of_[step] = part;
  }

  /// Slots needed; of each step then in slots(). The least urgent number goes first. `back`: every way from its end.
  std::uint64_t make(const std::vector<double>& urgency, bool back) {
    for (std::uint32_t part = 0; part < ways_.parts(); ++part)
      if (ways_.begin[part] < ways_.begin[part + 1])
        wait(back ? ways_.begin[part + 1] - 1 : ways_.begin[part], urgency);
    left_.assign(graph_.room.size(), 0);
    for (const std::uint32_t edge : ways_.edges)
      for (const Channel channel : graph_.edges[edge].channels) left_[channel] += 1.0 / graph_.room[channel];
    std::size_t left = ways_.edges.size();
    std::uint32_t slot = 0;
    for (; left > 0; ++slot) {
      order_.clear();
      for (std::uint32_t edge = 0; edge < waiting_.size(); ++edge)
        if (!waiting_[edge].empty()) order_.push_back({-busiest(edge), waiting_[edge].top().first, edge});
      std::ranges::sort(order_);
      used_.assign(graph_.room.size(), 0);
      next_.clear();
      for (const auto& [busy, first, edge] : order_) {
        const RelayEdge& by = graph_.edges[edge];
        if (std::ranges::any_of(by.channels, [&](Channel channel) { return used_[channel] != 0; })) continue;
        for (const Channel channel : by.channels) used_[channel] = 1;
        for (std::uint32_t parts = 0; parts < by.parts && !waiting_[edge].empty(); ++parts, --left) {
          const std::uint32_t step = waiting_[edge].top().second;
          waiting_[edge].pop();
          slot_[step] = slot;
          for (const Channel channel : by.channels) left_[channel] -= 1.0 / graph_.room[channel];
          const std::uint32_t part = part_of_[step];
          if (back ? step > ways_.begin[part] : step + 1 < ways_.begin[part + 1])
            next_.push_back(back ? step - 1 : step + 1);
        }
      }
      for (const std::uint32_t step : next_) wait(step, urgency);
    }
    return slot;
  }

  [[nodiscard]] const std::vector<std::uint32_t>& slots() const { return slot_; }

 private:
  using Waiting = std::pair<double, std::uint32_t>;  ///< urgency and step

  /// Edges whose channels have most to carry come first, as those of an open shop.
  struct Turn {
    double busiest, urgency;
    std::uint32_t edge;
    auto operator<=>(const Turn&) const = default;
  };

  [[nodiscard]] double busiest(std::uint32_t edge) const {
    double slots = 0;
    for (const Channel channel : graph_.edges[edge].channels) slots = std::max(slots, std::round(left_[channel] * 16));
    return slots;
  }

  void wait(std::uint32_t step, const std::vector<double>& urgency) {
    waiting_[ways_.edges[step]].emplace(urgency[step], step);
  }

  const RelayGraph& graph_;
  const RelayWays& ways_;
  std::vector<std::uint32_t> part_of_, slot_;                                                ///< per step
  std::vector<std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>>> waiting_;  ///< per edge
  std::vector<double> left_;  ///< per channel: slots of parts that have still to cross it
  std::vector<Turn> order_;
  std::vector<char> used_;  ///< per channel
  std::vector<std::uint32_t> next_;
};

/// A part leaves a host in a later slot than it came. In a slot a channel carries parts of one edge, as many as this
/// has room for. Lists are made forwards and backwards in turn, by the slots of the one before (as in Li and
/// Willis, "An iterative scheduling technique for resource-constrained project scheduling", EJOR 1992), until `enough`
/// slots do.
[[nodiscard]] RelaySlots find_relay_slots(const RelayGraph& graph, const RelayWays& ways, std::uint64_t enough,
                                          std::uint64_t seed) {
  SlotLists lists(graph, ways);
  std::mt19937_64 random(seed);
  const auto part_of_one = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<double> urgency(ways.edges.size());
  for (std::uint32_t part = 0; part < ways.parts(); ++part)  // those that have the longest way to go
    for (std::uint32_t step = ways.begin[part]; step < ways.begin[part + 1]; ++step)
      urgency[step] = -static_cast<double>(ways.begin[part + 1] - step);
  RelaySlots best{~std::uint64_t{0}, {}};
  Steps steps("slots of parts that are passed on", most_lists);
  for (int made = 0; made < most_lists && best.slots > enough; ++made, steps.tick()) {
    const bool back = made % 2 != 0;
    const std::uint64_t slots = lists.make(urgency, back);
    if (slots < best.slots) {
      best = {slots, lists.slots()};
      if (back)
        for (std::uint32_t& slot : best.slot_of) slot = static_cast<std::uint32_t>(slots) - 1 - slot;
    }
    for (std::size_t step = 0; step < urgency.size(); ++step)
      urgency[step] = -static_cast<double>(lists.slots()[step]) + (made < 8 ? 0 : shaking * part_of_one());
  }
  return best;
}

constexpr std::uint32_t most_ranks = 64;       // some seconds
constexpr std::uint64_t most_parts = 24'000;   // of all messages
constexpr std::uint64_t smallest_part = 1024;  // bytes: less is all header
constexpr double worth_more_parts = 0.99;      // times the time of fewer: more messages
constexpr int most_tries = 4;                  // of each number of parts of the slowest edge

/// How messages are divided.
struct Division {
  std::uint32_t parts, of_slowest;
  std::uint64_t slots;  ///< no fewer, by the bound
  double seconds;       ///< that they take
};

/// Divisions that, by the bound, may come near it, fewest parts first.
std::vector<Division> divisions(const RelayGraph& graph, const Demand& demand, double bound, double alpha) {
  const std::uint64_t most = std::clamp<std::uint64_t>(
      std::min(demand.bytes / smallest_part, most_parts / std::max<std::uint64_t>(demand.messages(), 1)), 1, 64);
  std::vector<Division> found;
  double least = std::numeric_limits<double>::infinity();
  const std::uint32_t filling = parts_of_slowest(graph.edges, &RelayEdge::speed);
  for (const std::uint32_t of_slowest : {1U, filling}) {
    if (!found.empty() && found.front().of_slowest == of_slowest) break;
    for (std::uint32_t parts = 1; parts <= most; ++parts) {
      const double slot = static_cast<double>(demand.bytes) / parts * of_slowest / graph.slowest;
      const auto slots = static_cast<std::uint64_t>(std::max(1.0, std::ceil(bound / slot * (1 - 1e-9))));
      found.push_back({parts, of_slowest, slots, static_cast<double>(slots) * (slot + alpha)});
      least = std::min(least, found.back().seconds);
    }
  }
  std::erase_if(found, [&](const Division& each) { return each.seconds > limits::near_enough * least; });
  return found;
}

Schedule in_phases(const Demand& demand, const RelayGraph& graph, const RelayWays& ways, const RelaySlots& slots,
                   std::uint32_t parts) {
  struct Sent {
    std::uint32_t slot, edge, part;
    auto operator<=>(const Sent&) const = default;
  };
  std::vector<Sent> sent;
  for (std::uint32_t part = 0; part < ways.parts(); ++part)
    for (std::uint32_t step = ways.begin[part]; step < ways.begin[part + 1]; ++step)
      sent.push_back({slots.slot_of[step], ways.edges[step], part});
  std::ranges::sort(sent);
  const auto place = [&](std::uint64_t part) { return part_begin(demand.bytes, part, parts); };
  std::vector<std::uint64_t> begin{0};
  std::vector<Hop> hops;
  PieceLists pieces;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const bool new_slot = i > 0 && sent[i].slot != sent[i - 1].slot;
    if (new_slot) begin.push_back(hops.size());
    if (i == 0 || new_slot || sent[i].edge != sent[i - 1].edge) {
      if (i > 0) pieces.end_list();
      hops.push_back({graph.edges[sent[i].edge].from, graph.edges[sent[i].edge].to});
    }
    const std::uint32_t message = sent[i].part / parts, part = sent[i].part % parts;
    const Rank origin = message / (graph.hosts - 1), other = message % (graph.hosts - 1);
    const Piece piece{origin, other + (other >= origin ? 1 : 0), place(part), place(part + 1) - place(part)};
    if (pieces.pieces.size() > pieces.begin.back()) {
      Piece& last = pieces.pieces.back();
      if (last.origin == origin && last.target == piece.target && last.offset + last.length == piece.offset) {
        last.length += piece.length;
        continue;
      }
    }
    pieces.pieces.push_back(piece);
  }
  pieces.end_list();
  begin.push_back(hops.size());
  return {demand.ranks, demand.bytes, std::move(begin), std::move(hops), std::move(pieces)};
}

}  // namespace

static std::string_view relays_refuses(const Network& network, const Demand& demand) {
  const NetworkSpec& spec = network.spec();
  if (network.shape() != Shape::graph || std::ranges::none_of(network.hosts(), [&](Node host) {
        return !spec.forwards.empty() && spec.forwards[host] != 0;
      }))
    return "no host forwards";
  if (demand.ranks < 2 || demand.ranks > most_ranks) return "it serves 2 to 64 ranks";
  if (demand.bytes == 0) return "messages are empty";
  std::vector<std::uint32_t> links(network.nodes(), 0);
  for (const LinkSpec& link : spec.links) ++links[link.a], ++links[link.b];
  for (const Node host : network.hosts()) {
    if (spec.ranks[host] > 1) return "a host has several ranks";
    if (spec.forwards[host] == 0) return "a host does not forward";
    if (network.ports(network.first_rank(host)) < links[host]) return "a host has fewer ports than links";
  }
  return {};
}

static Schedule make_relays(const Network& network, const Demand& demand, const AlgorithmOptions& options) {
  const HostRoutes routes(network);
  RelayGraph graph(network, routes);
  const std::optional<FreeRoutesBound> bound = price_channels(network, demand);
  std::optional<Schedule> best;
  double least = 0;
  const double enough = limits::near_enough * (bound ? bound->seconds : 0);
  std::map<std::uint32_t, int> tries;  // by Division::of_slowest
  for (const Division& way : divisions(graph, demand, bound ? bound->seconds : 0, options.alpha)) {
    if (best && least <= enough) break;
    if (++tries[way.of_slowest] > most_tries) continue;
    graph.divide(network, way.of_slowest);
    const RelayWays ways = Ways(network, graph, way.parts, way.slots).run();
    const RelaySlots slots = find_relay_slots(graph, ways, way.slots, options.seed);
    const double seconds = way.seconds / static_cast<double>(way.slots) * static_cast<double>(slots.slots);
    if (best && seconds > worth_more_parts * least) continue;
    best = in_phases(demand, graph, ways, slots, way.parts);
    least = seconds;
  }
  return *std::move(best);
}

constinit const Algorithm relays{
    .pattern = Pattern::all_to_all,
    .name = "relays",
    .summary = "parts of messages passed on by the ranks of hosts that forward, on the best ways",
    .source = "own; the bound of Shahrokhi and Matula, rounded",
    .contention_free = true,
    .refuses = relays_refuses,
    .make = make_relays,
    .own_ways = true,
};

}  // namespace hocket::algorithms
