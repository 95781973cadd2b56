#pragma once
/// Graphs that are fat trees or dragonflies, and their routes.
#include <cstdint>
#include <memory>
#include <vector>

#include "core/network/routing.hpp"

namespace hocket {

/// An extended generalised fat tree: a node of level i has the same number of parents as all of its level, one link to
/// each; the nodes of a level that have the same hosts below them are told apart by the parents chosen on the way up to
/// them. Hosts are level 0. Source: Öhring et al., "On generalized fat trees" (1995). Children may be missing, hosts of
/// a leaf or leaves of a pod: their numbers are left out.
class FatTree final : public Routing {
 public:
  /// Null unless the graph is one, with two levels of switches or more.
  [[nodiscard]] static std::shared_ptr<FatTree> find(const NetworkSpec& spec);
  /// Takes the ways of given routes; false unless all that go to a host come down to it by one way, and up to that the
  /// shortest. So do OpenSM's ftree tables, and whatever else sends by the destination alone.
  [[nodiscard]] bool follow(const NetworkSpec& spec, const Routing& routes);

  /// Levels of switches.
  [[nodiscard]] std::uint32_t levels() const { return static_cast<std::uint32_t>(down_.size()); }
  [[nodiscard]] std::uint32_t level(Node node) const { return level_[node]; }
  /// Hosts below a node of the level, where none are missing.
  [[nodiscard]] std::uint32_t hosts_below(std::uint32_t level) const { return below_[level]; }
  /// Nodes of the level that have the same hosts below them.
  [[nodiscard]] std::uint32_t twins(std::uint32_t level) const { return twins_[level]; }
  /// The first host below the node, as a number in the order of the tree, from 0.
  [[nodiscard]] std::uint32_t first_host(Node node) const { return first_host_[node]; }
  /// The node's number among its twins: digit i, from the least, is the parent chosen on level i.
  [[nodiscard]] std::uint32_t twin(Node node) const { return twin_[node]; }

  /// The number that decides on the route to a host: its digits, least significant first, are the parents that messages
  /// to the host take.
  [[nodiscard]] std::uint32_t way(std::uint32_t host) const { return way_.empty() ? host : way_[host]; }
  /// True if way(host) is the host's own number: D-mod-k.
  [[nodiscard]] bool by_own_number() const { return way_.empty(); }

  /// Messages on every channel when everyone sends to everyone: of what leaves the hosts below a link, or goes to them,
  /// that takes it whose way leads over it.
  [[nodiscard]] std::vector<std::uint64_t> all_to_all_loads(const NetworkSpec& spec) const;
  /// False if all children are there, with as many ranks on every host, and a link is busy for much longer than if what
  /// enters and leaves the hosts below it were divided equally: other routes are better then. So it is where hosts of a
  /// leaf are no multiple of its ways up.
  [[nodiscard]] bool loads_evenly(const NetworkSpec& spec) const;

  /// The node to which a channel leads.
  [[nodiscard]] Node head(Channel channel) const { return head_[channel]; }
  /// A channel's ends; `up`: it leads from the lower to the upper.
  struct Ends {
    Node lower, upper;
    bool up;
  };
  [[nodiscard]] Ends ends(Channel channel) const {
    const Node tail = head_[channel ^ 1], head = head_[channel];
    return level_[head] > level_[tail] ? Ends{tail, head, true} : Ends{head, tail, false};
  }

  /// Appends the route: up to the first switch above both, then down. Which parent is taken follows from the
  /// destination alone: without given routes from its number, the digits from the least (D-mod-k): shifts of a full
  /// tree share no channel. Source: Zahavi, "Fat-tree routing and node ordering providing contention free traffic for
  /// MPI global collectives" (2012).
  void append(Node src, Node dst, std::vector<Channel>& route) const override;

 private:
  FatTree() = default;
  [[nodiscard]] bool read_levels(const NetworkSpec& spec);
  [[nodiscard]] bool read_shape();
  [[nodiscard]] bool number_hosts();
  [[nodiscard]] bool number_twins();
  void sort_channels();

  std::vector<std::uint32_t> down_, up_;      ///< most children of a node of level i + 1, parents of one of level i
  std::vector<std::uint32_t> below_, twins_;  ///< per level
  std::vector<std::uint8_t> level_;           ///< per node
  std::vector<std::uint32_t> first_host_, twin_;
  std::vector<std::uint32_t> way_;     ///< per host, by its number; empty: the number
  std::vector<Node> head_;             ///< per channel
  Grouped leaving_;                    ///< channels of each node, to its children in their order, then to its parents
  std::vector<std::vector<Node>> on_;  ///< per level; while the tree is read
};

/// Groups of equally many routers. Each router is wired to each of its group, and one link joins any two groups. Hosts
/// hang on routers by one link each. Source: Kim, Dally, Scott and Abts, "Technology-driven, highly-scalable dragonfly
/// topology" (2008).
class Dragonfly final : public Routing {
 public:
  static constexpr Channel no_channel = ~Channel{0};

  /// Null unless the graph is one, of three groups or more. Groups are told by their routers' common neighbours: always
  /// where a group has at least two routers more than a router has links to other groups.
  [[nodiscard]] static std::shared_ptr<const Dragonfly> find(const NetworkSpec& spec);

  [[nodiscard]] std::uint32_t groups() const { return groups_; }
  /// Routers per group. They are numbered group by group.
  [[nodiscard]] std::uint32_t routers() const { return routers_; }
  /// The router of a host, or the number of a router.
  [[nodiscard]] std::uint32_t router(Node node) const { return router_[node]; }
  /// True for a leaf: a node whose only link leads to a router.
  [[nodiscard]] bool is_leaf(Node node) const { return to_router_[node] != no_channel; }
  /// The channel from one group to another (`from` != `to`).
  [[nodiscard]] Channel between(std::uint32_t from, std::uint32_t to) const {
    return between_[std::size_t{from} * groups_ + to];
  }
  /// The node where a channel begins, and the node to which it leads.
  [[nodiscard]] Node tail(Channel channel) const { return head_[channel ^ 1]; }
  [[nodiscard]] Node head(Channel channel) const { return head_[channel]; }

  /// Appends the minimal route of the source above: to the router whose link leads to the destination's group, over
  /// that link, to the destination's router. Paths through third groups can be shorter; they are not taken, as they
  /// would load the links between groups twice.
  void append(Node src, Node dst, std::vector<Channel>& route) const override;

 private:
  Dragonfly() = default;
  [[nodiscard]] bool number_routers(const NetworkSpec& spec);
  [[nodiscard]] bool join_groups();
  [[nodiscard]] Channel inside(std::uint32_t from, std::uint32_t to) const {
    return inside_[std::size_t{from} * routers_ + to % routers_];
  }

  std::uint32_t groups_ = 0, routers_ = 0;
  std::vector<Node> head_;             ///< per channel
  std::vector<std::uint32_t> router_;  ///< per node
  std::vector<Channel> to_router_;     ///< per node: of a leaf
  std::vector<Channel> inside_;        ///< per router and place in its group
  std::vector<Channel> between_;       ///< per two groups
};

}  // namespace hocket
