#include "core/schedule/balance.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "core/network/shortest_paths.hpp"
#include "core/schedule/bounds.hpp"
#include "core/schedule/ring_loads.hpp"

namespace hocket {
namespace {

constexpr Channel no_channel = ~Channel{0};
constexpr double tolerance = 1e-12;

/// Next hops by destination for an all-to-all, all on shortest paths. A move gives one node another next hop
/// for one destination; moves are tried in a fixed order until none helps.
class NextHopSearch {
 public:
  explicit NextHopSearch(const Network& network)
      : network_(network), paths_(network.spec()), nodes_(network.nodes()), load_(network.channels(), 0) {
    constexpr std::uint64_t most = 1u << 25;
    if (std::uint64_t{network.hosts().size()} * nodes_ > most)
      throw InputError("a graph of this size is too large to balance");
    for (Channel channel = 0; channel < network.channels(); ++channel)
      weight_.push_back(network.host_rate() / network.rate(channel));
    next_.assign(network.hosts().size() * nodes_, no_channel);
    flow_.assign(next_.size(), 0);
    for (std::size_t i = 0; i < network.hosts().size(); ++i) start(i);
  }

  void run() {
    constexpr int most_sweeps = 200, rounds = 24;
    // First the sum of squares, which pulls all loads together; moves that leave it as it is lead out of dead
    // ends. Then the most loaded channels alone.
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < most_sweeps && sweep(&NextHopSearch::evens); ++i) continue;
      if (round + 1 < rounds) sweep(&NextHopSearch::shifts);
    }
    for (int i = 0; i < most_sweeps; ++i) {
      peak_ = 0;
      for (Channel channel = 0; channel < load_.size(); ++channel) peak_ = std::max(peak_, use(channel, 0));
      if (!sweep(&NextHopSearch::relieves)) break;
    }
  }

  /// The fewest forwarding entries for the routes: entries that the defaults of HopSpec imply are left out.
  [[nodiscard]] std::vector<HopSpec> entries() const {
    std::vector<std::uint32_t> links(nodes_, 0);
    std::map<std::pair<Node, Node>, Channel> direct;
    for (Channel channel = 0; channel < load_.size(); ++channel) {
      ++links[tail(channel)];
      direct.emplace(std::pair(tail(channel), paths_.head(channel)), channel);
    }
    std::vector<HopSpec> entries;
    for (Node node = 0; node < nodes_; ++node) {
      if (network_.is_host(node) && links[node] == 1) continue;
      std::vector<HopSpec> own;
      std::map<Channel, std::size_t> uses;
      for (std::size_t i = 0; i < network_.hosts().size(); ++i) {
        const Node dst = network_.hosts()[i];
        const Channel channel = next_[i * nodes_ + node];
        const auto wire = direct.find({node, dst});
        if (channel == no_channel || (wire != direct.end() && wire->second == channel)) continue;
        own.push_back({node, dst, channel});
        if (wire == direct.end()) ++uses[channel];  // a default does not serve hosts that are wired to the node
      }
      const auto fewer = [](const auto& x, const auto& y) { return x.second < y.second; };
      const auto usual = std::max_element(uses.begin(), uses.end(), fewer);
      if (usual != uses.end() && usual->second > 1) {
        std::erase_if(
            own, [&](const HopSpec& hop) { return hop.channel == usual->first && !direct.contains({node, hop.to}); });
        entries.push_back({node, HopSpec::every_host, usual->first});
      }
      entries.insert(entries.end(), own.begin(), own.end());
    }
    return entries;
  }

 private:
  [[nodiscard]] Node tail(Channel channel) const { return paths_.head(channel ^ 1); }
  /// Time on a channel with so many messages more (or fewer), in messages at full host speed.
  [[nodiscard]] double use(Channel channel, double more) const {
    return (static_cast<double>(load_[channel]) + more) * weight_[channel];
  }

  /// Towards the i-th host: equal ways shared by the host's number, and what flows through every node.
  void start(std::size_t i) {
    const Node dst = network_.hosts()[i];
    const auto& ranks = network_.spec().ranks;
    paths_.find(dst);
    std::vector<Node> order;
    for (Node node = 0; node < nodes_; ++node) {
      if (node == dst || !paths_.reaches(node)) continue;
      const std::vector<Channel>& best = paths_.best(node);
      next_[i * nodes_ + node] = best[i % best.size()];
      flow_[i * nodes_ + node] = std::uint64_t{ranks[node]} * ranks[dst];
      order.push_back(node);
    }
    std::ranges::stable_sort(order, std::greater<>(), [&](Node node) { return paths_.distance(node); });
    for (const Node node : order) {
      const Channel channel = next_[i * nodes_ + node];
      load_[channel] += flow_[i * nodes_ + node];
      flow_[i * nodes_ + paths_.head(channel)] += flow_[i * nodes_ + node];
    }
  }

  /// Tries every move once; whether any was made.
  bool sweep(bool (NextHopSearch::*helps)(double)) {
    bool moved = false;
    std::vector<Channel> best;
    for (std::size_t i = 0; i < network_.hosts().size(); ++i) {
      const Node dst = network_.hosts()[i];
      paths_.find(dst);
      for (Node node = 0; node < nodes_; ++node) {
        const std::uint64_t flow = flow_[i * nodes_ + node];
        if (node == dst || flow == 0) continue;
        best = paths_.best(node);
        if (best.size() < 2) continue;
        for (const Channel channel : best) {
          if (channel == next_[i * nodes_ + node]) continue;
          part(i, node, channel);
          if (!(this->*helps)(static_cast<double>(flow))) continue;
          move(i, node, channel, flow);
          moved = true;
        }
      }
    }
    return moved;
  }

  /// The channels that a move leaves and takes, up to where both ways meet; both come nearer with every step.
  void part(std::size_t i, Node node, Channel channel) {
    left_.assign(1, next_[i * nodes_ + node]);
    taken_.assign(1, channel);
    while (paths_.head(left_.back()) != paths_.head(taken_.back())) {
      left_.push_back(next_[i * nodes_ + paths_.head(left_.back())]);
      taken_.push_back(next_[i * nodes_ + paths_.head(taken_.back())]);
    }
  }

  void move(std::size_t i, Node node, Channel channel, std::uint64_t flow) {
    for (const Channel old : left_) load_[old] -= flow;
    for (const Channel now : taken_) load_[now] += flow;
    for (std::size_t k = 0; k + 1 < left_.size(); ++k) {
      flow_[i * nodes_ + paths_.head(left_[k])] -= flow;
      flow_[i * nodes_ + paths_.head(taken_[k])] += flow;
    }
    next_[i * nodes_ + node] = channel;
  }

  /// Relative change of the sum of squared loads over the channels that the move touches.
  [[nodiscard]] double change(double flow) const {
    double before = 0, after = 0;
    for (const Channel old : left_) before += use(old, 0) * use(old, 0), after += use(old, -flow) * use(old, -flow);
    for (const Channel now : taken_) before += use(now, 0) * use(now, 0), after += use(now, flow) * use(now, flow);
    return after / before - 1;
  }
  [[nodiscard]] bool evens(double flow) { return change(flow) < -tolerance; }
  /// True for half of the moves that change nothing: all of them would run in circles.
  [[nodiscard]] bool shifts(double flow) { return change(flow) < tolerance && random_() % 2 == 0; }

  /// True if the move takes load from a channel with the most load and leaves none of the others as bad.
  [[nodiscard]] bool relieves(double flow) {
    const double least = peak_ * (1 - tolerance);
    return std::ranges::any_of(left_, [&](Channel old) { return use(old, 0) >= least; }) &&
           std::ranges::all_of(taken_, [&](Channel now) { return use(now, flow) < least; });
  }

  const Network& network_;
  ShortestPaths paths_;
  std::size_t nodes_;
  std::vector<std::uint64_t> load_;  ///< per channel: messages
  std::vector<double> weight_;
  std::vector<Channel> next_;        ///< per destination host and node
  std::vector<std::uint64_t> flow_;  ///< per destination host and node: messages that pass or begin there
  std::vector<Channel> left_, taken_;
  double peak_ = 0;
  std::mt19937_64 random_;  ///< the standard fixes its seed and its numbers: the same answer everywhere
};

/// Parity is the best table for a ring of equal ranks: its loads differ by one message at most.
std::vector<std::string> balanced_ties(const NetworkSpec& spec) {
  std::vector<std::string> ties = spec.ties;
  const std::vector<std::string> parity = ties_by_rule("parity", spec.sides);
  for (std::size_t d = 0; d < ties.size(); ++d)
    if (ring_loads(spec.sides[d], parity[d]).most() < ring_loads(spec.sides[d], ties[d]).most()) ties[d] = parity[d];
  return ties;
}

/// Lower bound first, then the sum of the squared times: links that are no bottleneck count as well.
bool is_better(const Network& x, const Network& y, const Demand& demand) {
  const Bounds of_x = lower_bounds(x, demand), of_y = lower_bounds(y, demand);
  if (of_x.seconds != of_y.seconds) return of_x.seconds < of_y.seconds;
  double sum_x = 0, sum_y = 0;
  for (Channel channel = 0; channel < x.channels(); ++channel) {
    const double load_x = static_cast<double>(of_x.load[channel]), load_y = static_cast<double>(of_y.load[channel]);
    sum_x += load_x * load_x / x.rate(channel) / x.rate(channel);
    sum_y += load_y * load_y / y.rate(channel) / y.rate(channel);
  }
  return sum_x < sum_y * (1 - tolerance);
}

}  // namespace

Network balance_routes(const Network& network, const Demand& demand) {
  if (demand.pattern != Pattern::all_to_all) throw InputError("routes are balanced for an all-to-all only");
  NetworkSpec spec = network.spec();
  if (spec.shape == Shape::torus) {
    spec.ties = balanced_ties(spec);
  } else if (spec.shape == Shape::graph) {
    NextHopSearch search(network);
    search.run();
    spec.next_hops = search.entries();
  } else {
    throw InputError("only a torus and a graph leave a choice between equally short routes");
  }
  Network balanced(std::move(spec));
  return is_better(balanced, network, demand) ? balanced : network;
}

}  // namespace hocket
