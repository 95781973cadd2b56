#pragma once
/// Graphs that are dragonflies, and their routes.
#include <cstdint>
#include <memory>
#include <vector>

#include "core/network/routing.hpp"

namespace hocket {

/// Groups of equally many routers. Each router is wired to each of its group, and one link joins any two groups. Hosts
/// hang on routers by one link each. Source: Kim, Dally, Scott and Abts, "Technology-driven, highly-scalable dragonfly
/// topology" (2008).
class Dragonfly {
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
  void append_route(Node src, Node dst, std::vector<Channel>& route) const;

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
