#pragma once
/// Channels that lead the shortest way to a host of a graph.
#include <cstdint>
#include <vector>

#include "core/network/routing.hpp"

namespace hocket {

/// Distances in channels to one host at a time; other hosts forward nothing unless they say so.
class ShortestPaths {
 public:
  explicit ShortestPaths(const NetworkSpec& spec);

  /// Finds the ways to this host; the other functions are about these from now on.
  void find(Node dst);
  /// The nodes that reach it, itself first, nearest first.
  [[nodiscard]] const std::vector<Node>& nearest_first() const { return queue_; }
  [[nodiscard]] bool reaches(Node node) const { return distance_[node] != unreached; }
  /// Channels from `node` to the host; only where it reaches.
  [[nodiscard]] std::uint32_t distance(Node node) const { return distance_[node]; }
  /// The channels that begin a shortest path, in the order of the links. Valid until the next call.
  [[nodiscard]] const std::vector<Channel>& best(Node node);
  /// The node to which a channel leads.
  [[nodiscard]] Node head(Channel channel) const { return head_[channel]; }

 private:
  static constexpr std::uint32_t unreached = ~std::uint32_t{0};

  [[nodiscard]] bool forwards(Node node) const { return !ends_here_[node] || node == dst_; }

  std::vector<std::vector<Channel>> leaving_;
  std::vector<Node> head_;
  std::vector<char> ends_here_;  ///< per node: hosts that do not forward
  Node dst_ = 0;
  std::vector<std::uint32_t> distance_;
  std::vector<Node> queue_;
  std::vector<Channel> best_;
};

}  // namespace hocket
