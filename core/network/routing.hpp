#pragma once
/// Routing of messages: one interface, one implementation per family of networks.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/network/spec.hpp"

namespace hocket {

using Node = std::uint32_t;     ///< host or switch, index into NetworkSpec::names
using Channel = std::uint32_t;  ///< one direction of a link
using Rank = std::uint32_t;     ///< MPI rank, numbered in host order

class Routing {
 public:
  virtual ~Routing() = default;
  /// Appends the channels of the route from host src to host dst, in order.
  virtual void append(Node src, Node dst, std::vector<Channel>& route) const = 0;
  /// Adds to `load` how many messages each channel carries, without following every route link by link; false where
  /// that is not possible. `ends`: source and destination of each message.
  [[nodiscard]] virtual bool add_uses(std::span<const std::pair<Node, Node>> /*ends*/,
                                      std::vector<double>& /*load*/) const {
    return false;
  }
};

/// True if a message goes towards higher coordinates along one side of a grid. On a ring it goes the shorter way round;
/// half-way round, the side's `ties` decide for its source (up if there are none), see NetworkSpec.
[[nodiscard]] inline bool goes_up(std::uint32_t side, bool ring, const std::string& ties, std::uint32_t from,
                                  std::uint32_t to) {
  if (!ring) return to > from;
  const std::uint32_t twice = 2 * ((to + side - from) % side);
  return twice < side || (twice == side && (ties.empty() || ties[from] == '+'));
}

/// A rooted view of a tree network, shared by its routing and by the tree algorithm.
struct Tree {
  static constexpr Node none = ~Node{0};
  std::vector<Node> parent;  ///< none for the root
  std::vector<std::uint32_t> depth;
  std::vector<Channel> up;  ///< channel from a node to its parent; its reverse is up ^ 1
  std::vector<Node> order;  ///< parents before children
};

/// Throws NetworkProblem (with the link that closes a cycle, or a node that is not connected).
[[nodiscard]] Tree root_tree(const NetworkSpec& spec);

[[nodiscard]] std::unique_ptr<Routing> tree_routing(std::shared_ptr<const Tree> tree);
[[nodiscard]] std::unique_ptr<Routing> grid_routing(const NetworkSpec& spec);
class FatTree;
[[nodiscard]] std::unique_ptr<Routing> fat_tree_routing(std::shared_ptr<const FatTree> tree);
class Dragonfly;
[[nodiscard]] std::unique_ptr<Routing> dragonfly_routing(std::shared_ptr<const Dragonfly> dragonfly);
/// Along balanced_next_hops().
[[nodiscard]] std::unique_ptr<Routing> balanced_routing(const NetworkSpec& spec);
/// Along the forwarding tables of a graph. Throws NetworkProblem for entries that name no node or no channel
/// of their node, or that stand twice; RouteProblem for the first pair of hosts whose messages run in a
/// circle or come to a node without an entry.
[[nodiscard]] std::unique_ptr<Routing> forwarding_routing(const NetworkSpec& spec);
[[nodiscard]] std::unique_ptr<Routing> table_routing(const NetworkSpec& spec);

}  // namespace hocket
