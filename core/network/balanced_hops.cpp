#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <random>

#include "core/network/alternatives.hpp"

namespace hocket {
namespace {

constexpr Channel none = NextHops::none;
/// Channels looked at while moves are tried: about half a second.
constexpr std::uint64_t most_looks = 80'000'000;
constexpr std::uint64_t most_moves = 20'000'000;  // of one sweep
constexpr int most_rounds = 100;
/// Changes of the sum of powers that count, and those made at random, where the longest time is 1.
constexpr double tolerance = 1e-9, shaking = 0.02;
/// Times less that ways longer than the shortest must bring.
constexpr double worth = 1.02;

/// Per destination host, every node's next channel on a shortest path (fewest channels). Among equally
/// short ones that which carries least of an all-to-all so far, starting with another one for each
/// destination, so that the load spreads.
NextHops shortest_next_hops(const NetworkSpec& spec) {
  NextHops hops(spec);
  ShortestPaths paths(spec);
  std::vector<double> load(2 * spec.links.size(), 0);  // seconds per byte that everyone sends to everyone
  std::vector<std::uint64_t> senders(spec.names.size());
  for (std::uint32_t i = 0; i < hops.hosts().size(); ++i) {
    const Node dst = hops.hosts()[i];
    paths.find(dst);
    for (const Node host : hops.hosts())
      if (!paths.reaches(host))
        throw NetworkProblem("'" + spec.names[host] + "' is not connected to '" + spec.names[dst] + "'", host);
    // From the farthest node on, so that all that pass a node are known when its way is chosen.
    senders.assign(spec.ranks.begin(), spec.ranks.end());
    const std::vector<Node>& nodes = paths.nearest_first();
    for (std::size_t at = nodes.size(); at-- > 1;) {
      const Node node = nodes[at];
      const std::vector<Channel>& best = paths.best(node);
      Channel chosen = best[i % best.size()];
      for (std::size_t k = 1; k < best.size(); ++k)
        if (const Channel other = best[(i + k) % best.size()]; load[other] < load[chosen]) chosen = other;
      hops.set(node, dst, chosen);
      load[chosen] += static_cast<double>(senders[node]) * spec.ranks[dst] / spec.links[chosen / 2].rate;
      senders[paths.head(chosen)] += senders[node];
    }
  }
  return hops;
}

/// Moves of next hops. A host with one link has no choice, and what it receives is the same whatever the routes: only
/// nodes with several links are looked at.
class HopBalance {
 public:
  HopBalance(const NetworkSpec& spec, NextHops& hops) : spec_(spec), hops_(hops), leaving_(leaving_channels(spec)) {
    for (Node node = 0; node < spec.names.size(); ++node)
      if (leaving_.of(node).size() > 1) choosers_.push_back(node);
    flow_.assign(hops.hosts().size() * spec.names.size(), 0);
    load_.assign(2 * spec.links.size(), 0);
    mark_.assign(spec.names.size(), 0);
    grown_.assign(spec.names.size(), {none, 0});
    own_.assign(spec.ranks.begin(), spec.ranks.end());
    for (Node node = 0; node < spec.names.size(); ++node)
      if (leaving_.of(node).size() == 1) own_[hops.head(leaving_.of(node).front())] += spec.ranks[node];
    double fastest = 0;
    for (const LinkSpec& link : spec.links) fastest = std::max(fastest, link.rate);
    for (const LinkSpec& link : spec.links) weight_.insert(weight_.end(), 2, fastest / link.rate);
    count_flows();
  }

  void run() {
    improve(false);
    const double shortest = switches_peak();
    if (shortest <= worth * hosts_peak_) return;
    NextHops kept = hops_;
    improve(true);
    if (switches_peak() * worth > shortest) hops_ = std::move(kept);
  }

 private:
  struct Found {
    double peak;
    NextHops hops;
    std::vector<std::uint64_t> flow, load;
  };

  [[nodiscard]] std::uint64_t& flow(std::size_t i, Node node) { return flow_[i * spec_.names.size() + node]; }
  /// True of hosts that do not forward.
  [[nodiscard]] bool ends(Node node) const {
    return spec_.ranks[node] > 0 && (spec_.forwards.empty() || spec_.forwards[node] == 0);
  }
  [[nodiscard]] Node tail(Channel channel) const { return hops_.head(channel ^ 1); }
  /// False of a step from a host aside from the link that it has to the destination: its ranks could use that link for
  /// nothing.
  [[nodiscard]] bool stays(Node from, Node to, Node dst, const ShortestPaths& paths) const {
    return to == dst || spec_.ranks[from] == 0 || paths.distance(from) > 1;
  }

  /// Counts what flows through each node, towards each host, and what each channel carries.
  void count_flows() {
    std::vector<std::uint32_t> way(spec_.names.size());  // channels to the destination
    std::vector<Node> order, walk;
    for (std::size_t i = 0; i < hops_.hosts().size(); ++i) {
      const Node dst = hops_.hosts()[i];
      order.clear();
      std::ranges::fill(way, 0);
      for (Node node = 0; node < spec_.names.size(); ++node) {
        walk.clear();
        for (Node at = node; at != dst && way[at] == 0 && hops_.get(at, dst) != none;
             at = hops_.head(hops_.get(at, dst)))
          walk.push_back(at);
        while (!walk.empty()) {
          const Node at = walk.back();
          way[at] = way[hops_.head(hops_.get(at, dst))] + 1;
          order.push_back(at);
          walk.pop_back();
        }
      }
      for (const Node node : order) flow(i, node) = std::uint64_t{spec_.ranks[node]} * spec_.ranks[dst];
      std::ranges::stable_sort(order, std::ranges::greater(), [&](Node node) { return way[node]; });
      for (const Node node : order) {
        const Channel channel = hops_.get(node, dst);
        load_[channel] += flow(i, node);
        if (hops_.head(channel) != dst) flow(i, hops_.head(channel)) += flow(i, node);
      }
    }
    double all = 0, width = 0;
    for (Channel channel = 0; channel < load_.size(); ++channel)
      if (can_change(channel)) {
        all += static_cast<double>(load_[channel]);
        width += 1 / weight_[channel];
      } else {
        hosts_peak_ = std::max(hosts_peak_, time(channel));
      }
    // No routes carry less in all than the shortest.
    enough_ = 1.005 * (width > 0 ? all / width : 0);
  }

  /// True of channels between nodes that both have several links.
  [[nodiscard]] bool can_change(Channel channel) const {
    return leaving_.of(tail(channel)).size() > 1 && leaving_.of(hops_.head(channel)).size() > 1;
  }

  [[nodiscard]] double time(Channel channel) const { return static_cast<double>(load_[channel]) * weight_[channel]; }
  /// The longest time of a channel that a move can change.
  [[nodiscard]] double switches_peak() const {
    double peak = 0;
    for (Channel channel = 0; channel < load_.size(); ++channel)
      if (can_change(channel)) peak = std::max(peak, time(channel));
    return peak;
  }

  /// Rounds of ever higher powers: the squares pull all loads together, for the highest only the most loaded channels
  /// count. Between them moves that raise the sum a little are made at random, which leads out of dead ends.
  /// `longer`: also by ways longer than the shortest.
  void improve(bool longer) {
    looks_left_ = most_looks / 2;
    std::optional<Found> best;
    for (int round = 0; round < most_rounds; ++round) {
      for (squarings_ = longer ? 3 : 1; squarings_ <= (longer ? 5 : 4); ++squarings_) settle(longer);
      const double peak = switches_peak();
      if (!best || peak < best->peak) best = Found{peak, hops_, flow_, load_};
      if (best->peak <= enough_ || looks_left_ == 0) break;
      squarings_ = longer ? 3 : 2;
      scale_ = 1 / std::max(peak, 1.0);
      (void)sweep(longer, shaking);
    }
    hops_ = std::move(best->hops);
    flow_ = std::move(best->flow);
    load_ = std::move(best->load);
  }

  /// Sweeps until nothing helps.
  void settle(bool longer) {
    constexpr int most_sweeps = 200;
    for (int sweeps = 0; sweeps < most_sweeps && looks_left_ > 0; ++sweeps) {
      scale_ = 1 / std::max(switches_peak(), 1.0);
      const bool moved = sweep(longer, 0), regrown = regrow(longer);
      if (!moved && !regrown) return;
    }
  }

  /// Lays all ways to one host after the other anew, by prices of the channels without them; true if that lowered the
  /// sum for one. One next hop after the other, from the farthest on, takes what is cheapest with all that flows there.
  bool regrow(bool longer) {
    bool moved = false;
    ShortestPaths paths(spec_);
    for (std::size_t i = 0; i < hops_.hosts().size() && looks_left_ > 0; ++i) {
      const Node dst = hops_.hosts()[i];
      const Node root = leaving_.of(dst).size() == 1 ? hops_.head(leaving_.of(dst).front()) : dst;
      if (leaving_.of(root).size() == 1) continue;
      paths.find(dst);
      double before = 0, after = 0;
      for (const Node node : choosers_) {
        const std::uint64_t flow = this->flow(i, node);
        if (node == root || flow == 0) continue;
        const Channel channel = hops_.get(node, dst);
        before += power(channel, 0) - power(channel, -static_cast<double>(flow));
        load_[channel] -= flow;
      }
      const auto serves = [&](Channel channel) {  // from its tail
        const Node from = tail(channel), to = hops_.head(channel);
        return can_change(channel) && (!ends(to) || to == root) && paths.reaches(from) && stays(from, to, dst, paths) &&
               (longer || paths.distance(to) < paths.distance(from));
      };
      price_ways(root, serves);
      for (const Node node : settled_) grown_[node] = {none, own_[node] * spec_.ranks[dst]};
      for (std::size_t at = settled_.size(); at-- > 1;) {
        const Node node = settled_[at];
        auto& [chosen, flow] = grown_[node];
        double least = 0;
        for (const Channel channel : leaving_.of(node)) {
          const Node to = hops_.head(channel);
          if (!serves(channel) || place_[to] >= at) continue;
          const double more = static_cast<double>(flow);
          const double cost = power(channel, more) - power(channel, 0) + more * price_[to];
          if (chosen == none || cost < least) chosen = channel, least = cost;
        }
        after += power(chosen, static_cast<double>(flow)) - power(chosen, 0);
        load_[chosen] += flow;
        grown_[hops_.head(chosen)].second += flow;
      }
      const bool better = after < before - tolerance;
      for (std::size_t at = 1; at < settled_.size(); ++at) {
        const auto [chosen, flow] = grown_[settled_[at]];
        if (!better) load_[chosen] -= flow;
      }
      if (!better) {
        for (const Node node : choosers_)
          if (node != root) load_[hops_.get(node, dst) == none ? 0 : hops_.get(node, dst)] += this->flow(i, node);
        continue;
      }
      for (std::size_t at = 1; at < settled_.size(); ++at) {
        const auto [chosen, flow] = grown_[settled_[at]];
        hops_.set(settled_[at], dst, chosen);
        this->flow(i, settled_[at]) = flow;
      }
      moved = true;
    }
    return moved;
  }

  /// The price of a message's cheapest way to the root, per node: what a message more adds to the sum on each channel.
  void price_ways(Node root, auto serves) {
    price_.assign(spec_.names.size(), std::numeric_limits<double>::infinity());
    place_.assign(spec_.names.size(), ~std::size_t{0});
    settled_.clear();
    price_[root] = 0;
    queue_.emplace(0, root);
    while (!queue_.empty()) {
      const Node node = queue_.top().second;
      queue_.pop();
      if (place_[node] != ~std::size_t{0}) continue;
      place_[node] = settled_.size();
      settled_.push_back(node);
      if (ends(node) && node != root) continue;
      looks_left_ -= std::min<std::uint64_t>(looks_left_, 4 * leaving_.of(node).size());
      for (const Channel away : leaving_.of(node)) {
        const Channel channel = away ^ 1;
        const Node from = tail(channel);
        if (place_[from] != ~std::size_t{0} || !serves(channel)) continue;
        const double unit = std::max(1.0, static_cast<double>(own_[from]));
        const double price = price_[node] + (power(channel, unit) - power(channel, 0)) / unit;
        if (price < price_[from]) price_[from] = price, queue_.emplace(price, from);
      }
    }
  }

  /// Tries every move once; true if one was made. `raise`: half of the moves that raise the sum by less are made, too.
  bool sweep(bool longer, double raise) {
    bool moved = false;
    ShortestPaths paths(spec_);
    for (std::size_t i = 0; i < hops_.hosts().size() && looks_left_ > 0; ++i) {
      const Node dst = hops_.hosts()[i];
      paths.find(dst);
      for (const Node node : choosers_) {
        const std::uint64_t flow = this->flow(i, node);
        if (node == dst || flow == 0) continue;
        Channel best = none;
        double least = raise > 0 ? raise : -tolerance;
        for (const Channel channel : leaving_.of(node)) {
          const Node to = hops_.head(channel);
          if (channel == hops_.get(node, dst) || (ends(to) && to != dst) || !paths.reaches(to)) continue;
          if (!stays(node, to, dst, paths)) continue;
          if (!longer && paths.distance(to) >= paths.distance(node)) continue;
          if (!part(node, dst, channel)) continue;
          const double change = this->change(static_cast<double>(flow));
          if (change < least && (change < -tolerance || random_() % 2 == 0)) {
            least = change;
            best = channel;
          }
        }
        if (best == none) continue;
        (void)part(node, dst, best);
        move(i, node, dst, best, flow);
        moved = true;
      }
    }
    return moved;
  }

  /// The channels that a move leaves and takes, up to where both ways meet; false if the new way comes back.
  bool part(Node node, Node dst, Channel channel) {
    left_.clear();
    taken_.assign(1, channel);
    if (++stamp_ == 0) std::ranges::fill(mark_, 0), stamp_ = 1;
    for (Node at = node; at != dst; at = hops_.head(left_.back())) {
      mark_[at] = stamp_;
      left_.push_back(hops_.get(at, dst));
    }
    mark_[dst] = stamp_;
    while (mark_[hops_.head(taken_.back())] != stamp_) taken_.push_back(hops_.get(hops_.head(taken_.back()), dst));
    const Node meet = hops_.head(taken_.back());
    looks_left_ -= std::min<std::uint64_t>(looks_left_, left_.size() + taken_.size());
    if (meet == node) return false;
    while (hops_.head(left_.back()) != meet) left_.pop_back();
    return true;
  }

  void move(std::size_t i, Node node, Node dst, Channel channel, std::uint64_t flow) {
    for (const Channel old : left_) load_[old] -= flow;
    for (const Channel now : taken_) load_[now] += flow;
    for (std::size_t k = 0; k + 1 < left_.size(); ++k) this->flow(i, hops_.head(left_[k])) -= flow;
    for (std::size_t k = 0; k + 1 < taken_.size(); ++k) this->flow(i, hops_.head(taken_[k])) += flow;
    hops_.set(node, dst, channel);
  }

  /// Change of the sum of powers if so many messages move.
  [[nodiscard]] double change(double flow) const {
    double sum = 0;
    for (const Channel old : left_) sum += power(old, -flow) - power(old, 0);
    for (const Channel now : taken_) sum += power(now, flow) - power(now, 0);
    return sum;
  }
  [[nodiscard]] double power(Channel channel, double more) const {
    double value = (static_cast<double>(load_[channel]) + more) * weight_[channel] * scale_;
    for (int i = 0; i < squarings_; ++i) value *= value;
    return value;
  }

  const NetworkSpec& spec_;
  NextHops& hops_;
  Grouped leaving_;
  std::vector<Node> choosers_;       ///< nodes with several links
  std::vector<std::uint64_t> flow_;  ///< per destination host and node: messages that pass or begin there
  std::vector<std::uint64_t> load_;  ///< per channel: messages
  std::vector<double> weight_;       ///< per channel: time of a message
  std::vector<std::uint64_t> own_;   ///< per node: its ranks, and those of hosts that have a link to it alone
  std::vector<std::pair<Channel, std::uint64_t>> grown_;  ///< per node: next hop and flow of ways laid anew
  std::vector<double> price_;
  std::vector<std::size_t> place_;  ///< per node: in settled_, the cheapest first
  std::vector<Node> settled_;
  std::priority_queue<std::pair<double, Node>, std::vector<std::pair<double, Node>>, std::greater<>> queue_;
  std::vector<std::uint32_t> mark_;  ///< per node: the last walk that came there
  std::vector<Channel> left_, taken_;
  std::uint64_t looks_left_ = 0;
  double hosts_peak_ = 0;  ///< the longest time of a link of a host that has no other
  double enough_ = 0;      ///< the longest time of a channel below which nothing is looked for
  double scale_ = 1;
  std::uint32_t stamp_ = 0;
  int squarings_ = 1;
  std::mt19937_64 random_;  ///< the standard fixes its seed and its numbers: the same answer everywhere
};

}  // namespace

NextHops balanced_next_hops(const NetworkSpec& given) {
  NetworkSpec spec = given;
  std::uint32_t common = 0;  // so many times the ranks on every host are the same routes, whatever is rounded
  for (const std::uint32_t ranks : spec.ranks) common = std::gcd(common, ranks);
  for (std::uint32_t& ranks : spec.ranks) ranks /= common;
  NextHops hops = shortest_next_hops(spec);
  if (can_be_balanced(spec)) HopBalance(spec, hops).run();
  return hops;
}

bool can_be_balanced(const NetworkSpec& spec) {
  const auto hosts =
      static_cast<std::uint64_t>(std::ranges::count_if(spec.ranks, [](auto ranks) { return ranks > 0; }));
  return hosts * 2 * spec.links.size() <= most_moves;
}

}  // namespace hocket
