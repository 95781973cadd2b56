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

#include "core/algorithms/all_to_all/relay_ways.hpp"
#include "core/algorithms/registry.hpp"
#include "core/limits.hpp"
#include "core/progress/progress.hpp"

namespace hocket::algorithms {

namespace {

struct RelaySlots {
  std::uint64_t slots = 0;
  std::vector<std::uint32_t> slot_of;  ///< of each of RelayWays::edges
};

constexpr int most_lists = 120;

constexpr double shaking = 2;  // slots by which urgency is changed at random

/// Makes lists. A step is the crossing of one edge by one part.
class Lists {
 public:
  Lists(const RelayGraph& graph, const RelayWays& ways)
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
/// has room for. Lists are made forwards and backwards in turn, by the slots of the one before (as in Li and Willis,
/// "An iterative scheduling technique for resource-constrained project scheduling", EJOR 1992), until `enough` slots
/// do.
[[nodiscard]] RelaySlots find_relay_slots(const RelayGraph& graph, const RelayWays& ways, std::uint64_t enough,
                                          std::uint64_t seed) {
  Lists lists(graph, ways);
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
constexpr std::uint32_t most_of_slowest = 8;   // parts that the slowest edge carries in a slot
constexpr double small_gap = 0.01;             // of a slot that whole parts leave empty
constexpr double worth_more_parts = 0.99;      // times the time of fewer: more messages
constexpr int most_tries = 4;                  // of each number of parts of the slowest edge

/// How messages are divided.
struct Division {
  std::uint32_t parts, of_slowest;
  std::uint64_t slots;  ///< no fewer, by the bound
  double seconds;       ///< that they take
};

/// Parts of a slot of the slowest edge such that nearly all of a slot of the others is full.
std::uint32_t parts_of_slowest(const RelayGraph& graph) {
  std::pair<double, std::uint32_t> best{2, 1};
  for (std::uint32_t parts = 1; parts <= most_of_slowest && best.first > small_gap; ++parts) {
    double gap = 0;
    for (const RelayEdge& edge : graph.edges) {
      const double room = edge.speed / graph.slowest * parts;
      gap = std::max(gap, 1 - std::floor(room * (1 + 1e-9)) / room);
    }
    if (gap < best.first) best = {gap, parts};
  }
  return best.second;
}

/// Divisions that, by the bound, may come near it, fewest parts first.
std::vector<Division> divisions(const RelayGraph& graph, const Demand& demand, double bound, double alpha) {
  const std::uint64_t most = std::clamp<std::uint64_t>(
      std::min(demand.bytes / smallest_part, most_parts / std::max<std::uint64_t>(demand.messages(), 1)), 1, 64);
  std::vector<Division> found;
  double least = std::numeric_limits<double>::infinity();
  for (const std::uint32_t of_slowest : {1U, parts_of_slowest(graph)}) {
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
    const RelayWays ways = find_relay_ways(network, graph, way.parts, way.slots);
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
