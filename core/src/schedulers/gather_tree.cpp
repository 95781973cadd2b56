/// "switch-ring": all-gather on trees of switches by rings of ranks that follow the switches.
///
/// One ring over all ranks in depth-first order crosses every link once in each direction; with equal
/// links that is optimal (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
/// workstations", section 3, show it for the all-gather as well). Such a ring brings N − 1 contributions
/// over every link. A slow link need carry only those that the ranks behind it lack: what lies behind it
/// becomes a ring of its own (see add_ring), down to the ranks of one host.
#include <algorithm>
#include <numeric>

#include "hocket/schedulers/entries.hpp"
#include "hocket/schedulers/gather_streams.hpp"

namespace hocket::algorithms {
namespace {

constexpr std::size_t most_trials = 16;  ///< of slow-link thresholds per order of the branches

enum class BranchOrder : std::uint8_t { wired, largest_first, slowest_first };

/// The tree hung up at the node that balances its bytes, so that no branch holds more than half.
class Hung {
 public:
  Hung(const Network& network, const Demand& demand) : network_(network), bytes_(network.nodes(), 0) {
    const Tree& tree = *network.tree();
    for (const Node host : network.hosts())
      for (std::uint32_t i = 0; i < network.spec().ranks[host]; ++i)
        bytes_[host] += static_cast<double>(demand.contribution(network.first_rank(host) + i));
    std::vector<double> below = bytes_;
    for (std::size_t i = tree.order.size(); i-- > 1;) below[tree.parent[tree.order[i]]] += below[tree.order[i]];
    Node root = tree.order.front();
    for (const Node node : tree.order)  // parents come first: the last one above half is the deepest
      if (2 * below[node] > below[tree.order.front()]) root = node;
    hang(root);
  }

  struct Branch {
    Places places;
    double bytes, rate;  ///< rate: of the link above it, bytes/s
  };

  /// The ranks in depth-first order, and the places and link of every branch.
  void walk(BranchOrder by, std::vector<Rank>& order, std::vector<Branch>& branches) {
    const auto slowness = [&](Node node) { return (bytes_[order_.front()] - bytes_[node]) / rate_[node]; };
    for (auto& children : children_) std::sort(children.begin(), children.end());
    if (by == BranchOrder::largest_first)
      for (auto& children : children_)
        std::stable_sort(children.begin(), children.end(), [&](Node x, Node y) { return bytes_[x] > bytes_[y]; });
    if (by == BranchOrder::slowest_first)
      for (auto& children : children_)
        std::stable_sort(children.begin(), children.end(), [&](Node x, Node y) { return slowness(x) > slowness(y); });
    order.clear();
    branches.clear();
    struct Frame {
      Node node;
      std::size_t next;
      std::uint32_t begin;
    };
    std::vector<Frame> stack;
    const auto enter = [&](Node node) {
      stack.push_back({node, 0, static_cast<std::uint32_t>(order.size())});
      for (std::uint32_t i = 0; i < network_.spec().ranks[node]; ++i) order.push_back(network_.first_rank(node) + i);
    };
    enter(order_.front());
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.next < children_[frame.node].size()) {
        enter(children_[frame.node][frame.next++]);
        continue;
      }
      const Places places{frame.begin, static_cast<std::uint32_t>(order.size())};
      if (stack.size() > 1 && places.size() > 0) branches.push_back({places, bytes_[frame.node], rate_[frame.node]});
      stack.pop_back();
    }
  }

 private:
  void hang(Node root) {
    std::vector<std::vector<Channel>> links(network_.nodes());
    const auto& spec = network_.spec().links;
    for (Channel link = 0; link < spec.size(); ++link) {
      links[spec[link].a].push_back(link);
      links[spec[link].b].push_back(link);
    }
    children_.resize(network_.nodes());
    rate_.assign(network_.nodes(), 1);
    std::vector<Node> parent(network_.nodes(), Tree::none);
    order_.assign(1, root);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const Node node = order_[i];
      for (const Channel link : links[node]) {
        const Node to = spec[link].a == node ? spec[link].b : spec[link].a;
        if (to == parent[node]) continue;
        parent[to] = node;
        rate_[to] = spec[link].rate;
        children_[node].push_back(to);
        order_.push_back(to);
      }
    }
    for (std::size_t i = order_.size(); i-- > 1;) bytes_[parent[order_[i]]] += bytes_[order_[i]];
  }

  const Network& network_;
  std::vector<double> bytes_, rate_;  ///< per node: contributed in its branch; of the link above it
  std::vector<std::vector<Node>> children_;
  std::vector<Node> order_;
};

Streams streams_of(std::span<const Rank> order, std::span<const Places> closed) {
  Streams streams;
  add_ring(streams, order, closed);
  return streams;
}

/// The least loaded of several rings: branches in three orders, and closed those whose links a plain
/// ring would fill for longer than a threshold.
Streams best_rings(const Network& network, const Demand& demand) {
  Hung hung(network, demand);
  std::vector<Rank> order;
  std::vector<Hung::Branch> branches;
  std::vector<Places> closed;
  Streams best;
  StreamLoad best_load;
  const auto consider = [&] {
    Streams streams = streams_of(order, closed);
    const StreamLoad load = stream_load(network, demand, streams, 1);
    if (!best.place.empty() && !(load < best_load)) return false;
    best = std::move(streams);
    best_load = load;
    return true;
  };
  for (const BranchOrder by : {BranchOrder::wired, BranchOrder::largest_first, BranchOrder::slowest_first}) {
    hung.walk(by, order, branches);
    closed.clear();
    consider();
    std::erase_if(branches, [](const Hung::Branch& branch) { return branch.places.size() < 2; });
    // Slow links first. Closing a branch spares its link its own bytes, and costs its last rank sends.
    std::stable_sort(branches.begin(), branches.end(),
                     [](const Hung::Branch& x, const Hung::Branch& y) { return x.rate < y.rate; });
    const std::size_t step = std::max<std::size_t>(1, branches.size() / most_trials);
    for (std::size_t i = 0; i < branches.size(); ++i) {
      closed.push_back(branches[i].places);
      if (i + 1 == branches.size() || (i + 1) % step == 0) consider();
    }
    if (branches.size() > most_trials) continue;
    closed.clear();
    for (bool better = true; better;) {
      better = false;
      for (const Hung::Branch& branch : branches) {
        const auto at = std::find(closed.begin(), closed.end(), branch.places);
        if (at != closed.end()) continue;
        closed.push_back(branch.places);
        if (consider())
          better = true;
        else
          closed.pop_back();
      }
    }
  }
  return best;
}

}  // namespace

std::string_view switch_ring_why_not(const Network& network, const Demand& demand) {
  if (const auto reason = gather_why_not(network, demand); !reason.empty()) return reason;
  return network.tree() != nullptr ? "" : "it needs a tree of switches";
}

Schedule switch_ring(const Network& network, const Demand& demand, const Costs& costs) {
  Streams streams = best_rings(network, demand);
  streams.chunks = split_contributions(demand, 1, std::max(network.host_rate(), 1.0), costs);
  return schedule_streams(network, demand, streams, PortModel::one_port);
}

}  // namespace hocket::algorithms
