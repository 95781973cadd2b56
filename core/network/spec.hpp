#pragma once
/// Description of a network before anything is derived from it: topology readers fill it in, and plan files store it.
/// Families of switched networks are wired here: trees, fat trees and dragonflies. Their hosts are called n0, n1, …,
/// switches s0, s1, …, each in the order of their nodes. All throw InputError for sizes that fit no network.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hocket {

enum class Shape : std::uint8_t {
  tree,       ///< switches and hosts without cycles; every host has one link
  graph,      ///< any connected graph; shortest-path routes, or forwarding tables
  torus,      ///< direct network of `sides`, wrap-around, dimension-order routes
  mesh,       ///< direct network of `sides`, no wrap-around, dimension-order routes
  hypercube,  ///< `sides[0]` dimensions, e-cube routes
  routed,     ///< channels and explicit routes, as in a SimGrid platform
};

/// A full-duplex link: channel 2·i runs from a to b, channel 2·i+1 from b to a.
struct LinkSpec {
  std::uint32_t a = 0, b = 0;
  double rate = 0;     ///< bytes per second, each direction
  double latency = 0;  ///< seconds, each direction
  bool operator==(const LinkSpec&) const = default;
};

/// A single channel of a routed network.
struct ChannelSpec {
  std::string name;
  double rate = 0;
  double latency = 0;
  bool operator==(const ChannelSpec&) const = default;
};

/// An explicit route between two hosts (node indices).
struct RouteSpec {
  std::uint32_t src = 0, dst = 0;
  std::vector<std::uint32_t> channels;
  bool operator==(const RouteSpec&) const = default;
};

/// One entry of the forwarding tables of a graph: at node `at`, messages to host `to` leave by `channel`.
struct HopSpec {
  static constexpr std::uint32_t every_host = ~std::uint32_t{0};
  std::uint32_t at = 0;
  std::uint32_t to = every_host;  ///< every_host: to all that have no entry of their own and no link to `at`
  std::uint32_t channel = 0;
  bool operator==(const HopSpec&) const = default;
};

struct NetworkSpec {
  Shape shape = Shape::tree;
  std::vector<std::string> names;    ///< one per node
  std::vector<std::uint32_t> ranks;  ///< one per node: MPI ranks on a host, 0 for a switch
  std::vector<LinkSpec> links;
  std::vector<std::uint32_t> sides;  ///< torus, mesh, hypercube
  /// Torus: which way a message goes that is half-way round a side, one text per side: '+' or '-' for
  /// each coordinate of its source (empty for odd sides and sides of 2, which have no ties).
  std::vector<std::string> ties;
  /// Graph: forwarding tables, as the switches of an InfiniBand network keep them; none: shortest paths.
  std::vector<HopSpec> next_hops;
  /// Messages that each rank of a host can send, and receive, at once; one per node. Empty: one.
  std::vector<std::uint32_t> ports;
  /// Graph: 1 for a host that passes on what is for others, as the hosts of a grid do; one per node. Empty: none does.
  std::vector<std::uint32_t> forwards;
  std::vector<ChannelSpec> channels;  ///< routed
  std::vector<RouteSpec> routes;      ///< routed

  /// The node where a channel of a link begins, and the node to which it leads.
  [[nodiscard]] std::uint32_t tail(std::uint32_t channel) const { return head(channel ^ 1); }
  [[nodiscard]] std::uint32_t head(std::uint32_t channel) const {
    return channel % 2 == 0 ? links[channel / 2].b : links[channel / 2].a;
  }
  bool operator==(const NetworkSpec&) const = default;
};

[[nodiscard]] constexpr bool is_grid(Shape shape) {
  return shape == Shape::torus || shape == Shape::mesh || shape == Shape::hypercube;
}

/// The sides of a torus, a mesh or a hypercube, whose sides are 2.
[[nodiscard]] inline std::vector<std::uint32_t> grid_sides(const NetworkSpec& spec) {
  return spec.shape == Shape::hypercube ? std::vector<std::uint32_t>(spec.sides[0], 2) : spec.sides;
}

/// Neighbours along each side differ so much in number: the last side runs fastest.
[[nodiscard]] inline std::vector<std::uint32_t> grid_strides(const std::vector<std::uint32_t>& sides) {
  std::vector<std::uint32_t> strides(sides.size(), 1);
  for (std::size_t d = sides.size(); d-- > 1;) strides[d - 1] = strides[d] * sides[d];
  return strides;
}

/// The specification of a torus, mesh or hypercube: nodes and links in row-major order of the
/// coordinates; ties by parity. Throws NetworkProblem for sides of 0 or more than 2^20 nodes.
[[nodiscard]] NetworkSpec grid_spec(Shape shape, const std::vector<std::uint32_t>& sides, double rate, double latency);

/// The ties of a torus by rule: "up" (always to the next higher coordinate) or "parity" (up from even
/// coordinates, down from odd ones, which loads both directions alike on sides that are multiples of 4).
/// Throws InputError for another rule.
[[nodiscard]] std::vector<std::string> ties_by_rule(const std::string& rule, const std::vector<std::uint32_t>& sides);

/// Properties that all links and hosts of a generated network have in common.
struct Equipment {
  double rate = 0;          ///< bytes per second, each direction
  double latency = 0;       ///< seconds, each direction
  std::uint32_t ranks = 1;  ///< per host
};

/// A tree of switches, each followed by its own hosts: the switch above each (-1 for the root), which stands before it,
/// and the number of its hosts.
[[nodiscard]] NetworkSpec tree_spec(const std::vector<std::int32_t>& parents, const std::vector<std::uint32_t>& hosts,
                                    const Equipment& equipment);

/// An extended generalised fat tree: a tree if each node has one parent, else a graph. A node of level i + 1 has
/// `down[i]` children, a node of level i has `up[i]` parents, joined by `cables[i]` parallel cables, which are one link
/// as many times as fast. Nodes stand level by level, hosts (level 0) first. Source: Öhring et al., "On generalized fat
/// trees" (1995), in the notation of SimGrid's `topo_parameters`.
[[nodiscard]] NetworkSpec fat_tree_spec(const std::vector<std::uint32_t>& down, const std::vector<std::uint32_t>& up,
                                        const std::vector<std::uint32_t>& cables, const Equipment& equipment);

/// Groups of routers, each wired to each within its group; `between` links between any two groups, dealt out evenly
/// over a group's routers, in the order of the distance from group to group. Nodes stand group by group, each router
/// before its hosts. Source: Kim, Dally, Scott and Abts, "Technology-driven, highly-scalable dragonfly topology"
/// (2008).
[[nodiscard]] NetworkSpec dragonfly_spec(std::uint32_t groups, std::uint32_t routers, std::uint32_t hosts,
                                         std::uint32_t between, const Equipment& equipment);

/// Groups of leaf switches with hosts, each leaf wired to each spine of its group; `between` links between any two
/// groups, dealt out evenly over their spines. Nodes stand group by group, each leaf before its hosts, then the spines.
/// Source: Shpiner et al., "Dragonfly+: Low Cost Topology for Scaling Datacenters" (2017).
[[nodiscard]] NetworkSpec dragonfly_plus_spec(std::uint32_t groups, std::uint32_t leaves, std::uint32_t hosts,
                                              std::uint32_t spines, std::uint32_t between, const Equipment& equipment);

}  // namespace hocket
