#include "core/algorithms/shared/slots.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/algorithms/shared/phase_writer.hpp"
#include "core/progress/progress.hpp"

namespace hocket::algorithms {

HostRoutes::HostRoutes(const Network& network) : hosts_(static_cast<std::uint32_t>(network.hosts().size())) {
  find(network, network.shape() == Shape::routed);
  if (!reach_all()) find(network, true);
}

void HostRoutes::find(const Network& network, bool all) {
  routes_.clear();
  sources_.assign(hosts_, {});
  std::vector<Channel>& channels = routes_.items;
  const auto passes_host = [&](std::size_t begin) {
    for (std::size_t i = begin; i + 1 < channels.size(); ++i)
      if (network.is_host(network.spec().head(channels[i]))) return true;
    return false;
  };
  for (std::uint32_t from = 0; from < hosts_; ++from)
    for (std::uint32_t to = 0; to < hosts_; ++to) {
      const std::size_t begin = channels.size();
      if (from != to) {
        network.append_route(network.first_rank(network.hosts()[from]), network.first_rank(network.hosts()[to]),
                             channels);
        if (!all && passes_host(begin))
          channels.resize(begin);
        else
          sources_[to].push_back(from);
      }
      routes_.end_list();
    }
}

/// True if every host is reached from every other, over several routes if need be.
bool HostRoutes::reach_all() const {
  std::vector<std::vector<std::uint32_t>> targets(hosts_);
  for (std::uint32_t to = 0; to < hosts_; ++to)
    for (const std::uint32_t from : sources_[to]) targets[from].push_back(to);
  const auto reached_over = [&](const std::vector<std::vector<std::uint32_t>>& next) {
    std::vector<char> seen(hosts_, 0);
    std::vector<std::uint32_t> queue{0};
    seen[0] = 1;
    for (std::size_t at = 0; at < queue.size(); ++at)
      for (const std::uint32_t host : next[queue[at]])
        if (seen[host] == 0) seen[host] = 1, queue.push_back(host);
    return queue.size() == hosts_;
  };
  return reached_over(targets) && reached_over(sources_);
}

namespace {

constexpr double fewest_slots = 240, most_slots = 1100, most_messages = 7.4e4;
constexpr double smallest_message = 512;  // bytes: less is all header
constexpr double most_grain_sends = 3e6;

/// Messages from a rank to a host, down several trees.
struct Pair {
  struct Use {
    std::uint32_t tree, height;  ///< height: hosts on the longest way on from the receiver
  };
  Rank src = 0;
  std::uint32_t from = 0, to = 0;
  double speed = 0;           ///< bytes/s
  std::uint32_t at_once = 1;  ///< grains in a message
  std::vector<Use> uses = {};
};

class Slots {
 public:
  Slots(const Network& network, const Demand& demand, const HostRoutes& routes, const Forest& forest, double alpha)
      : network_(network),
        demand_(demand),
        routes_(routes),
        forest_(forest),
        pair_of_(std::size_t{demand.ranks} * routes.hosts(), HostTree::none),
        edges_(forest.trees.size(), 0),
        grains_(forest.trees.size(), 1),
        have_(forest.trees.size() * routes.hosts(), 0),
        left_(forest.load),
        used_(network.channels(), 0),
        news_(routes.hosts()) {
    for (std::uint32_t tree = 0; tree < forest.trees.size(); ++tree) list_pairs(tree);
    choose_grains(alpha);
    for (std::uint32_t tree = 0; tree < forest.trees.size(); ++tree)
      have_[at(tree, forest.trees[tree].root)] = grains_[tree];
  }

  Schedule run() {
    if (demand_.by_blocks()) copy_own();
    std::uint64_t sends = 0;
    for (std::size_t tree = 0; tree < grains_.size(); ++tree) sends += std::uint64_t{grains_[tree]} * edges_[tree];
    Steps steps("sending down trees", sends);
    while (sends > 0) {
      const std::uint64_t sent = fill_slot(steps);
      sends -= sent;
      writer_.end_phase();
      copy_news();
    }
    return writer_.finish();
  }

 private:
  struct Ready {
    std::uint32_t urgency;  ///< slots of work that the busiest channel has left
    std::uint32_t grains;   ///< in the message
    std::uint32_t way;      ///< grains and hosts that its most urgent tree has left
    std::uint32_t pair;
  };
  struct Waiting {
    std::uint32_t way, tree, grains;
  };

  [[nodiscard]] std::size_t at(std::uint32_t tree, std::uint32_t host) const {
    return std::size_t{tree} * routes_.hosts() + host;
  }
  [[nodiscard]] std::span<const Channel> route(const Pair& pair) const { return routes_.between(pair.from, pair.to); }
  [[nodiscard]] Rank entry(std::uint32_t host) const { return network_.first_rank(network_.hosts()[host]); }

  void list_pairs(std::uint32_t number) {
    const HostTree& tree = forest_.trees[number];
    std::vector<std::uint32_t> height(routes_.hosts(), 0);
    for (std::uint32_t host = 0; host < routes_.hosts(); ++host) {
      if (tree.parent[host] == HostTree::none) continue;
      std::uint32_t below = 0;
      for (std::uint32_t up = host; up != tree.root; up = tree.parent[up]) {
        ++below;
        height[tree.parent[up]] = std::max(height[tree.parent[up]], below);
      }
      deepest_ = std::max(deepest_, below);
    }
    for (std::uint32_t host = 0; host < routes_.hosts(); ++host) {
      const std::uint32_t from = tree.parent[host];
      if (host == tree.root || from == HostTree::none) continue;
      ++edges_[number];
      const Rank src = from == tree.root ? tree.origin : entry(from);
      std::uint32_t& known = pair_of_[std::size_t{src} * routes_.hosts() + host];
      if (known == HostTree::none) {
        known = static_cast<std::uint32_t>(pairs_.size());
        pairs_.push_back({src, from, host, own_speed(network_, routes_.between(from, host))});
      }
      pairs_[known].uses.push_back({number, height[host]});
    }
  }

  /// A slot is as long as the slowest pair takes for a grain or a few, so that what others send in it is nearly a whole
  /// number of grains. Those send to several in turn, and take more slots until their messages are full.
  void choose_grains(double alpha) {
    if (pairs_.empty()) return;
    double slowest = std::numeric_limits<double>::infinity(), fastest = 0, latency = 0;
    std::vector<double> sending(demand_.ranks, 0);
    for (const Pair& pair : pairs_) {
      double way = 0;
      for (const Channel channel : route(pair)) way += network_.latency(channel);
      latency = std::max(latency, way);
      slowest = std::min(slowest, pair.speed);
      fastest = std::max(fastest, pair.speed);
      for (const Pair::Use& use : pair.uses) sending[pair.src] += forest_.trees[use.tree].bytes() / pair.speed;
    }
    double at_once = 0;  // messages of all ranks
    for (const double seconds : sending) at_once += seconds / forest_.seconds;
    double slots = fewest_slots;
    if (fastest > slowest) slots = std::clamp(most_messages / at_once, fewest_slots, most_slots);
    const double messages = std::ranges::max(sending) / forest_.seconds;  // that a rank sends at once
    const double each = alpha * messages + 2 * latency;  // of a slot: the token that ends it has the way of a message
    if (each > 0) slots = std::min(slots, std::sqrt(deepest_ * forest_.seconds / each));
    const std::uint32_t per_message = parts_of_slowest(pairs_, &Pair::speed);
    double all = 0, longest = 0;
    for (std::size_t tree = 0; tree < edges_.size(); ++tree) all += forest_.trees[tree].bytes() * edges_[tree];
    const double wanted = slowest * forest_.seconds / std::max(slots, 1.0) / per_message;
    const double grain = std::max({wanted, smallest_message / per_message, all / most_grain_sends});
    for (std::size_t tree = 0; tree < grains_.size(); ++tree) {
      const double bytes = forest_.trees[tree].bytes();
      grains_[tree] = static_cast<std::uint32_t>(std::max(1.0, std::ceil(bytes / grain * (1 - 1e-9))));
      longest = std::max(longest, bytes / grains_[tree]);
    }
    slot_ = per_message * longest / slowest;
    for (Pair& pair : pairs_)
      pair.at_once = static_cast<std::uint32_t>(std::max(1.0, std::floor(pair.speed * slot_ / longest * (1 + 1e-9))));
  }

  /// Sends what has room; returns the number of grains.
  std::uint64_t fill_slot(Steps& steps) {
    ready_.clear();
    for (std::uint32_t number = 0; number < pairs_.size(); ++number) {
      const Pair& pair = pairs_[number];
      std::uint32_t grains = 0, way = 0;
      for (const Pair::Use& use : pair.uses) {
        const std::uint32_t more = waiting(pair, use);
        if (more > 0) way = std::max(way, way_left(pair, use));
        grains = std::min(pair.at_once, grains + more);
      }
      if (grains == 0) continue;
      double busiest = 0;
      for (const Channel channel : route(pair)) busiest = std::max(busiest, left_[channel]);
      ready_.push_back({static_cast<std::uint32_t>(busiest / slot_ + 0.5), grains, way, number});
    }
    std::ranges::sort(ready_, [](const Ready& x, const Ready& y) {
      if (x.urgency != y.urgency) return x.urgency > y.urgency;
      if (x.grains != y.grains) return x.grains > y.grains;
      return x.way != y.way ? x.way > y.way : x.pair < y.pair;
    });
    std::ranges::fill(used_, 0.0);
    arrivals_.clear();
    std::uint64_t sent = 0;
    for (const Ready& ready : ready_) {
      const Pair& pair = pairs_[ready.pair];
      const auto full = [&](Channel channel) {
        return used_[channel] + pair.speed / network_.rate(channel) > 1 + 1e-9;
      };
      if (std::ranges::any_of(route(pair), full)) continue;
      for (const Channel channel : route(pair)) used_[channel] += pair.speed / network_.rate(channel);
      sent += send(pair);
    }
    for (const auto& [tree, host, grains] : arrivals_) {
      have_[at(tree, host)] += grains;
      for (std::uint32_t grain = 0; grain < grains; ++grain) steps.tick();
    }
    return sent;
  }

  [[nodiscard]] std::uint32_t waiting(const Pair& pair, const Pair::Use& use) const {
    return have_[at(use.tree, pair.from)] - have_[at(use.tree, pair.to)];
  }
  [[nodiscard]] std::uint32_t way_left(const Pair& pair, const Pair::Use& use) const {
    return grains_[use.tree] - have_[at(use.tree, pair.to)] + use.height;
  }

  std::uint64_t send(const Pair& pair) {
    waiting_.clear();
    for (const Pair::Use& use : pair.uses)
      if (const std::uint32_t grains = waiting(pair, use); grains > 0)
        waiting_.push_back({way_left(pair, use), use.tree, grains});
    std::ranges::sort(
        waiting_, [](const Waiting& x, const Waiting& y) { return x.way != y.way ? x.way > y.way : x.tree < y.tree; });
    std::uint32_t room = pair.at_once;
    std::uint64_t bytes = 0;
    for (const Waiting& next : waiting_) {
      if (room == 0) break;
      const std::uint32_t grains = std::min(room, next.grains), first = have_[at(next.tree, pair.to)];
      const Piece piece = piece_of(next.tree, first, first + grains);
      writer_.add(piece);
      if (demand_.by_blocks() && network_.spec().ranks[network_.hosts()[pair.to]] > 1) news_[pair.to].push_back(piece);
      bytes += piece.length;
      arrivals_.push_back({next.tree, pair.to, grains});
      room -= grains;
    }
    writer_.send_list({pair.src, entry(pair.to)}, writer_.end_list());
    for (const Channel channel : route(pair)) left_[channel] -= static_cast<double>(bytes) / network_.rate(channel);
    return pair.at_once - room;
  }

  [[nodiscard]] Piece piece_of(std::uint32_t number, std::uint64_t first, std::uint64_t end) const {
    const HostTree& tree = forest_.trees[number];
    const auto place = [&](std::uint64_t grain) { return part_begin(tree.end - tree.begin, grain, grains_[number]); };
    return {tree.origin, tree.target, tree.begin + place(first), place(end) - place(first)};
  }

  /// Copies what a rank contributes to the others of its host.
  void copy_own() {
    for (Rank rank = 0; rank < demand_.ranks; ++rank) {
      const Node host = network_.host_of(rank);
      if (demand_.contribution(rank) == 0 || network_.spec().ranks[host] == 1) continue;
      writer_.add({rank, everyone, 0, demand_.contribution(rank)});
      copy(rank, host);
    }
  }
  /// Copies what has come in the slot before to the others of its host.
  void copy_news() {
    for (std::uint32_t host = 0; host < news_.size(); ++host) {
      if (news_[host].empty()) continue;
      for (const Piece& piece : news_[host]) writer_.add(piece);
      news_[host].clear();
      copy(entry(host), network_.hosts()[host]);
    }
  }
  void copy(Rank src, Node host) {
    const std::uint32_t list = writer_.end_list();
    for (const Rank dst : network_.ranks_of(host))
      if (dst != src) writer_.send_list({src, dst}, list);
  }

  struct Arrival {
    std::uint32_t tree, host, grains;
  };

  const Network& network_;
  const Demand& demand_;
  const HostRoutes& routes_;
  const Forest& forest_;
  std::vector<Pair> pairs_;
  std::vector<std::uint32_t> pair_of_;         ///< per rank and host
  std::vector<std::uint32_t> edges_, grains_;  ///< per tree
  std::vector<std::uint32_t> have_;            ///< per tree and host: grains that it has, the first ones
  std::vector<double> left_, used_;       ///< per channel: seconds of work left; the part of it in use in this slot
  std::vector<std::vector<Piece>> news_;  ///< per host of several ranks: what came in the slot
  double slot_ = 1;                       ///< seconds
  std::uint32_t deepest_ = 1;
  std::vector<Ready> ready_;
  std::vector<Waiting> waiting_;
  std::vector<Arrival> arrivals_;
  PhaseWriter writer_{demand_};
};

}  // namespace

Forest loaded(const Network& network, const HostRoutes& routes, std::vector<HostTree> trees) {
  Forest forest{std::move(trees), std::vector<double>(network.channels(), 0)};
  for (const HostTree& tree : forest.trees)
    for (std::uint32_t host = 0; host < routes.hosts(); ++host) {
      if (tree.parent[host] == HostTree::none) continue;
      for (const Channel channel : routes.between(tree.parent[host], host))
        forest.load[channel] += tree.bytes() / network.rate(channel);
    }
  if (!forest.load.empty()) forest.seconds = *std::ranges::max_element(forest.load);
  return forest;
}

Schedule send_in_slots(const Network& network, const Demand& demand, const HostRoutes& routes, const Forest& forest,
                       const AlgorithmOptions& costs) {
  return Slots(network, demand, routes, forest, costs.alpha).run();
}

}  // namespace hocket::algorithms
