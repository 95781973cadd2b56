#pragma once
/// Equally short ways between hosts, and a choice among them.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/network/network.hpp"
#include "core/network/routing.hpp"

namespace hocket {

/// Distances in channels to one host at a time; other hosts forward nothing unless they say so.
class ShortestPaths {
 public:
  /// `spec` must outlive it.
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
  [[nodiscard]] Node head(Channel channel) const { return spec_.head(channel); }

 private:
  static constexpr std::uint32_t unreached = ~std::uint32_t{0};

  [[nodiscard]] bool forwards(Node node) const { return !ends_here_[node] || node == dst_; }

  const NetworkSpec& spec_;
  Grouped leaving_;
  std::vector<char> ends_here_;  ///< per node: hosts that do not forward
  Node dst_ = 0;
  std::vector<std::uint32_t> distance_;
  std::vector<Node> queue_;
  std::vector<Channel> best_;
};

using Way = std::vector<Channel>;

/// The shortest ways from host src to host dst of a graph, in the order of its links; at most `most`.
/// Throws InputError if there are none or more.
[[nodiscard]] std::vector<Way> equal_ways(const NetworkSpec& spec, Node src, Node dst, std::size_t most);

/// For each item one of its options (none if it has none), such that the fullest channel carries little: a local search
/// from the first options, by the sum of the fourth powers of the loads per rate. An option is the channels of all that
/// it adds one to. `rates`: of each channel. Same options, same choice. Throws InputError for an unknown channel.
inline constexpr std::uint32_t no_option = ~std::uint32_t{0};
[[nodiscard]] std::vector<std::uint32_t> least_load(std::span<const double> rates,
                                                    const std::vector<std::vector<Way>>& items);

/// For each item one of its options, such that no channel is in the options of two; nothing where a search finds none
/// while it looks at `budget` channels and items. Channels are numbers below `channels`. Same options, same choice.
/// Throws InputError for an unknown channel, or an item without options.
///
/// Source: min-conflicts (Minton et al., 1992) with a list of moves that are not taken back for a while (Galinier and
/// Hao, "Tabu search for maximal constraint satisfaction problems", 1997), from what least_load() finds.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> disjoint_ways(std::size_t channels,
                                                                      const std::vector<std::vector<Way>>& items,
                                                                      std::uint64_t budget);

/// A network of explicit routes with the channels of this one: the given routes between hosts, and its own for all
/// other pairs. Throws NetworkProblem for a route that is none.
[[nodiscard]] Network rerouted(const Network& network, std::span<const RouteSpec> routes);

}  // namespace hocket
