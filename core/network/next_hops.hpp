#pragma once
/// Next hops by destination: what routes of graphs are made of.
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/network/routing.hpp"
#include "core/network/spec.hpp"

namespace hocket {

/// The channel by which each node sends on, per destination host.
class NextHops {
 public:
  static constexpr Channel none = ~Channel{0};

  /// Throws NetworkProblem where hosts × nodes are too many to tabulate.
  explicit NextHops(const NetworkSpec& spec) : nodes_(spec.names.size()), column_(nodes_, 0) {
    constexpr std::uint64_t most = 1u << 28;
    for (Node node = 0; node < nodes_; ++node) {
      if (spec.ranks[node] == 0) continue;
      column_[node] = static_cast<std::uint32_t>(hosts_.size());
      hosts_.push_back(node);
    }
    if (std::uint64_t{hosts_.size()} * nodes_ > most)
      throw NetworkProblem("a general graph of this size has too many routes to tabulate");
    next_.assign(hosts_.size() * nodes_, none);
    for (const LinkSpec& link : spec.links) {
      head_.push_back(link.b);
      head_.push_back(link.a);
    }
  }

  [[nodiscard]] const std::vector<Node>& hosts() const { return hosts_; }
  /// The node to which a channel leads.
  [[nodiscard]] Node head(Channel channel) const { return head_[channel]; }
  [[nodiscard]] Channel get(Node at, Node dst) const { return next_[column_[dst] * nodes_ + at]; }
  void set(Node at, Node dst, Channel channel) { next_[column_[dst] * nodes_ + at] = channel; }

  void append(Node src, Node dst, std::vector<Channel>& route) const {
    while (src != dst) {
      const Channel channel = get(src, dst);
      route.push_back(channel);
      src = head(channel);
    }
  }

 private:
  std::size_t nodes_;
  std::vector<Node> hosts_;
  std::vector<std::size_t> column_;  ///< per host: its row in next_
  std::vector<Node> head_;
  std::vector<Channel> next_;
};

/// The fewest forwarding entries for next hops: those that the defaults of HopSpec imply are left out.
[[nodiscard]] std::vector<HopSpec> forwarding_entries(const NetworkSpec& spec, const NextHops& hops);

/// Next hops of every node by destination host; hosts forward nothing unless they say so. They begin as shortest paths,
/// each on the channels that carry least so far; then one node after the other gets another next hop for one
/// destination where that lowers a sum of high powers of the channels' times. Ways longer than the shortest are taken
/// where the shortest load a channel for longer than the hosts' own are busy, and longer ones do so for less. The same
/// answer everywhere: moves are counted, not timed. Where can_be_balanced() says no, the paths stay the shortest.
/// Throws NetworkProblem where a host does not reach another, and for graphs that are too large to tabulate. Source of
/// the beginning: Hoefler, Schneider and Lumsdaine, "Optimized Routing for Large-Scale InfiniBand Networks" (2009); of
/// the moves: own.
[[nodiscard]] NextHops balanced_next_hops(const NetworkSpec& spec);

/// True if trying all moves of a graph once is not too much: about 1,000 hosts.
[[nodiscard]] bool can_be_balanced(const NetworkSpec& spec);

}  // namespace hocket
