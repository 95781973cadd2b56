#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

#include "core/error.hpp"
#include "core/progress/progress.hpp"
#include "core/schedule/bounds.hpp"

namespace hocket {
namespace {

constexpr std::uint64_t most_looks = 40'000'000;  // channels looked at by all searches of cheapest ways
constexpr std::uint64_t most_work = 200'000'000;  // by the first, which is always made: some seconds
constexpr std::uint64_t most_steps = 2000;
constexpr double rate_of_learning = 0.03;
constexpr double close_enough = 1e-3;

/// The network without hosts that have one link to a switch: what these send is the switch's. Messages of a node are
/// counted in pairs of ranks.
class Core {
 public:
  explicit Core(const Network& network) : network_(network), at_(network.nodes()), ranks_(network.nodes(), 0) {
    const NetworkSpec& spec = network.spec();
    const Grouped leaving = leaving_channels(spec);
    const bool hosts_forward = network.shape() != Shape::graph && network.shape() != Shape::tree;
    std::iota(at_.begin(), at_.end(), Node{0});
    for (const Node host : network.hosts()) {
      const auto own = leaving.of(host);
      if (own.size() == 1 && !hosts_forward && !network.is_host(head(own.front()))) {
        at_[host] = head(own.front());
        leaves_.push_back(own.front());
      }
      ranks_[at_[host]] += spec.ranks[host];
    }
    for (Node node = 0; node < network.nodes(); ++node) {
      for (const Channel channel : leaving.of(node))
        if (at_[node] == node && at_[head(channel)] == head(channel)) channels_.items.push_back(channel);
      channels_.end_list();
      forwards_.push_back(hosts_forward || !network.is_host(node) ||
                          (!spec.forwards.empty() && spec.forwards[node] != 0));
      if (ranks_[node] > 0) sources_.push_back(node);
    }
  }

  [[nodiscard]] Node tail(Channel channel) const { return network_.spec().tail(channel); }
  [[nodiscard]] Node head(Channel channel) const { return network_.spec().head(channel); }
  /// The channels between nodes that are left.
  [[nodiscard]] const std::vector<Channel>& channels() const { return channels_.items; }
  /// The first channels of the hosts that are left out.
  [[nodiscard]] const std::vector<Channel>& leaves() const { return leaves_; }
  /// Pairs of ranks whose messages begin at this host, all ending elsewhere.
  [[nodiscard]] double pairs(Node host) const {
    const double own = network_.spec().ranks[host];
    return own * (network_.ranks() - own);
  }
  /// Channels that one search of all cheapest ways looks at.
  [[nodiscard]] std::uint64_t work() const { return std::uint64_t{sources_.size()} * channels_.items.size(); }

  /// The sum that all pairs of ranks pay on the cheapest ways between the nodes that are left. `load`: if not null,
  /// what crosses each channel is added, messages divided equally where several ways are the cheapest.
  double cheapest(std::span<const double> prices, std::vector<double>* load) {
    double paid = 0;
    for (const Node source : sources_) paid += from(source, prices, load);
    return paid;
  }

 private:
  double from(Node source, std::span<const double> prices, std::vector<double>* load) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    distance_.assign(network_.nodes(), infinite);
    settled_.assign(network_.nodes(), 0);
    order_.clear();
    distance_[source] = 0;
    queue_.emplace(0, source);
    while (!queue_.empty()) {
      const auto [distance, node] = queue_.top();
      queue_.pop();
      if (std::exchange(settled_[node], 1) != 0) continue;
      order_.push_back(node);
      if (node != source && !forwards_[node]) continue;
      for (const Channel channel : channels_.of(node)) {
        const Node to = head(channel);
        const double other = distance + prices[channel];
        if (other >= distance_[to]) continue;
        distance_[to] = other;
        queue_.emplace(other, to);
      }
    }
    double paid = 0;
    const double own = ranks_[source];
    for (const Node node : order_) paid += own * ranks_[node] * distance_[node];
    if (load != nullptr) add_load(source, prices, *load);
    return paid;
  }

  /// From the farthest node back: what ends in it and what passes it came over the channels that are on cheapest ways.
  void add_load(Node source, std::span<const double> prices, std::vector<double>& load) {
    flow_.assign(network_.nodes(), 0);
    for (const Node node : order_) flow_[node] = ranks_[source] * ranks_[node];
    flow_[source] = 0;
    for (std::size_t at = order_.size(); at-- > 1;) {
      const Node node = order_[at];
      if (flow_[node] == 0) continue;
      tight_.clear();
      for (const Channel out : channels_.of(node)) {
        const Channel in = out ^ 1;
        const Node before = tail(in);
        if (before != source && !forwards_[before]) continue;
        if (distance_[before] < distance_[node] && distance_[before] + prices[in] <= distance_[node] * (1 + 1e-12))
          tight_.push_back(in);
      }
      for (const Channel in : tight_) {
        const double share = flow_[node] / static_cast<double>(tight_.size());
        load[in] += share;
        flow_[tail(in)] += share;
      }
    }
  }

  const Network& network_;
  std::vector<Node> at_;       ///< per node: itself, or the switch of a host that is left out
  std::vector<double> ranks_;  ///< per node that is left
  std::vector<Channel> leaves_;
  Lists<Channel> channels_;  ///< per node: those that leave it
  std::vector<char> forwards_, settled_;
  std::vector<Node> sources_, order_;
  std::vector<double> distance_, flow_;
  std::vector<Channel> tight_;
  using Reached = std::pair<double, Node>;
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> queue_;
};

void check_served(const Network& network, const Demand& demand) {
  if (demand.pattern != Pattern::all_to_all) throw InputError("a bound for all routes is known of an all-to-all only");
  if (demand.ranks != network.ranks()) throw InputError("demand and network differ in the number of ranks");
  if (network.shape() == Shape::routed) throw InputError("where only routes are known there are no others");
}

}  // namespace

double priced_seconds(const Network& network, const Demand& demand, std::span<const double> prices) {
  check_served(network, demand);
  if (prices.size() != network.channels())
    throw InputError("there are " + std::to_string(prices.size()) + " prices for " +
                     std::to_string(network.channels()) + " channels");
  double earned = 0;
  for (Channel channel = 0; channel < network.channels(); ++channel) {
    if (!std::isfinite(prices[channel]) || prices[channel] < 0)
      throw InputError("the price of " + network.channel_name(channel) + " is no number of at least 0");
    earned += prices[channel] * network.rate(channel);
  }
  if (!(earned > 0) || !std::isfinite(earned)) throw InputError("the prices of all channels are 0, or too high");
  Core core(network);
  double paid = core.cheapest(prices, nullptr);
  for (const Channel out : core.leaves()) paid += core.pairs(core.tail(out)) * (prices[out] + prices[out ^ 1]);
  return paid * static_cast<double>(demand.bytes) / earned;
}

std::optional<FreeRoutesBound> price_channels(const Network& network, const Demand& demand) {
  check_served(network, demand);
  FreeRoutesBound best{0, std::vector<double>(network.channels(), 0), false};
  if (network.channels() == 0) return best;
  Core core(network);
  if (core.work() > most_work) return std::nullopt;
  const auto bytes = static_cast<double>(demand.bytes);
  Channel slowest = 0;  // of the hosts' own: its price alone is a certificate
  for (const Channel out : core.leaves()) {
    const double seconds = core.pairs(core.tail(out)) * bytes / network.rate(out);
    if (seconds > best.seconds) best.seconds = seconds, slowest = out;
  }
  if (best.seconds > 0) best.prices[slowest] = 1;

  // A game: the times of channels count by their prices, and messages take the ways that are cheapest. Prices grow with
  // the times of all steps so far, the last one counted twice.
  const std::vector<double> zeros(network.channels(), 0);
  std::vector<double> sum(zeros), last(zeros), prices(zeros), load(zeros), mean(zeros), average(zeros);
  const auto consider = [&](std::vector<double>& by, std::vector<double>* loads) {
    double earned = 0;
    for (const Channel channel : core.channels()) earned += by[channel] * network.rate(channel);
    for (const Channel channel : core.channels()) by[channel] /= earned;
    const double seconds = core.cheapest(by, loads) * bytes;
    if (seconds > best.seconds) best.seconds = seconds, best.prices = by;
  };
  const std::uint64_t most = most_looks / std::max<std::uint64_t>(core.work(), 1);
  const std::uint64_t steps = core.channels().empty() ? 0 : std::clamp<std::uint64_t>(most, 1, most_steps);
  Steps progress("pricing channels", steps);
  for (std::uint64_t step = 1; step <= steps && !best.exact; ++step) {
    const double highest = std::ranges::max(sum);
    for (const Channel channel : core.channels()) prices[channel] = std::exp(sum[channel] - highest);
    std::ranges::fill(load, 0);
    consider(prices, &load);
    double longest = 0;
    for (const Channel channel : core.channels()) {
      const double time = load[channel] * bytes / network.rate(channel);
      mean[channel] += time;
      average[channel] += prices[channel];
      longest = std::max(longest, mean[channel] / static_cast<double>(step));
      const double gain = rate_of_learning * time / best.seconds;
      sum[channel] += 2 * gain - std::exchange(last[channel], gain);
    }
    best.exact = longest <= best.seconds * (1 + close_enough);
    progress.tick();
  }
  if (steps > 1 && !best.exact) consider(average, nullptr);
  return best;
}

std::optional<FreeRoutesBound> free_routes(const Network& network, const Demand& demand, const Bounds& bounds) {
  if (network.shape() == Shape::routed || network.channels() == 0) return {};
  if (network.tree() == nullptr) return price_channels(network, demand);
  FreeRoutesBound only{bounds.seconds, std::vector<double>(network.channels(), 0), true, "one path"};
  only.prices[bounds.bottleneck] = 1;
  return only;
}

TrueBounds true_bounds(const Network& network, const Demand& demand, bool direct) {
  const NetworkSpec& spec = network.spec();
  const Bounds bounds = lower_bounds(network, demand);
  TrueBounds found;
  if (network.host_rate() > 0) found.message_seconds = static_cast<double>(demand.bytes) / network.host_rate();
  bool slower = false;
  for (Channel c = 0; c < network.channels(); ++c) slower = slower || network.rate(c) < network.host_rate();
  found.in_phases = direct && (network.equal_rates() || !slower);
  const auto of_routes = [&](const Network& routed, const Bounds& of) -> TrueBound {
    if (!found.in_phases) return {of.seconds, found.message_seconds > 0 ? of.seconds / found.message_seconds : 0};
    std::uint64_t most = 0;
    for (Channel c = 0; c < of.load.size(); ++c)
      most = std::max(most, (of.load[c] + routed.capacity(c) - 1) / routed.capacity(c));
    return {of.seconds, static_cast<double>(most)};
  };
  double leaving = 0;  // messages, one after the other at each port
  for (const Node host : network.hosts()) {
    const double ports = spec.ports.empty() ? 1 : spec.ports[host];
    leaving = std::max(leaving, (network.ranks() - spec.ranks[host]) / ports);
    found.ports.phases = std::max(found.ports.phases, std::ceil((network.ranks() - 1) / ports));
  }
  found.ports.seconds = leaving * found.message_seconds;
  if (!found.in_phases) found.ports.phases = leaving;
  found.installed_routes = of_routes(network, bounds);
  found.free_routes = free_routes(network, demand, bounds);
  if (spec.next_hops.empty() && spec.shape != Shape::torus) return found;
  try {
    const Network other = balance_routes(network, demand);
    const Bounds balanced = lower_bounds(other, demand);
    if (balanced.seconds < bounds.seconds) found.balanced_routes = of_routes(other, balanced);
  } catch (const InputError&) {
    found.balanced_routes.reset();  // too large to be balanced
  }
  return found;
}

}  // namespace hocket
