#include "core/network/alternatives.hpp"

#include <limits>
#include <map>
#include <random>
#include <utility>

#include "core/error.hpp"

namespace hocket {

ShortestPaths::ShortestPaths(const NetworkSpec& spec)
    : spec_(spec), leaving_(leaving_channels(spec)), distance_(spec.names.size()) {
  for (std::size_t node = 0; node < spec.names.size(); ++node)
    ends_here_.push_back(spec.ranks[node] > 0 && (spec.forwards.empty() || spec.forwards[node] == 0));
}

void ShortestPaths::find(Node dst) {
  dst_ = dst;
  std::fill(distance_.begin(), distance_.end(), unreached);
  distance_[dst] = 0;
  queue_.assign(1, dst);
  for (std::size_t at = 0; at < queue_.size(); ++at) {
    const Node node = queue_[at];
    if (!forwards(node)) continue;
    for (const Channel channel : leaving_.of(node)) {
      const Node to = head(channel);
      if (!reaches(to)) distance_[to] = distance_[node] + 1, queue_.push_back(to);
    }
  }
}

const std::vector<Channel>& ShortestPaths::best(Node node) {
  best_.clear();
  for (const Channel channel : leaving_.of(node)) {
    const Node to = head(channel);
    if (forwards(to) && reaches(to) && distance_[to] + 1 == distance_[node]) best_.push_back(channel);
  }
  return best_;
}

namespace {

constexpr int most_sweeps = 100;

double fourth_power(double value) { return value * value * value * value; }

class Loads {
 public:
  explicit Loads(std::span<const double> rates) : rates_(rates), count_(rates.size(), 0) {}

  void add(const Way& way, int times) {
    for (const Channel channel : way) count_[channel] += times;
  }
  /// Growth of the sum by the way, each channel counted once.
  [[nodiscard]] double cost(const Way& way) const {
    double sum = 0;
    for (const Channel channel : way) {
      const double now = count_[channel] / rates_[channel], then = (count_[channel] + 1) / rates_[channel];
      sum += fourth_power(then * unit()) - fourth_power(now * unit());
    }
    return sum;
  }

 private:
  /// Rates are of any size: loads are in messages of the first channel's.
  [[nodiscard]] double unit() const { return rates_.front(); }

  std::span<const double> rates_;
  std::vector<double> count_;
};

}  // namespace

std::vector<Way> equal_ways(const NetworkSpec& spec, Node src, Node dst, std::size_t most) {
  ShortestPaths paths(spec);
  paths.find(dst);
  if (src == dst || !paths.reaches(src)) throw InputError("no way leads from one host to the other");
  struct Begun {
    Node at;
    Way way;
  };
  std::vector<Begun> begun{{src, {}}};
  // Level by level, as all are equally long.
  for (std::uint32_t left = paths.distance(src); left > 0; --left) {
    std::vector<Begun> longer;
    for (const Begun& one : begun)
      for (const Channel channel : paths.best(one.at)) {
        longer.push_back({paths.head(channel), one.way});
        longer.back().way.push_back(channel);
        if (longer.size() > most)
          throw InputError("more than " + std::to_string(most) + " equally short ways between two hosts");
      }
    begun = std::move(longer);
  }
  std::vector<Way> ways;
  for (Begun& one : begun) ways.push_back(std::move(one.way));
  return ways;
}

std::vector<std::uint32_t> least_load(std::span<const double> rates, const std::vector<std::vector<Way>>& items) {
  for (const auto& options : items)
    for (const Way& way : options)
      if (std::ranges::any_of(way, [&](Channel channel) { return channel >= rates.size(); }))
        throw InputError("an option has an unknown channel");
  Loads loads(rates);
  std::vector<std::uint32_t> chosen(items.size(), no_option);
  for (std::size_t item = 0; item < items.size(); ++item)
    if (!items[item].empty()) loads.add(items[item][chosen[item] = 0], 1);
  bool changed = true;
  for (int sweep = 0; changed && sweep < most_sweeps; ++sweep) {
    changed = false;
    for (std::size_t item = 0; item < items.size(); ++item) {
      const auto& options = items[item];
      if (options.size() < 2) continue;
      loads.add(options[chosen[item]], -1);
      std::uint32_t best = chosen[item];
      double least = loads.cost(options[best]);
      for (std::uint32_t option = 0; option < options.size(); ++option)
        if (const double cost = loads.cost(options[option]); cost < least * (1 - 1e-9)) least = cost, best = option;
      changed = changed || best != chosen[item];
      loads.add(options[chosen[item] = best], 1);
    }
  }
  return chosen;
}

namespace {

constexpr std::uint64_t least_wait = 10, more_wait = 10;  // moves until one may be taken back, as of Galinier and Hao

class Search {
 public:
  Search(std::size_t channels, const std::vector<std::vector<Way>>& items, std::vector<std::uint32_t> start)
      : items_(items),
        chosen_(std::move(start)),
        users_(channels),
        free_from_(items.size()),
        is_suspect_(items.size(), false) {
    for (std::uint32_t item = 0; item < items.size(); ++item) {
      free_from_[item].resize(items[item].size(), 0);
      suspect(item);
      take(item, chosen_[item]);
    }
  }

  [[nodiscard]] bool run(std::uint64_t budget) {
    for (std::uint64_t move = 0; !suspects_.empty(); ++move) {
      const auto at = static_cast<std::size_t>(random_() % suspects_.size());
      const std::uint32_t item = suspects_[at];
      if (!overlaps(item)) {
        suspects_[at] = suspects_.back();
        suspects_.pop_back();
        is_suspect_[item] = false;
        continue;
      }
      leave(item);
      const std::uint32_t option = best_other(item, move);
      free_from_[item][chosen_[item]] = move + least_wait + random_() % more_wait;
      take(item, option);
      for (const Channel channel : items_[item][option])
        if (users_[channel].size() > 1)
          std::ranges::for_each(users_[channel], [&](std::uint32_t user) { suspect(user); });
      if (looked_ > budget) return false;
    }
    return true;
  }

  [[nodiscard]] std::vector<std::uint32_t> chosen() && { return std::move(chosen_); }

 private:
  void suspect(std::uint32_t item) {
    if (!is_suspect_[item]) suspects_.push_back(item);
    is_suspect_[item] = true;
  }

  [[nodiscard]] bool overlaps(std::uint32_t item) {
    looked_ += items_[item][chosen_[item]].size();
    return std::ranges::any_of(items_[item][chosen_[item]],
                               [&](Channel channel) { return users_[channel].size() > 1; });
  }

  void take(std::uint32_t item, std::uint32_t option) {
    chosen_[item] = option;
    for (const Channel channel : items_[item][option]) {
      users_[channel].push_back(item);
      looked_ += users_[channel].size();
    }
  }

  void leave(std::uint32_t item) {
    for (const Channel channel : items_[item][chosen_[item]])
      users_[channel].erase(std::ranges::find(users_[channel], item));
  }

  /// Among equals one at random; the same one only where there is no other.
  [[nodiscard]] std::uint32_t best_other(std::uint32_t item, std::uint64_t move) {
    constexpr std::size_t held_back = std::numeric_limits<std::size_t>::max() / 2;
    std::uint32_t best = chosen_[item], equals = 0;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (std::uint32_t option = 0; option < items_[item].size(); ++option) {
      if (option == chosen_[item]) continue;
      std::size_t others = free_from_[item][option] > move ? held_back : 0;
      for (const Channel channel : items_[item][option]) others += users_[channel].size();
      looked_ += items_[item][option].size();
      if (others < least) least = others, equals = 0;
      if (others == least && random_() % ++equals == 0) best = option;
    }
    looked_ += items_[item].size();
    return best;
  }

  const std::vector<std::vector<Way>>& items_;
  std::vector<std::uint32_t> chosen_;
  std::vector<std::vector<std::uint32_t>> users_;      ///< items, by channel
  std::vector<std::vector<std::uint64_t>> free_from_;  ///< move, by item and option
  std::vector<std::uint32_t> suspects_;                ///< among these are all items that overlap with others
  std::vector<bool> is_suspect_;
  std::mt19937_64 random_;    ///< the standard fixes its seed and its numbers: the same answer everywhere
  std::uint64_t looked_ = 0;  ///< at options, at channels and at their users: what the time goes by
};

}  // namespace

std::optional<std::vector<std::uint32_t>> disjoint_ways(std::size_t channels,
                                                        const std::vector<std::vector<Way>>& items,
                                                        std::uint64_t budget) {
  const std::vector<double> rates(channels, 1);
  std::vector<std::uint32_t> start = least_load(rates, items);
  if (std::ranges::find(start, no_option) != start.end()) throw InputError("an item has no options");
  Search search(channels, items, std::move(start));
  if (!search.run(budget)) return std::nullopt;
  return std::move(search).chosen();
}

Network rerouted(const Network& network, std::span<const RouteSpec> routes) {
  std::map<std::pair<Node, Node>, const RouteSpec*> given;
  for (const RouteSpec& route : routes) given[{route.src, route.dst}] = &route;
  NetworkSpec spec;
  spec.shape = Shape::routed;
  spec.names = network.spec().names;
  spec.ranks = network.spec().ranks;
  spec.ports = network.spec().ports;
  for (Channel channel = 0; channel < network.channels(); ++channel)
    spec.channels.push_back({network.channel_name(channel), network.rate(channel), network.latency(channel)});
  for (const Node src : network.hosts())
    for (const Node dst : network.hosts()) {
      if (src == dst) continue;
      const auto found = given.find({src, dst});
      spec.routes.push_back({src, dst,
                             found != given.end() ? found->second->channels
                                                  : network.route(network.first_rank(src), network.first_rank(dst))});
    }
  return Network::with_routes(std::move(spec));
}

}  // namespace hocket
