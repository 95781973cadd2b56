#include <cmath>
#include <compare>
#include <functional>

#include "core/algorithms/all_gather/tree_packing.hpp"
#include "core/schedule/max_flow.hpp"

namespace hocket::algorithms {
namespace {

constexpr double most_thorough_work = 1e8;  // trees × hosts² × channels: about two seconds

class Arborescences {
 public:
  /// `thorough`: looks at all hosts before a tree takes a route; else at the one to which it leads, which is enough
  /// where every switch has a host that is as fast as it.
  Arborescences(const Network& network, const HostRoutes& routes, Node root, double bytes_per_rate, bool thorough)
      : network_(network), routes_(routes), root_(root), thorough_(thorough), flow_(network.nodes() + 1) {
    for (Channel channel = 0; channel < network.channels(); ++channel) {
      flow_.add_arc(network.spec().tail(channel), network.spec().head(channel));
      left_.push_back(std::floor(network.rate(channel) * bytes_per_rate * (1 + 1e-6)));
    }
    for (const Node host : network.hosts()) flow_.add_arc(network.nodes(), host);
  }

  /// The nearest hosts first, by short routes: a tree that is less deep fills sooner. What a tree could not take is not
  /// tried again, for what is left becomes less.
  bool grow(HostTree& tree, double to_come) {
    tree.parent.assign(routes_.hosts(), HostTree::none);
    tree.parent[tree.root] = tree.root;
    std::vector<Candidate> heap;
    const auto offer = [&](std::uint32_t from, std::uint32_t depth) {
      for (std::uint32_t to = 0; to < routes_.hosts(); ++to) {
        const std::size_t length = routes_.between(from, to).size();
        if (length == 0 || tree.parent[to] != HostTree::none) continue;
        heap.push_back({length, depth, from, to});
        std::ranges::push_heap(heap, std::greater());
      }
    };
    offer(tree.root, 0);
    for (std::uint32_t reached = 1; reached < routes_.hosts();) {
      if (heap.empty()) return false;
      std::ranges::pop_heap(heap, std::greater());
      const Candidate next = heap.back();
      heap.pop_back();
      if (tree.parent[next.to] != HostTree::none) continue;
      const auto route = routes_.between(next.from, next.to);
      if (std::ranges::any_of(route, [&](Channel channel) { return left_[channel] < 1; })) continue;
      for (const Channel channel : route) --left_[channel];
      tree.parent[next.to] = next.from;
      if (leaves_enough(tree, next.to, to_come)) {
        ++reached;
        offer(next.to, next.depth + 1);
      } else {
        for (const Channel channel : route) ++left_[channel];
        tree.parent[next.to] = HostTree::none;
      }
    }
    return true;
  }

 private:
  struct Candidate {
    std::size_t length;
    std::uint32_t depth, from, to;
    auto operator<=>(const Candidate&) const = default;
  };

  /// A tree has come to a host: whether those to come still can, and, where all hosts are looked at, it still can to
  /// the rest. Of a switch without a host that is more than what is left into each part of the network.
  bool leaves_enough(const HostTree& tree, std::uint32_t latest, double to_come) {
    if (!reaches(latest, to_come, nullptr)) return false;
    for (std::uint32_t host = 0; thorough_ && host < routes_.hosts(); ++host) {
      if (host == tree.root || host == latest) continue;
      const bool reached = tree.parent[host] != HostTree::none;
      if (!reaches(host, reached ? to_come : to_come + 1, reached ? nullptr : &tree)) return false;
    }
    return true;
  }

  /// True if so many trees can reach the host from the root, or from the hosts of a tree.
  bool reaches(std::uint32_t host, double trees, const HostTree* from) {
    for (Channel channel = 0; channel < network_.channels(); ++channel) flow_.set(2 * channel, left_[channel]);
    for (std::uint32_t i = 0; i < routes_.hosts(); ++i) {
      const bool source = from == nullptr ? network_.hosts()[i] == root_ : from->parent[i] != HostTree::none;
      flow_.set(2 * (network_.channels() + i), source ? trees : 0);
    }
    return flow_.run(network_.nodes(), network_.hosts()[host], 0.5) >= trees;
  }

  const Network& network_;
  const HostRoutes& routes_;
  Node root_;
  bool thorough_;
  flow::MaxFlow flow_;        ///< from a source before the hosts
  std::vector<double> left_;  ///< per channel: trees that it can still carry
};

}  // namespace

bool pack_exactly(const Network& network, const HostRoutes& routes, std::span<HostTree> trees, double seconds) {
  if (network.shape() == Shape::routed) return false;  // it is not known where channels begin
  double bytes = 0;
  for (const HostTree& tree : trees) bytes += tree.bytes() / static_cast<double>(trees.size());
  const double hosts = routes.hosts(), work = static_cast<double>(trees.size()) * hosts * hosts * network.channels();
  for (const bool thorough : {false, true}) {
    if (thorough && work > most_thorough_work) break;
    Arborescences left(network, routes, network.hosts()[trees.front().root], seconds / bytes, thorough);
    auto to_come = static_cast<double>(trees.size());
    if (std::ranges::all_of(trees, [&](HostTree& tree) { return left.grow(tree, --to_come); })) return true;
  }
  return false;
}

}  // namespace hocket::algorithms
