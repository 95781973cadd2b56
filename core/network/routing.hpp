#pragma once
/// Routing of messages: one interface, one implementation per family of networks; next hops by
/// destination, of which routes of graphs are made; the channels of each node.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
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

/// Lists in one block of memory, one after the other.
template <class Item>
struct Lists {
  std::vector<std::uint64_t> begin{0};  ///< of each list, and the end
  std::vector<Item> items;

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(begin.size() - 1); }
  /// Nothing where all are empty, however many there are.
  [[nodiscard]] std::span<const Item> of(std::uint64_t list) const {
    if (items.empty()) return {};
    return {items.data() + begin[list], items.data() + begin[list + 1]};
  }
  /// A list of the items that were added since the last one.
  void end_list() { begin.push_back(items.size()); }
  void add_list(std::span<const Item> list) {
    items.insert(items.end(), list.begin(), list.end());
    end_list();
  }
  void clear() {
    begin.resize(1);
    items.clear();
  }
};

/// Numbers, one list per key.
using Grouped = Lists<std::uint32_t>;

/// Groups (key, item) pairs by key, keys below `keys`. `for_each_pair(visit)` calls visit(key, item) for each, twice in
/// the same order, which a list keeps.
template <class ForEachPair>
[[nodiscard]] Grouped group(std::uint64_t keys, ForEachPair for_each_pair) {
  Grouped grouped;
  grouped.begin.assign(keys + 1, 0);
  for_each_pair([&](std::uint64_t key, std::uint32_t) { ++grouped.begin[key + 1]; });
  for (std::uint64_t key = 0; key < keys; ++key) grouped.begin[key + 1] += grouped.begin[key];
  grouped.items.resize(grouped.begin.back());
  std::vector<std::uint64_t> fill(grouped.begin.begin(), grouped.begin.end() - 1);
  for_each_pair([&](std::uint64_t key, std::uint32_t item) { grouped.items[fill[key]++] = item; });
  return grouped;
}

/// The channels that leave each node, in the order of the links.
[[nodiscard]] inline Grouped leaving_channels(const NetworkSpec& spec) {
  return group(spec.names.size(), [&](auto visit) {
    for (Channel channel = 0; channel < 2 * spec.links.size(); ++channel) visit(spec.tail(channel), channel);
  });
}

/// True if a message goes towards higher coordinates along one side of a grid. On a ring it goes the shorter way round;
/// half-way round, the side's `ties` decide for its source (up if there are none), see NetworkSpec.
[[nodiscard]] inline bool goes_up(std::uint32_t side, bool ring, const std::string& ties, std::uint32_t from,
                                  std::uint32_t to) {
  if (!ring) return to > from;
  const std::uint32_t twice = 2 * ((to + side - from) % side);
  return twice < side || (twice == side && (ties.empty() || ties[from] == '+'));
}

/// A rooted view of a tree network, shared by its routing and by the tree algorithm.
struct Tree final : Routing {
  static constexpr Node none = ~Node{0};
  /// Through the lowest common ancestor.
  void append(Node src, Node dst, std::vector<Channel>& route) const override;

  std::vector<Node> parent;  ///< none for the root
  std::vector<std::uint32_t> depth;
  std::vector<Channel> up;  ///< channel from a node to its parent; its reverse is up ^ 1
  std::vector<Node> order;  ///< parents before children
};

/// Throws NetworkProblem (with the link that closes a cycle, or a node that is not connected).
[[nodiscard]] Tree root_tree(const NetworkSpec& spec);

[[nodiscard]] std::unique_ptr<Routing> grid_routing(const NetworkSpec& spec);
[[nodiscard]] std::unique_ptr<Routing> table_routing(const NetworkSpec& spec);

/// The channel by which each node sends on, per destination host.
class NextHops final : public Routing {
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

  void append(Node src, Node dst, std::vector<Channel>& route) const override {
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

/// Those of the forwarding tables of a graph. Throws NetworkProblem for entries that name no node or no channel
/// of their node, or that stand twice; RouteProblem for the first pair of hosts whose messages run in a
/// circle or come to a node without an entry.
[[nodiscard]] NextHops forwarding_hops(const NetworkSpec& spec);

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
