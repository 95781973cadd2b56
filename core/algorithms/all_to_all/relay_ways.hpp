#pragma once
/// Ways of the parts of an all-to-all's messages through ranks that pass them on.
#include <cstdint>
#include <span>
#include <vector>

#include "core/algorithms/shared/slots.hpp"
#include "core/network/network.hpp"

namespace hocket::algorithms {

/// A route between two hosts, of one rank each, that passes no other host.
struct RelayEdge {
  std::uint32_t from = 0, to = 0;
  std::span<const Channel> channels;
  double speed = 0;         ///< bytes/s
  std::uint32_t parts = 1;  ///< that it carries in a slot
};

/// Edges between hosts. `routes` must outlive it.
struct RelayGraph {
  RelayGraph(const Network& network, const HostRoutes& routes);

  /// Sets the parts that edges and channels carry in a slot in which the slowest edge carries so many.
  void divide(const Network& network, std::uint32_t of_slowest);

  std::uint32_t hosts;
  double slowest = 0;  ///< bytes/s of an edge
  std::vector<RelayEdge> edges;
  std::vector<std::vector<std::uint32_t>> leaving;  ///< edges, per host
  std::vector<std::uint32_t> room;                  ///< per channel: parts in a slot
};

/// The edges of every part's way, one list after the other; parts of one message are neighbours.
struct RelayWays {
  std::vector<std::uint32_t> begin{0}, edges;

  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t part) const {
    return {edges.data() + begin[part], edges.data() + begin[part + 1]};
  }
  [[nodiscard]] std::uint32_t parts() const { return static_cast<std::uint32_t>(begin.size() - 1); }
};

/// Ways such that channels carry no more than fits into `slots`, or little more. Messages by sender, then receiver,
/// each in so many parts. Parts that cross a channel with too many take other ways, one at a time, on which the
/// channels are least full, by a power that grows.
[[nodiscard]] RelayWays find_relay_ways(const Network& network, const RelayGraph& graph, std::uint32_t parts,
                                        std::uint64_t slots);

}  // namespace hocket::algorithms
