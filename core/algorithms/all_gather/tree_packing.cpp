/// "tree-packing": all-gather on any network down trees that load all channels alike, whatever their capacities.
///
/// On hosts whose links are as fast as all links of their switch, one message a host leaves most links idle, and a ring
/// passes the slowest one. Many trees for every contribution use all of them, as ForestColl does (Zhao et al., 2024).
#include "core/algorithms/all_gather/tree_packing.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/random.hpp"

namespace hocket::algorithms {

namespace {

constexpr double fewest_units = 72;  // trees that the slowest channel carries: one more costs 1.4 %

constexpr double smallest_tree = 1024;  // bytes: less is all header

constexpr double small_rest = 0.005;  // of a channel that a whole number of trees leaves idle

constexpr std::uint32_t most_parts_tried = 24;

constexpr double most_packing_work = 1e8, most_swept = 5e7;  // routes looked at: about a second; of one sweep, channels

constexpr int most_vain_sweeps = 40;

constexpr double bound_met = 1.001;  // times the bound

constexpr double price_of_depth = 0.1;  // of the price, a level: deep trees fill late

class Packer {
 public:
  Packer(const Network& network, const HostRoutes& routes, std::vector<HostTree>& trees, double goal,
         std::uint64_t seed)
      : routes_(routes),
        trees_(trees),
        random_(seed),
        prices_(network, goal),
        order_(routes.hosts()),
        depth_(routes.hosts()),
        below_(routes.hosts(), 0),
        children_(routes.hosts()),
        turn_(routes.hosts(), 0) {
    std::iota(order_.begin(), order_.end(), 0U);
  }

  void run() {
    for (HostTree& tree : trees_) grow(tree);
    std::vector<HostTree> best = trees_;
    double least = prices_.most_load();
    int in_vain = 0;
    for (int sweep = 0; least > bound_met && in_vain < most_vain_sweeps && work_ < most_packing_work; ++sweep) {
      prices_.set_steepness(std::min(4 + sweep / 4, 8));
      for (HostTree& tree : trees_) improve(tree);
      const double most = prices_.most_load();
      in_vain = most < least ? 0 : in_vain + 1;
      if (in_vain > 0) continue;
      least = most;
      best = trees_;
    }
    trees_ = std::move(best);
  }

 private:
  [[nodiscard]] double price(std::uint32_t from, std::uint32_t to) const {
    return prices_.of(routes_.between(from, to)) * (1 + price_of_depth * depth_[from]);
  }

  /// The cheapest parent among the hosts that `may` allows; of equal ones any.
  template <class May>
  std::uint32_t cheapest(std::uint32_t host, May may) {
    std::uint32_t best = host, equal = 0;
    double least = std::numeric_limits<double>::infinity();
    for (const std::uint32_t from : routes_.sources(host)) {
      if (!may(from)) continue;
      const double sum = price(from, host);
      if (sum > least * (1 + 1e-9)) continue;
      if (sum < least * (1 - 1e-9)) equal = 0;
      least = std::min(least, sum);
      if (random_.below(++equal) == 0) best = from;
    }
    return best;
  }

  /// The nearest host first, by price.
  void grow(HostTree& tree) {
    prices_.set_part(tree.bytes());
    const std::uint32_t hosts = routes_.hosts();
    std::vector<double> near(hosts, std::numeric_limits<double>::infinity());
    std::vector<char> grown(hosts, 0);
    tree.parent.assign(hosts, tree.root);
    random_.shuffle(std::span(order_));
    depth_[tree.root] = 0;
    for (std::uint32_t last = tree.root, count = 1;; ++count) {
      grown[last] = 1;
      if (count == hosts) return;
      std::uint32_t next = last;
      double least = std::numeric_limits<double>::infinity();
      for (const std::uint32_t host : order_) {
        if (grown[host] != 0) continue;
        if (!routes_.between(last, host).empty()) near[host] = std::min(near[host], price(last, host));
        if (near[host] < least) least = near[host], next = host;
      }
      const std::uint32_t from = cheapest(next, [&](std::uint32_t host) { return grown[host] != 0; });
      tree.parent[next] = from;
      depth_[next] = depth_[from] + 1;
      prices_.put(routes_.between(from, next));
      last = next;
    }
  }

  /// Takes off what hangs below each host in turn, and hangs it up again where it is cheapest: by any of its hosts,
  /// which then passes on to the one by which it hung before.
  void improve(HostTree& tree) {
    prices_.set_part(tree.bytes());
    for (auto& children : children_) children.clear();
    for (std::uint32_t host = 0; host < routes_.hosts(); ++host)
      if (host != tree.root) children_[tree.parent[host]].push_back(host);
    depth_[tree.root] = 0;
    find_below(tree.root);
    random_.shuffle(std::span(order_));
    for (const std::uint32_t host : order_) {
      if (host == tree.root) continue;
      prices_.take(routes_.between(tree.parent[host], host));
      find_below(host);
      const Place place = cheapest_place();
      hang(tree, host, place);
      depth_[place.to] = depth_[place.from] + 1;
      find_below(place.to);
    }
  }

  struct Place {
    std::uint32_t from, to;
  };

  Place cheapest_place() {
    Place best{};
    std::uint32_t equal = 0;
    double least = std::numeric_limits<double>::infinity();
    for (const std::uint32_t to : found_) {
      if (turn_[to] == std::numeric_limits<double>::infinity()) continue;
      work_ += static_cast<double>(routes_.sources(to).size());
      for (const std::uint32_t from : routes_.sources(to)) {
        if (below_[from] == round_) continue;
        const double sum = price(from, to) + turn_[to];
        const double rounding = 1e-9 * std::abs(least);
        if (sum > least + rounding) continue;
        if (sum < least - rounding) equal = 0;
        least = std::min(least, sum);
        if (random_.below(++equal) == 0) best = {from, to};
      }
    }
    return best;
  }

  /// The way from `host` down to `place.to` turns round.
  void hang(HostTree& tree, std::uint32_t host, Place place) {
    std::erase(children_[tree.parent[host]], host);
    std::uint32_t from = place.from;
    for (std::uint32_t at = place.to;;) {
      const std::uint32_t up = tree.parent[at];
      prices_.put(routes_.between(from, at));
      children_[from].push_back(at);
      tree.parent[at] = from;
      if (at == host) return;
      prices_.take(routes_.between(up, at));
      std::erase(children_[up], at);
      from = std::exchange(at, up);
    }
  }

  /// Marks a host and all below it with a new round, and finds their depths, and what it costs to turn round the way to
  /// each of them.
  void find_below(std::uint32_t host) {
    ++round_;
    found_.assign(1, host);
    turn_[host] = 0;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const std::uint32_t at = found_[i];
      below_[at] = round_;
      for (const std::uint32_t child : children_[at]) {
        depth_[child] = depth_[at] + 1;
        const auto back = routes_.between(child, at);
        turn_[child] = back.empty() ? std::numeric_limits<double>::infinity()
                                    : turn_[at] + prices_.of(back) - prices_.refund(routes_.between(at, child));
        found_.push_back(child);
      }
    }
  }

  const HostRoutes& routes_;
  std::vector<HostTree>& trees_;
  Random random_;
  ChannelPrices prices_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> depth_, below_;  ///< per host, of the tree at hand
  std::uint32_t round_ = 0;
  std::vector<std::vector<std::uint32_t>> children_;
  std::vector<std::uint32_t> found_;  ///< below a host, nearest first
  std::vector<double> turn_;          ///< per host
  double work_ = 0;                   ///< routes looked at
};

/// Parts of the largest contribution: of few that leave no channel partly idle, so many that one tree more on a channel
/// costs little.
std::uint64_t parts_of_largest(const Network& network, const HostRoutes& routes, double contributors, double largest,
                               double bound, double fewest) {
  std::vector<double> rates;
  for (Channel channel = 0; channel < network.channels(); ++channel) rates.push_back(network.rate(channel));
  std::ranges::sort(rates);
  rates.erase(std::ranges::unique(rates).begin(), rates.end());
  std::uint32_t best = 1;
  double least = 2;
  for (std::uint32_t parts = 1; parts <= most_parts_tried && least > small_rest; ++parts) {
    double loss = 0;
    for (const double rate : rates) {
      const double units = rate * bound * parts / largest;
      if (units * most_parts_tried < parts) continue;  // slower than all need
      loss = std::max(loss, 1 - std::floor(units * (1 + 1e-6)) / units);
    }
    if (loss < least) least = loss, best = parts;
  }
  const double units = std::max(rates.front() * bound * best / largest, 1e-3);
  const double wanted = best * std::ceil(fewest / units);
  const double affordable = most_swept / (contributors * static_cast<double>(routes.length()));
  return static_cast<std::uint64_t>(
      std::max(1.0, std::min({wanted, affordable, largest / smallest_tree, 8 * fewest_units})));
}

/// A tree without parents yet for each part of a contribution; `most`: parts of the largest one.
std::vector<HostTree> cut(const Network& network, const Demand& demand, const HostRoutes& routes, double largest,
                          std::uint64_t most) {
  std::vector<HostTree> trees;
  for (std::uint32_t root = 0; root < routes.hosts(); ++root) {
    const Node host = network.hosts()[root];
    for (std::uint32_t i = 0; i < network.spec().ranks[host]; ++i) {
      const Rank origin = network.first_rank(host) + i;
      const std::uint64_t bytes = demand.contribution(origin);
      if (bytes == 0) continue;
      const double share = static_cast<double>(bytes) / largest;
      const auto parts = std::max<std::uint64_t>(1, std::llround(static_cast<double>(most) * share));
      for (std::uint64_t part = 0; part < parts; ++part)
        trees.push_back({origin, everyone, root, part_begin(bytes, part, parts), part_begin(bytes, part + 1, parts)});
    }
  }
  return trees;
}

/// Packs trees for all contributions, several for each, over the routes that there are, towards the bound of the
/// narrowest cut. Trees grow by the prices of channels, which rise steeply with their load, and then hosts change their
/// parents as long as prices fall. By Edmonds's theorem the bound itself is met by trees that pack the capacities
/// (Zhao et al., "ForestColl", 2024); prices find nearly as good ones over given routes, with any capacities.
[[nodiscard]] Forest pack_trees(const Network& network, const Demand& demand, const HostRoutes& routes,
                                std::uint64_t seed) {
  double largest = 0, contributors = 0;
  for (Rank rank = 0; rank < demand.ranks; ++rank) {
    const auto bytes = static_cast<double>(demand.contribution(rank));
    largest = std::max(largest, bytes);
    contributors += bytes > 0;
  }
  const double bound = lower_bounds(network, demand).seconds;
  if (routes.hosts() < 2 || bound <= 0) return loaded(network, routes, {});
  if (contributors == 1) {
    std::vector<HostTree> trees =
        cut(network, demand, routes, largest, parts_of_largest(network, routes, 1, largest, bound, 1));
    if (pack_exactly(network, routes, trees, bound)) return loaded(network, routes, std::move(trees));
  }
  std::vector<HostTree> trees = cut(network, demand, routes, largest,
                                    parts_of_largest(network, routes, contributors, largest, bound, fewest_units));
  Packer(network, routes, trees, bound, seed).run();
  return loaded(network, routes, std::move(trees));
}

}  // namespace

static constexpr std::uint32_t most_tree_ranks = 256;  // a second or a few on one core

static std::string_view tree_packing_refuses(const Network& network, const Demand& demand) {
  if (network.tree() != nullptr) return "between two hosts of a tree there is one way";
  return demand.ranks <= most_tree_ranks ? "" : "more than 256 ranks: it would take long";
}

static Schedule make_tree_packing(const Network& network, const Demand& demand, const AlgorithmOptions& costs) {
  const HostRoutes routes(network);
  return send_in_slots(network, demand, routes, pack_trees(network, demand, routes, costs.seed), costs);
}

/// Where all links are alike, rails and the algorithms of grids, whose ranks have few partners, are tried first.
static bool tree_packing_is_far(const Network& network, const Demand&, const Bounds&) { return network.equal_rates(); }

constinit const Algorithm tree_packing{
    .pattern = Pattern::all_gather,
    .name = "tree-packing",
    .summary = "grains down many trees that load all channels alike",
    .source = "own; trees as in ForestColl (Zhao et al.)",
    .contention_free = true,
    .ports = PortModel::all_port,
    .refuses = tree_packing_refuses,
    .make = make_tree_packing,
    .rank = 5,
    .is_far = tree_packing_is_far,
    .even_phases = true,
};

}  // namespace hocket::algorithms
