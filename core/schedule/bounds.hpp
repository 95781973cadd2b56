#pragma once
/// Loads and lower bounds of a demand on a network: what no schedule can beat; loads on a ring or line of a
/// grid; bounds of an all-to-all whatever its routes.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/demand/demand.hpp"
#include "core/network/network.hpp"
#include "core/schedule/verify.hpp"

namespace hocket {

struct Bounds {
  std::vector<std::uint64_t> load;  ///< per channel: messages routed over it
  std::uint64_t phases = 0;         ///< max over channels of ceil(load / capacity), and over ports
  double seconds = 0;               ///< max over channels of bytes / rate: no schedule takes less time
  double port_seconds = 0;          ///< irregular: max over ports of bytes / host rate
  Channel bottleneck = 0;           ///< the channel that sets `seconds`

  /// No schedule takes less time whose ranks send, and receive, one message at a time at the speed of a host. Waits
  /// keep apart what shares a channel: a host with several links is faster.
  [[nodiscard]] double one_port_seconds() const { return std::max(seconds, port_seconds); }
};

/// Irregular demands are counted route by route; their phases, and `port_seconds`, are of the one-port model.
/// All-to-all loads. Trees are counted by subtree sizes and grids ring by ring, in linear time (one rank's row
/// at 100,000 hosts needs this); other networks by walking every route.
[[nodiscard]] Bounds lower_bounds(const Network& network, const Demand& demand);

/// No schedule of this port model has fewer phases. Those of an all-gather: fewest_phases(), if there is a byte to
/// send.
[[nodiscard]] std::uint64_t least_phases(const Network& network, const Demand& demand, const Bounds& bounds,
                                         PortModel ports);
/// No schedule takes less time if a message costs its sender `alpha` seconds. Only an all-gather's bound counts them
/// (Lemma 1 of Juurlink, Sibeyn and Rao): every phase costs one, and so does the first message before the last byte
/// crosses the narrowest cut. Where a sum is for some ranks alone, all may send to these at once.
[[nodiscard]] double least_seconds(const Network& network, const Demand& demand, const Bounds& bounds, double alpha);

/// - seconds: over cuts, what must cross (every contribution of one side, once) over the rate at
///   which it can. On a tree all cuts of one link, which suffices; elsewhere all cuts, by flows to every
///   host (hosts × channels up to 2^20; one host on tori, hypercubes and meshes with equal parts), beyond
///   that the cuts around hosts and around all that lies within so many links of a host. Where only
///   routes are known: the first and the last channels of each host's routes.
/// - load: what must cross a channel that is a cut of its own (tree links), in contributions.
/// - phases: fewest_phases() where ports do not count.
[[nodiscard]] Bounds all_gather_bounds(const Network& network, const Demand& demand);

/// Phases that no all-gather can do without: with p messages at once, who knows k contributions can know (p + 1) · k
/// after the next phase. one_port: p is the most ports of a host. all_port: as many as the verifier lets a rank send:
/// to each other rank of its host, and on each link as many as together are no faster than it.
[[nodiscard]] std::uint64_t fewest_phases(const Network& network, PortModel ports);

/// The network with other routes, where those lower the bound of the demand, or leave it and even the other
/// loads; otherwise as it is. A torus gets other ties on the sides where that helps, a graph the forwarding tables of
/// balanced_next_hops(), which are also what a graph without tables follows: that one gets them written out. Throws
/// InputError for networks whose routes cannot be chosen, for demands other than all-to-all, and for graphs that are
/// too large (can_be_balanced()).
[[nodiscard]] Network balance_routes(const Network& network, const Demand& demand);

/// Messages per channel when every node of a side sends one to every other.
struct RingLoads {
  std::vector<std::uint64_t> up;    ///< from coordinate c to the next
  std::vector<std::uint64_t> down;  ///< from coordinate c to the one before

  [[nodiscard]] std::uint64_t most() const {
    return std::max(*std::ranges::max_element(up), *std::ranges::max_element(down));
  }
};

[[nodiscard]] inline RingLoads line_loads(std::uint32_t side) {
  RingLoads loads{std::vector<std::uint64_t>(side), std::vector<std::uint64_t>(side)};
  for (std::uint64_t c = 0; c < side; ++c) {
    loads.up[c] = (c + 1) * (side - 1 - c);
    loads.down[c] = c * (side - c);
  }
  return loads;
}

/// `ties` as in NetworkSpec. Messages less than half-way round load all channels alike; one that is half-way
/// round loads the half ring before its source or behind it.
[[nodiscard]] inline RingLoads ring_loads(std::uint32_t side, const std::string& ties) {
  if (side <= 2) return line_loads(side);
  const std::uint64_t near = (side - 1) / 2;
  RingLoads loads{std::vector<std::uint64_t>(side, near * (near + 1) / 2), {}};
  loads.down = loads.up;
  if (ties.empty()) return loads;
  const std::uint32_t half = side / 2;
  std::uint64_t ups = 0;  // sources among the last `half` coordinates that go up
  for (std::uint32_t c = 0; c < half; ++c) ups += ties[c] == '+';
  for (std::uint32_t c = half; c < side + half; ++c) {
    // The window c - half … c - 1 ends where its ups pass last, and begins where its downs do.
    loads.up[(c - 1) % side] += ups;
    loads.down[c - half] += half - ups;
    ups += ties[c % side] == '+';
    ups -= ties[c - half] == '+';
  }
  return loads;
}

/// A bound and its certificate. `prices`: one per channel, at least 0; what a byte pays for crossing it.
struct FreeRoutesBound {
  double seconds = 0;
  std::vector<double> prices;
  bool exact = false;  ///< routes are known, split over several ways, that take no more than 1.001 times as long
  std::string_view by = "prices";  ///< how the prices were found; "one path" where there are no other routes
};

/// Seconds that no all-to-all takes less, whatever its routes, by prices of the channels: the bytes pay at least what
/// their cheapest ways cost, and in a second all channels together earn no more than the sum of price × rate (the dual
/// of the maximum concurrent flow: Shahrokhi and Matula, "The maximum concurrent flow problem", JACM 1990). In a graph
/// and a tree hosts pass nothing on, in grids they do. Throws InputError for prices that are negative, not finite, all
/// 0, or not one per channel; for other demands; and for networks of explicit routes, whose links are not known.
[[nodiscard]] double priced_seconds(const Network& network, const Demand& demand, std::span<const double> prices);

/// Good prices: those of equal prices, sum of distances over capacity, or better ones that grow where cheapest ways are
/// busy (multiplicative weights, each step looking one ahead), as many steps as about half a second has. None where the
/// first step alone would take many seconds: thousands of switches with hosts. Throws InputError as priced_seconds().
[[nodiscard]] std::optional<FreeRoutesBound> price_channels(const Network& network, const Demand& demand);

/// The bound of any routes: of a tree that of its only ones, `bounds`. None where only routes are known, or where
/// price_channels() knows none.
[[nodiscard]] std::optional<FreeRoutesBound> free_routes(const Network& network, const Demand& demand,
                                                         const Bounds& bounds);

/// Seconds of a bound, and how many messages at a host's full speed take as long.
struct TrueBound {
  double seconds = 0, phases = 0;
};

/// The bounds of an all-to-all: of the routes as installed, of the ports, of any routes, and of the routes that
/// balance_routes() proposes in place of installed ones, where these are better.
struct TrueBounds {
  TrueBound installed_routes, ports;
  std::optional<FreeRoutesBound> free_routes = {};
  std::optional<TrueBound> balanced_routes = {};
  double message_seconds = 0;  ///< of a message at a host's full speed
  bool in_phases = false;      ///< phases, but those of any routes, are whole: no message is cut, and no link is slower
                               ///< than the hosts, so that a phase takes a message's time
};

/// `direct`: no messages are cut. Takes a second or two at 500 hosts.
[[nodiscard]] TrueBounds true_bounds(const Network& network, const Demand& demand, bool direct);

}  // namespace hocket
