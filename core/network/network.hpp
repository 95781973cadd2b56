#pragma once
/// Hosts, switches and directed channels, and the route between any two ranks.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/network/graph_shapes.hpp"
#include "core/network/routing.hpp"
#include "core/network/spec.hpp"

namespace hocket {

/// An immutable, checked network. Ranks are numbered in host order: the ranks of the first host
/// come first. Ranks on one host reach each other through memory: their route is empty.
class Network {
 public:
  /// The network of a specification, with its routes. Of a graph without forwarding tables they are those of a fat tree
  /// or a dragonfly, if it is one, else next hops are balanced: a search that takes a second. Throws NetworkProblem
  /// with the offending node or link.
  [[nodiscard]] static Network with_routes(NetworkSpec spec);

  [[nodiscard]] const NetworkSpec& spec() const { return spec_; }
  [[nodiscard]] Shape shape() const { return spec_.shape; }
  [[nodiscard]] std::uint32_t nodes() const { return static_cast<std::uint32_t>(spec_.names.size()); }
  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(host_of_.size()); }
  [[nodiscard]] std::span<const Node> hosts() const { return hosts_; }
  [[nodiscard]] bool is_host(Node node) const { return spec_.ranks[node] > 0; }
  /// The ranks of every node, if all have the same number; else 0.
  [[nodiscard]] std::uint32_t ranks_per_host() const;
  [[nodiscard]] Node host_of(Rank rank) const { return host_of_[rank]; }
  [[nodiscard]] Rank first_rank(Node host) const { return first_rank_[host]; }
  [[nodiscard]] auto ranks_of(Node host) const {
    return std::views::iota(first_rank_[host], first_rank_[host] + spec_.ranks[host]);
  }
  /// Messages that the rank can send, and receive, at once.
  [[nodiscard]] std::uint32_t ports(Rank rank) const { return spec_.ports.empty() ? 1 : spec_.ports[host_of_[rank]]; }
  [[nodiscard]] const std::string& name(Node node) const { return spec_.names[node]; }
  [[nodiscard]] std::optional<Node> find(const std::string& name) const;

  [[nodiscard]] std::uint32_t channels() const { return static_cast<std::uint32_t>(kind_.size()) << per_kind_; }
  [[nodiscard]] double rate(Channel channel) const { return kind(channel).rate; }        ///< bytes/s
  [[nodiscard]] double latency(Channel channel) const { return kind(channel).latency; }  ///< s
  [[nodiscard]] std::string channel_name(Channel channel) const;
  /// Full host speed: the highest rate of a channel that leaves or enters a host (bytes/s).
  [[nodiscard]] double host_rate() const { return host_rate_; }
  /// Messages at full host speed that a channel carries at once, at least 1. A link of a host with several ports for it
  /// carries as many, if all messages are slower than it.
  [[nodiscard]] std::uint32_t capacity(Channel channel) const { return kind(channel).capacity; }
  /// True when every channel has the same rate.
  [[nodiscard]] bool equal_rates() const { return equal_rates_; }

  /// Appends the channels of the route between two ranks to `route`.
  void append_route(Rank src, Rank dst, std::vector<Channel>& route) const {
    if (host_of_[src] != host_of_[dst]) routes_.routing->append(host_of_[src], host_of_[dst], route);
  }
  /// Sets `route` to the channels of the route between two ranks; returns it.
  const std::vector<Channel>& find_route(Rank src, Rank dst, std::vector<Channel>& route) const {
    route.clear();
    append_route(src, dst, route);
    return route;
  }
  /// Routing::add_uses().
  [[nodiscard]] bool add_uses(std::span<const std::pair<Node, Node>> ends, std::vector<double>& load) const {
    return routes_.routing->add_uses(ends, load);
  }
  [[nodiscard]] std::vector<Channel> route(Rank src, Rank dst) const {
    std::vector<Channel> channels;
    append_route(src, dst, channels);
    return channels;
  }
  /// The rooted tree, for networks of shape tree; null otherwise.
  [[nodiscard]] const Tree* tree() const { return routes_.tree.get(); }
  /// The fat tree whose routes messages follow; null for other networks, and where forwarding tables send messages to
  /// one host down several ways.
  [[nodiscard]] const std::shared_ptr<const FatTree>& fat_tree() const { return routes_.fat_tree; }
  /// The fat tree that the links make, whatever ways messages take; null: they make none.
  [[nodiscard]] const FatTree* wired_as() const { return routes_.wired_as.get(); }

  /// The dragonfly whose minimal routes messages follow; null for other networks, and with forwarding tables. They are
  /// the same in both directions.
  [[nodiscard]] const std::shared_ptr<const Dragonfly>& dragonfly() const { return routes_.dragonfly; }

  /// A copy of the network with other numbers of ranks on its hosts, ranks numbered anew; hosts of none become
  /// switches. Messages follow the routes of the whole, which a network made from the part's spec() need not do:
  /// shortest paths depend on where ranks are. Throws NetworkProblem for ranks on a switch.
  [[nodiscard]] Network restricted_to(std::span<const std::uint32_t> ranks_per_node) const;

  /// A copy of the network in which every message takes the way back of the message in the other direction. Transfers
  /// that share no channel in one of the two share none in the other when all are turned round.
  [[nodiscard]] Network turned_round() const;

 private:
  /// Millions of channels are of a few kinds.
  struct Kind {
    double rate = 0, latency = 0;
    std::uint32_t capacity = 1;
  };

  struct Routes {
    std::shared_ptr<const Routing> routing;
    std::shared_ptr<const Tree> tree = {};
    std::shared_ptr<const FatTree> fat_tree = {}, wired_as = {};
    std::shared_ptr<const Dragonfly> dragonfly = {};
  };

  /// The network of a specification that has been checked.
  Network(NetworkSpec spec, Routes routes);
  [[nodiscard]] static Routes graph_routes(const NetworkSpec& spec);

  [[nodiscard]] const Kind& kind(Channel channel) const { return kinds_[kind_[channel >> per_kind_]]; }
  void find_kinds();
  void number_ranks();
  void measure_hosts();
  [[nodiscard]] double message_rate() const;

  NetworkSpec spec_;
  std::vector<Node> hosts_;
  std::vector<Node> host_of_;
  std::vector<Rank> first_rank_;
  std::vector<Kind> kinds_;
  std::vector<std::uint32_t> kind_;  ///< per link, of explicit routes per channel
  std::uint32_t per_kind_ = 1;       ///< channels are numbered by link and direction: 2^1 per link
  double host_rate_ = 0;
  bool equal_rates_ = true;
  Routes routes_;
};

struct HostMatch {
  std::vector<Node> hosts;  ///< one: this is it; none: an unknown host; several: it may be any of them
  std::size_t name = 0;     ///< which name says so
};

/// `names`: of one machine; the first that the network knows counts. It means the host of this very name, else those
/// that have it in common up to the first dot. Addresses are no such names: 10.0.0.1 is not 10.0.0.2.
[[nodiscard]] HostMatch match_host(const Network& network, std::span<const std::string> names);

/// A channel in parts: the least common multiple of 1 … 16, so that k messages of a k-th part fit exactly.
inline constexpr std::uint32_t whole_channel = 720720;

/// Bytes a second of a message alone on its route: the slowest rate. Infinite for an empty route.
[[nodiscard]] inline double own_speed(const Network& network, std::span<const Channel> route) {
  double speed = std::numeric_limits<double>::infinity();
  for (const Channel channel : route) speed = std::min(speed, network.rate(channel));
  return speed;
}

/// Messages of that speed (bytes/s) that fill the channel: one less leaves some of it idle.
[[nodiscard]] inline std::uint32_t filling(const Network& network, Channel channel, double speed) {
  return static_cast<std::uint32_t>(std::clamp(std::ceil(network.rate(channel) / speed * (1 - 1e-9)), 1.0, 7e5));
}

/// Units of whole_channel that a message of that speed takes: a k-th part if k of its like fill the channel. Messages
/// whose parts make up no more than the whole may go at once; together they are at most twice as fast as the channel.
[[nodiscard]] inline std::uint32_t share(const Network& network, Channel channel, double speed) {
  return whole_channel / filling(network, channel, speed);
}

}  // namespace hocket
