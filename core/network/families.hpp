#pragma once
/// Families of switched networks, wired: trees, fat trees and dragonflies. Hosts are called n0, n1, …, switches
/// s0, s1, …, each in the order of their nodes. All throw InputError for sizes that fit no network.
#include <cstdint>
#include <vector>

#include "core/network/spec.hpp"

namespace hocket {

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
