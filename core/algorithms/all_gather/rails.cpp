/// "rails": all-gather over several rings of hosts at once, each with its part of every contribution.
///
/// The multi-rail ring: k rings of hosts that share no channel, each in both directions, carry 1/(2k)
/// of every contribution. On tori and hypercubes with an even number of dimensions all links are busy
/// all the time, which meets the bound (N − 1)·m / (2k · rate).
#include <array>

#include "core/algorithms/all_gather/ring_form.hpp"
#include "core/algorithms/all_gather/streams.hpp"
#include "core/algorithms/shared/phase_writer.hpp"

namespace hocket::algorithms {

// Link-disjoint Hamiltonian cycles of grids.
//
// Start from the rings of every dimension (pairs of dimensions of side 2 make rings of four). In a
// square of two parallel links of one dimension and two of another, exchange the pairs: that joins
// two rings in the first dimension and two in the second. Repeat until every dimension is one cycle
// (that tori have such decompositions: Kotzig 1973; Aubert and Schneider 1982).

namespace {

/// The links of a grid, each in one factor. All but the last factor have two links at every node.
class Factors {
 public:
  Factors(Node nodes, std::uint32_t factors)
      : nodes_(nodes), rings_(factors), next_(factors + 1, std::vector<std::vector<Node>>(nodes)) {}

  void add(std::uint32_t factor, Node a, Node b) {
    next_[factor][a].push_back(b);
    next_[factor][b].push_back(a);
  }
  void add_spare(Node a, Node b) { add(rings_, a, b); }

  void join() {
    place_.assign(rings_, std::vector<Place>(nodes_));
    count_.assign(rings_, 0);
    for (std::uint32_t factor = 0; factor < rings_; ++factor) walk(factor);
    std::uint32_t turns = 0;  // exchanges that join nothing, but open new ways
    for (bool changed = true; changed && turns < most_turns;) {
      changed = false;
      for (std::uint32_t a = 0; a < rings_; ++a)
        for (std::uint32_t b = a + 1; b <= rings_; ++b)
          for (Node u = 0; u < nodes_; ++u) changed = join_at(a, b, u, -1) || changed;
      const bool whole = std::all_of(count_.begin(), count_.end(), [](std::uint32_t count) { return count == 1; });
      if (whole) return;
      if (!changed) changed = turn(turns++);
    }
  }

  [[nodiscard]] std::vector<std::vector<Node>> cycles() const {
    std::vector<std::vector<Node>> cycles;
    for (std::uint32_t factor = 0; factor < rings_; ++factor) {
      if (count_[factor] != 1) continue;
      std::vector<Node> cycle(nodes_);
      for (Node node = 0; node < nodes_; ++node) cycle[place_[factor][node].at] = node;
      cycles.push_back(std::move(cycle));
    }
    return cycles;
  }

 private:
  static constexpr std::uint32_t most_turns = 64;
  struct Place {
    std::uint32_t ring = 0, at = 0;
  };

  /// Numbers the rings of a factor, and the nodes along each.
  void walk(std::uint32_t factor) {
    const auto& next = next_[factor];
    std::vector<bool> seen(nodes_, false);
    count_[factor] = 0;
    for (Node first = 0; first < nodes_; ++first) {
      if (seen[first]) continue;
      std::uint32_t at = 0;
      for (Node node = first, before = next[first][1];;) {
        seen[node] = true;
        place_[factor][node] = {count_[factor], at++};
        const Node to = next[node][0] == before ? next[node][1] : next[node][0];
        before = node;
        node = to;
        if (node == first) break;
      }
      ++count_[factor];
    }
  }

  [[nodiscard]] bool linked(std::uint32_t factor, Node a, Node b) const {
    const auto& list = next_[factor][a];
    return std::find(list.begin(), list.end(), b) != list.end();
  }

  /// Change in the number of rings when links (u, v) and (w, x) are replaced by (u, w) and (v, x).
  [[nodiscard]] int change(std::uint32_t factor, Node u, Node v, Node w, Node x) const {
    if (factor == rings_) return 0;
    const auto& place = place_[factor];
    if (place[u].ring != place[w].ring) return -1;
    const auto forward = [&](Node a, Node b) {
      return place[b].at == place[a].at + 1 || (place[b].at == 0 && place[a].at > 1);
    };
    return forward(u, v) == forward(w, x) ? 0 : 1;
  }

  void replace(std::uint32_t factor, Node at, Node old, Node by) {
    auto& list = next_[factor][at];
    *std::find(list.begin(), list.end(), old) = by;
  }

  /// Exchanges the links of a square at u if that changes the number of rings by at most `most`.
  bool join_at(std::uint32_t a, std::uint32_t b, Node u, int most) {
    for (const Node v : next_[a][u])
      for (const Node w : next_[b][u]) {
        if (v == w) continue;
        for (const Node x : next_[b][v]) {
          if (x == u || x == w || !linked(a, w, x)) continue;
          if (change(a, u, v, w, x) + change(b, u, w, v, x) > most) continue;
          for (const auto& [factor, p, q, r, s] : {std::array{a, u, v, w, x}, std::array{b, u, w, v, x}}) {
            replace(factor, p, q, r);
            replace(factor, q, p, s);
            replace(factor, r, s, p);
            replace(factor, s, r, q);
          }
          walk(a);
          if (b < rings_) walk(b);
          return true;
        }
      }
    return false;
  }

  bool turn(std::uint32_t number) {
    for (Node i = 0; i < nodes_; ++i) {
      const Node u = (i + number * 7919) % nodes_;
      for (std::uint32_t a = 0; a < rings_; ++a)
        for (std::uint32_t b = a + 1; b <= rings_; ++b)
          if (join_at(a, b, u, 0)) return true;
    }
    return false;
  }

  Node nodes_;
  std::uint32_t rings_;                               ///< factors that are made of rings
  std::vector<std::vector<std::vector<Node>>> next_;  ///< per factor and node
  std::vector<std::vector<Place>> place_;
  std::vector<std::uint32_t> count_;
};

std::vector<std::vector<Node>> torus_cycles(const Network& network, const std::vector<std::uint32_t>& sides) {
  const Node nodes = network.nodes();
  // The factor of each dimension: its own; two sides of 2 share one; a last side of 2 is spare.
  const std::uint32_t none = ~0u;
  std::vector<std::uint32_t> factor(sides.size(), none);
  const std::vector<std::uint32_t> strides = grid_strides(sides);
  std::uint32_t factors = 0;
  std::size_t alone = sides.size();
  for (std::size_t d = 0; d < sides.size(); ++d) {
    if (sides[d] > 2) factor[d] = factors++;
    if (sides[d] != 2) continue;
    if (alone == sides.size()) {
      alone = d;
    } else {
      factor[d] = factor[alone] = factors++;
      alone = sides.size();
    }
  }
  if (factors == 0) return {};
  Factors grid(nodes, factors);
  for (const LinkSpec& link : network.spec().links) {
    std::size_t d = 0;
    while (link.a / strides[d] % sides[d] == link.b / strides[d] % sides[d]) ++d;
    if (factor[d] == none)
      grid.add_spare(link.a, link.b);
    else
      grid.add(factor[d], link.a, link.b);
  }
  grid.join();
  return grid.cycles();
}

/// Down the first column of an even number of rows, and back through the rest, row by row, in turn forwards and
/// backwards. The rows are one dimension; the columns are the others, folded into one path.
std::vector<std::vector<Node>> mesh_cycle(const Network& network, const std::vector<std::uint32_t>& sides) {
  const Node nodes = network.nodes();
  std::size_t down = 0;
  while (down < sides.size() && sides[down] % 2 != 0) ++down;
  if (down == sides.size() || sides[down] == nodes) return {};
  const std::vector<std::uint32_t> strides = grid_strides(sides);
  std::vector<Node> path{0};  // through the other dimensions: in turn forwards and backwards
  for (std::size_t d = 0; d < sides.size(); ++d) {
    if (d == down) continue;
    const std::size_t size = path.size();
    for (std::uint32_t i = 1; i < sides[d]; ++i)
      for (std::size_t k = 0; k < size; ++k)
        path.push_back(i * strides[d] + (i % 2 != 0 ? path[size - 1 - k] : path[k]));
  }
  std::vector<Node> cycle;
  for (std::uint32_t row = 0; row < sides[down]; ++row) cycle.push_back(row * strides[down]);
  for (std::uint32_t row = sides[down]; row-- > 0;) {
    const bool out = (sides[down] - 1 - row) % 2 == 0;
    for (std::size_t k = 1; k < path.size(); ++k)
      cycle.push_back(row * strides[down] + path[out ? k : path.size() - k]);
  }
  return {cycle};
}

}  // namespace

std::vector<std::vector<Node>> grid_cycles(const Network& network) {
  if (network.nodes() < 3 || network.nodes() != network.hosts().size() || !is_grid(network.shape())) return {};
  const std::vector<std::uint32_t> sides = grid_sides(network.spec());
  return network.shape() == Shape::mesh ? mesh_cycle(network, sides) : torus_cycles(network, sides);
}

namespace {

constexpr std::uint64_t most_sends = 40'000'000;

/// A ring of hosts in either direction; the ranks of a host follow each other, and are a ring of
/// their own if `closed`.
void add_rail(Streams& streams, const Network& network, std::vector<Node> hosts, bool reverse, bool closed) {
  if (reverse) std::reverse(hosts.begin(), hosts.end());
  std::vector<Rank> order;
  std::vector<Places> rings;
  for (const Node host : hosts) {
    const auto begin = static_cast<std::uint32_t>(order.size());
    for (const Rank rank : network.ranks_of(host)) order.push_back(rank);
    if (closed && order.size() > begin + 1) rings.push_back({begin, static_cast<std::uint32_t>(order.size())});
  }
  add_ring(streams, order, rings);
}

/// True if all rails can run at full speed at once: then the phase of a send is the way its part has
/// come, and nothing need be searched.
bool in_step(const Network& network, const Demand& demand, const Streams& streams) {
  if (!demand.contributions.empty() || network.hosts().size() != demand.ranks || !network.equal_rates()) return false;
  std::vector<std::uint32_t> uses(network.channels(), 0);
  std::vector<Channel> route;
  for (const StreamEdge& edge : streams.edges) {
    for (const Channel channel : network.find_route(edge.src, edge.dst, route))
      if (++uses[channel] > 1) return false;
  }
  return demand.bytes >= streams.place.size();
}

Schedule schedule_in_step(const Demand& demand, const Streams& streams) {
  const auto rails = static_cast<std::uint32_t>(streams.place.size());
  const std::uint32_t n = demand.ranks;
  std::vector<std::vector<Rank>> order(rails, std::vector<Rank>(n));
  for (std::uint32_t rail = 0; rail < rails; ++rail)
    for (Rank rank = 0; rank < n; ++rank) order[rail][streams.place[rail][rank]] = rank;
  std::vector<Piece> part;  // per rail: its part of every contribution
  for (const Chunk& chunk : streams.chunks)
    if (chunk.origin == 0) part.push_back({0, everyone, chunk.offset, chunk.length});
  PhaseWriter writer(demand, demand.messages() * rails);
  for (const Piece& share : part)
    for (Rank origin = 0; origin < n; ++origin) {
      writer.add({origin, everyone, share.offset, share.length});
      writer.end_list();
    }
  for (std::uint32_t phase = 0; phase + 1 < n; ++phase) {
    for (std::uint32_t rail = 0; rail < rails; ++rail)
      for (std::uint32_t at = 0; at < n; ++at)
        writer.send_list({order[rail][at], order[rail][at + 1 < n ? at + 1 : 0]},
                         rail * n + order[rail][at >= phase ? at - phase : at + n - phase]);
    writer.end_phase();
  }
  return writer.finish();
}

}  // namespace

Streams host_rails(const Network& network, const Demand& demand, StreamLoad& load) {
  std::vector<std::vector<Node>> cycles = grid_cycles(network);
  const std::uint64_t most_rails = most_sends / std::max<std::uint64_t>(demand.messages(), 1);
  cycles.resize(std::min<std::size_t>(cycles.size(), std::max<std::uint64_t>(most_rails / 2, 1)));
  const std::size_t known = cycles.size();
  if (known == 0) cycles.push_back(host_ring(network));
  Streams best;
  for (const bool closed : {false, true}) {
    if (closed && network.hosts().size() == demand.ranks) break;
    for (const bool both : {false, true}) {
      if (both ? most_rails < 2 : known > 0 && most_rails > 1) continue;
      Streams streams;
      for (const auto& cycle : cycles)
        for (const bool reverse : {false, true})
          if (both || !reverse) add_rail(streams, network, cycle, reverse, closed);
      const StreamLoad other = stream_load(network, demand, streams, PortModel::all_port);
      if (!best.place.empty() && other.seconds >= load.seconds * (1 - 1e-9)) continue;
      best = std::move(streams);
      load = other;
    }
  }
  return best;
}

static std::string_view rails_refuses(const Network&, const Demand& demand) {
  return demand.messages() <= most_sends ? "" : "too many sends for one schedule";
}

static Schedule make_rails(const Network& network, const Demand& demand, const AlgorithmOptions& costs) {
  StreamLoad load;
  Streams streams = host_rails(network, demand, load);
  const auto rails = static_cast<std::uint32_t>(streams.place.size());
  streams.chunks = split_contributions(demand, rails, std::max(network.host_rate(), 1.0), costs);
  if (in_step(network, demand, streams)) return schedule_in_step(demand, streams);
  return schedule_streams(network, demand, streams, PortModel::all_port, costs);
}

constinit const Algorithm rails{
    .pattern = Pattern::all_gather,
    .name = "rails",
    .summary = "several rings of hosts at once, each with a part of every contribution",
    .source = "own; Hamiltonian decompositions of tori: Kotzig",
    .contention_free = true,
    .ports = PortModel::all_port,
    .refuses = rails_refuses,
    .make = make_rails,
    .rank = 7,
};

}  // namespace hocket::algorithms
