/// "switch-ring": all-gather on trees of switches by rings of ranks that follow the switches.
///
/// One ring over all ranks in depth-first order crosses every link once in each direction; with equal
/// links that is optimal (Faraj, Patarasuk and Yuan, "Bandwidth Efficient All-to-all Broadcast on
/// Switched Clusters"). Such a ring brings N − 1 contributions over every link. A slow link need carry
/// only those that the ranks behind it lack: what lies behind it becomes a ring of its own (add_ring),
/// down to the ranks of one host. Which branches close, and in which order they follow each other, is
/// found by a bounded search for the least load.
#include <limits>
#include <utility>

#include "core/algorithms/all_gather/streams.hpp"

namespace hocket::algorithms {
namespace {

constexpr std::uint64_t search_budget = 3'000'000;  ///< edges looked at
constexpr std::uint32_t most_rails = 4;
constexpr std::uint32_t most_ranks_compared = 1024;  ///< ranks up to which whole schedules are compared
constexpr double good_enough = 1.03;                 ///< times the bound: no more is tried
constexpr std::size_t most_swaps = 12;               ///< branches of a switch whose order is searched

/// The tree hung up at the node that balances its bytes, so that no branch holds more than half. Fast
/// branches of a switch that has slower ones too are grouped to a branch of their own.
class Hung {
 public:
  Hung(const Network& network, const Demand& demand) : network_(&network), bytes_(network.nodes(), 0) {
    const Tree& tree = *network.tree();
    for (const Node host : network.hosts())
      for (const Rank rank : network.ranks_of(host)) bytes_[host] += static_cast<double>(demand.contribution(rank));
    std::vector<double> below = bytes_;
    for (std::size_t i = tree.order.size(); i-- > 1;) below[tree.parent[tree.order[i]]] += below[tree.order[i]];
    Node root = tree.order.front();
    for (const Node node : tree.order)  // parents come first: the last one above half is the deepest
      if (2 * below[node] > below[tree.order.front()]) root = node;
    hang(root);
    group_branches();
    closed_.assign(children_.size(), false);
  }

  [[nodiscard]] std::uint32_t nodes() const { return static_cast<std::uint32_t>(children_.size()); }
  [[nodiscard]] std::vector<Node>& children(Node node) { return children_[node]; }
  [[nodiscard]] bool is_root(Node node) const { return node == root_; }
  void toggle(Node node) { closed_[node] = !closed_[node]; }
  void close_slower_than(double rate) {
    for (Node node = 0; node < nodes(); ++node) closed_[node] = node != root_ && rate_[node] < rate;
  }
  [[nodiscard]] std::vector<double> rates() const {
    std::vector<double> rates = rate_;
    std::sort(rates.begin(), rates.end());
    rates.erase(std::unique(rates.begin(), rates.end()), rates.end());
    return rates;
  }

  [[nodiscard]] std::vector<Rank> depth_first() const {
    std::vector<Rank> order;
    std::vector<Places> closed;
    walk(0, 1, order, closed);
    return order;
  }

  /// `rails` rings in depth-first order, with the closed branches. They differ in the host of a switch
  /// that they enter first and leave last, so that slow links do not keep one host's port busy.
  [[nodiscard]] Streams rings(std::uint32_t rails) const {
    Streams streams;
    std::vector<Rank> order;
    std::vector<Places> closed;
    for (std::uint32_t rail = 0; rail < rails; ++rail) {
      walk(rail, rails, order, closed);
      add_ring(streams, order, closed);
    }
    return streams;
  }

 private:
  void walk(std::uint32_t rail, std::uint32_t rails, std::vector<Rank>& order, std::vector<Places>& closed) const {
    struct Frame {
      Node node;
      std::size_t next;
      std::uint32_t begin;
    };
    order.clear();
    closed.clear();
    std::vector<Frame> stack;
    const auto turned = [&](std::size_t i, std::size_t size) { return (i + size * rail / rails) % size; };
    const auto enter = [&](Node node) {
      stack.push_back({node, 0, static_cast<std::uint32_t>(order.size())});
      if (node >= network_->nodes()) return;
      const std::uint32_t ranks = network_->spec().ranks[node];
      for (std::uint32_t i = 0; i < ranks; ++i)
        order.push_back(network_->first_rank(node) + static_cast<Rank>(turned(i, ranks)));
    };
    enter(root_);
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const auto& branches = children_[frame.node];
      if (frame.next < branches.size()) {
        const std::size_t i = frame.next++;
        const bool hosts = branches.front() < network_->nodes() && network_->is_host(branches.front());
        enter(branches[hosts ? turned(i, branches.size()) : i]);
        continue;
      }
      const Places places{frame.begin, static_cast<std::uint32_t>(order.size())};
      if (closed_[frame.node] && places.size() > 1) closed.push_back(places);
      stack.pop_back();
    }
  }

  void hang(Node root) {
    const NetworkSpec& spec = network_->spec();
    const Grouped leaving = leaving_channels(spec);
    root_ = root;
    children_.resize(network_->nodes());
    rate_.assign(network_->nodes(), network_->host_rate());
    std::vector<Node> parent(network_->nodes(), Tree::none), order{root};
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Node node = order[i];
      for (const Channel channel : leaving.of(node)) {
        const Node to = spec.head(channel);
        if (to == parent[node]) continue;
        parent[to] = node;
        rate_[to] = network_->rate(channel);
        children_[node].push_back(to);
        order.push_back(to);
      }
    }
    for (std::size_t i = order.size(); i-- > 1;) bytes_[parent[order[i]]] += bytes_[order[i]];
    for (auto& branches : children_) {  // slow ones side by side, the largest of them first
      std::sort(branches.begin(), branches.end());
      std::stable_sort(branches.begin(), branches.end(), [&](Node x, Node y) {
        return rate_[x] != rate_[y] ? rate_[x] < rate_[y] : bytes_[x] > bytes_[y];
      });
    }
  }

  /// Hosts of a switch form a group, with it the branches behind the fastest links, then the next
  /// slower ones, and so on: what lies on the other side of a slow link can then be a ring of its own
  /// as well. A group goes last, and its link is taken to be the slowest beside it.
  void group_branches() {
    for (Node node = 0; node < network_->nodes(); ++node) {
      std::vector<Node> branches = std::move(children_[node]);
      const auto speed = [&](Node to) {  // hosts apart; inter-switch links faster than a host are all fast enough
        return network_->is_host(to) ? 2 * network_->host_rate() : std::min(rate_[to], network_->host_rate());
      };
      std::stable_sort(branches.begin(), branches.end(), [&](Node x, Node y) { return speed(x) < speed(y); });
      const double slowest = node == root_ || branches.empty() ? std::numeric_limits<double>::max() : rate_[node];
      std::vector<Node> members;
      while (!branches.empty()) {
        const double fastest = speed(branches.back());
        const auto first =
            std::find_if(branches.begin(), branches.end(), [&](Node to) { return speed(to) == fastest; });
        members.insert(members.begin(), first, branches.end());
        branches.erase(first, branches.end());
        if (branches.empty() || members.size() < 2) continue;
        const auto group = static_cast<Node>(children_.size());
        children_.push_back(std::move(members));
        rate_.push_back(std::min(slowest, rate_[branches.front()]));
        members.assign(1, group);
      }
      children_[node] = std::move(members);
    }
  }

  const Network* network_;
  Node root_ = 0;
  std::vector<double> bytes_, rate_;         ///< per node: contributed in its branch; of the link above it
  std::vector<std::vector<Node>> children_;  ///< per node and group of branches
  std::vector<bool> closed_;
};

class Search {
 public:
  Search(const Network& network, const Demand& demand, std::uint32_t rails)
      : network_(network),
        demand_(demand),
        rails_(rails),
        hung_(network, demand),
        bound_(lower_bounds(network, demand).seconds),
        evaluations_(search_budget / (rails * std::max<std::uint64_t>(network.ranks(), 1))) {}

  Streams run(StreamLoad& load) {
    // From the plain ring, and from rings closed behind every link slower than a rate.
    Hung best = hung_;
    std::vector<double> rates = hung_.rates();
    rates.push_back(rates.back() * 2);
    const std::size_t step = 1 + rates.size() / 16;
    for (std::size_t i = 0; i < rates.size() && !optimal(); i += step) {
      hung_.close_slower_than(i == 0 ? 0 : rates[i]);
      if (consider()) best = hung_;
    }
    hung_ = std::move(best);
    while (!optimal() && evaluations_ > 0 && sweep()) {
    }
    load = load_;
    return std::move(streams_);
  }

 private:
  [[nodiscard]] bool optimal() const { return !streams_.place.empty() && load_.seconds <= bound_ * (1 + 1e-9); }

  bool consider() {
    if (evaluations_ > 0) --evaluations_;
    Streams streams = hung_.rings(rails_);
    const StreamLoad load = stream_load(network_, demand_, streams, PortModel::one_port);
    if (!streams_.place.empty() && !(load < load_)) return false;
    streams_ = std::move(streams);
    load_ = load;
    return true;
  }

  /// Every branch opened or closed, every two branches of a switch swapped: what is better stays.
  bool sweep() {
    bool better = false;
    for (Node node = 0; node < hung_.nodes() && evaluations_ > 0; ++node) {
      auto& branches = hung_.children(node);
      if (!hung_.is_root(node) && (branches.size() > 1 || (node < network_.nodes() && network_.is_host(node)))) {
        hung_.toggle(node);
        if (consider())
          better = true;
        else
          hung_.toggle(node);
      }
      if (branches.size() > most_swaps) continue;
      for (std::size_t i = 0; i < branches.size(); ++i)
        for (std::size_t j = i + 1; j < branches.size() && evaluations_ > 0; ++j) {
          std::swap(branches[i], branches[j]);
          if (consider())
            better = true;
          else
            std::swap(branches[i], branches[j]);
        }
    }
    return better;
  }

  const Network& network_;
  const Demand& demand_;
  std::uint32_t rails_;
  Hung hung_;
  double bound_;
  std::uint64_t evaluations_;  ///< left
  Streams streams_;            ///< the best so far
  StreamLoad load_;
};

}  // namespace

std::vector<Rank> one_ring(const Network& network, const Demand& demand) { return Hung(network, demand).depth_first(); }

static std::string_view switch_ring_refuses(const Network& network, const Demand&) {
  return network.tree() != nullptr ? "" : "it needs a tree of switches";
}

static Schedule make_switch_ring(const Network& network, const Demand& demand, const AlgorithmOptions& costs) {
  const double bound = lower_bounds(network, demand).seconds;
  std::optional<Schedule> best;
  double best_seconds = 0;
  const auto consider = [&](std::uint32_t rails, std::uint32_t finer) {
    StreamLoad load;
    Streams streams = Search(network, demand, rails).run(load);
    streams.chunks = split_contributions(demand, 1, std::max(network.host_rate(), 1.0), costs, finer);
    for (std::uint32_t i = 0; i < streams.chunks.size(); ++i) {
      Chunk& chunk = streams.chunks[i];
      chunk.rail = (streams.place.front()[chunk.origin] + i % finer) % rails;
    }
    double seconds = 0;
    Schedule schedule = schedule_streams(network, demand, streams, PortModel::one_port, costs, &seconds);
    // More messages and partners must be worth it.
    if (!best || seconds < best_seconds * 0.97) {
      best = std::move(schedule);
      best_seconds = seconds;
    }
  };
  consider(1, 1);
  for (const auto& [rails, finer] : {std::pair{most_rails, 1u}, {1u, 2u}, {most_rails, 2u}, {most_rails, 4u}})
    if (best_seconds > bound * good_enough && demand.ranks <= most_ranks_compared / finer) consider(rails, finer);
  return std::move(*best);
}

constinit const Algorithm switch_ring{
    .pattern = Pattern::all_gather,
    .name = "switch-ring",
    .summary = "rings that follow the switches, closed behind slow links",
    .source = "Faraj, Patarasuk and Yuan; closed rings: own",
    .contention_free = true,
    .refuses = switch_ring_refuses,
    .make = make_switch_ring,
    .rank = 3,
};

}  // namespace hocket::algorithms
