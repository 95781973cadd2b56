/// "tree-packing": all-gather on any network down trees that load all channels alike, whatever their capacities.
///
/// On hosts whose links are as fast as all links of their switch, one message a host leaves most links idle, and a ring
/// passes the slowest one. Many trees for every contribution use all of them, as ForestColl does (Zhao et al., 2024).
#include <algorithm>
#include <cmath>
#include <compare>
#include <functional>
#include <limits>
#include <numeric>

#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/random.hpp"
#include "core/algorithms/shared/slots.hpp"
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

/// Gives trees of equal parts and one root their parents, such that all are carried in `seconds`; false: none were
/// found so. As many as the narrowest cut carries there are by Edmonds's theorem ("Edge-disjoint branchings", 1973),
/// found by Lovász's proof of it (1976): a tree takes a route if all hosts can still be reached as often as trees are
/// to come. Where routes share channels, or turn at switches without hosts, that may miss trees that there are.
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

/// Loads are in parts of a time in which all is to be sent. A price is what one part more, of the size at hand, adds to
/// the sum of all loads to the power 2^steepness: multiplications only, so that all machines agree.
class ChannelPrices {
 public:
  /// `goal`: that time, in seconds. The network must outlive it.
  ChannelPrices(const Network& network, double goal)
      : network_(network), goal_(goal), load_(network.channels(), 0), part_(load_), price_(load_), refund_(load_) {}

  /// Steeper prices look at the busiest channels only.
  void set_steepness(int steepness) {
    if (steepness == steepness_) return;
    steepness_ = steepness;
    bytes_ = -1;
  }
  /// Prices are of parts of so many bytes from now on.
  void set_part(double bytes) {
    if (bytes == bytes_) return;
    bytes_ = bytes;
    for (Channel channel = 0; channel < load_.size(); ++channel) {
      part_[channel] = bytes / (network_.rate(channel) * goal_);
      set_price(channel);
    }
  }
  void put(std::span<const Channel> route) {
    for (const Channel channel : route) change(channel, part_[channel]);
  }
  void take(std::span<const Channel> route) {
    for (const Channel channel : route) change(channel, -part_[channel]);
  }
  [[nodiscard]] double of(std::span<const Channel> route) const { return sum(price_, route); }
  /// Saving if a part is taken off the route.
  [[nodiscard]] double refund(std::span<const Channel> route) const { return sum(refund_, route); }
  [[nodiscard]] double most_load() const { return load_.empty() ? 0 : *std::ranges::max_element(load_); }

 private:
  [[nodiscard]] static double sum(const std::vector<double>& of, std::span<const Channel> route) {
    double sum = 0;
    for (const Channel channel : route) sum += of[channel];
    return sum;
  }
  [[nodiscard]] double power(double load) const {
    for (int i = 0; i < steepness_; ++i) load *= load;
    return load;
  }
  void set_price(Channel channel) {
    const double now = power(load_[channel]);
    price_[channel] = power(load_[channel] + part_[channel]) - now;
    refund_[channel] = now - power(std::max(0.0, load_[channel] - part_[channel]));
  }
  void change(Channel channel, double by) {
    load_[channel] = std::max(0.0, load_[channel] + by);
    set_price(channel);
  }

  const Network& network_;
  double goal_, bytes_ = -1;
  int steepness_ = 4;
  std::vector<double> load_, part_, price_, refund_;  ///< per channel
};

constexpr double fewest_units = 72;     // trees that the slowest channel carries: one more costs 1.4 %
constexpr double smallest_tree = 1024;  // bytes: less is all header
constexpr double small_rest = 0.005;    // of a channel that a whole number of trees leaves idle
constexpr std::uint32_t most_parts_tried = 24;
constexpr double most_packing_work = 1e8, most_swept = 5e7;  // routes looked at: about a second; of one sweep, channels
constexpr int most_vain_sweeps = 40;
constexpr double bound_met = 1.001;     // times the bound
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
    for (const Rank origin : network.ranks_of(network.hosts()[root])) {
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
Forest pack_trees(const Network& network, const Demand& demand, const HostRoutes& routes, std::uint64_t seed) {
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
