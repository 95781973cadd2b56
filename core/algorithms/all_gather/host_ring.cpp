/// One ring of hosts for networks without a known cycle.
#include "core/algorithms/all_gather/host_ring.hpp"

#include <algorithm>
#include <tuple>

namespace hocket::algorithms {
namespace {

/// Tries of the search, in edges looked at.
constexpr std::uint64_t ring_search_budget = 400'000;

class Tour {
 public:
  explicit Tour(const Network& network)
      : network_(network), tour_(network.hosts().begin(), network.hosts().end()), uses_(network.channels(), 0) {}

  std::vector<Node> run() {
    const auto n = static_cast<std::uint32_t>(tour_.size());
    if (n < 4) return tour_;
    std::vector<Node> given = tour_;
    count_all();
    const double cost_given = cost_;
    nearest_neighbours();
    count_all();
    if (cost_given < cost_) {
      tour_ = std::move(given);
      count_all();
    }
    improve();
    return tour_;
  }

 private:
  void nearest_neighbours() {
    std::vector<Node> left = tour_;
    for (std::size_t i = 0; i + 1 < tour_.size(); ++i) {
      const Node from = left[i];
      std::size_t best = i + 1, length = ~std::size_t{0};
      for (std::size_t j = i + 1; j < left.size() && length > 1; ++j) {
        const std::size_t hops = network_.route(network_.first_rank(from), network_.first_rank(left[j])).size();
        if (hops < length) {
          length = hops;
          best = j;
        }
      }
      // The others keep their order, so that neighbours in name stay together.
      std::rotate(left.begin() + static_cast<std::ptrdiff_t>(i) + 1, left.begin() + static_cast<std::ptrdiff_t>(best),
                  left.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
    tour_ = std::move(left);
  }

  /// The sum over channels of (uses in host speeds)⁴: close to the most loaded one, and smooth.
  [[nodiscard]] double share(Channel channel) const {
    const double load = uses_[channel] * network_.host_rate() / network_.rate(channel);
    return load * load * load * load;
  }

  void count(Node from, Node to, int sign) {
    route_.clear();
    network_.append_route(network_.first_rank(from), network_.first_rank(to), route_);
    for (const Channel channel : route_) {
      cost_ -= share(channel);
      uses_[channel] += sign;
      cost_ += share(channel);
    }
  }

  void count_all() {
    cost_ = 0;
    std::fill(uses_.begin(), uses_.end(), 0);
    for (std::size_t i = 0; i < tour_.size(); ++i) count(tour_[i], tour_[(i + 1) % tour_.size()], 1);
  }

  std::uint32_t random(std::uint32_t below) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>((state_ >> 33) % below);
  }

  [[nodiscard]] bool crowded(Node from, Node to) {
    route_.clear();
    network_.append_route(network_.first_rank(from), network_.first_rank(to), route_);
    return std::any_of(route_.begin(), route_.end(), [this](Channel channel) {
      return uses_[channel] * network_.host_rate() > network_.rate(channel) * (1 + 1e-9);
    });
  }

  /// Exchanges two neighbouring stretches of the ring (which turns no route round), at a place where
  /// a channel carries more than it can at host speed.
  void improve() {
    const auto n = static_cast<std::uint32_t>(tour_.size());
    std::uint64_t budget = ring_search_budget;
    for (std::uint32_t quiet = 0; quiet < n && budget > 0;) {
      const std::uint32_t turn = random(n);
      std::rotate(tour_.begin(), tour_.begin() + turn, tour_.end());
      if (!crowded(tour_[n - 1], tour_[0])) {
        ++quiet;
        budget -= std::min<std::uint64_t>(budget, 1);
        continue;
      }
      quiet = 0;
      for (std::uint32_t tries = 0; tries < 64 && budget > 0; ++tries) {
        budget -= std::min<std::uint64_t>(budget, 6);
        // tour = A B C with A = [0, j), B = [j, k), C = [k, n) becomes B A C.
        const std::uint32_t reach = tries % 2 == 0 ? std::min(n - 1, 8u) : n - 1;
        std::uint32_t j = 1 + random(reach - 1), k = 1 + random(n - 1);
        if (j == k) continue;
        if (j > k) std::swap(j, k);
        const double before = cost_;
        const Node a = tour_[0], b = tour_[j - 1], c = tour_[j], d = tour_[k - 1], e = tour_[k], z = tour_[n - 1];
        count(z, a, -1), count(b, c, -1), count(d, e, -1);
        count(z, c, 1), count(d, a, 1), count(b, e, 1);
        if (cost_ < before * (1 - 1e-9)) {
          std::rotate(tour_.begin(), tour_.begin() + j, tour_.begin() + k);
          break;
        }
        count(z, c, -1), count(d, a, -1), count(b, e, -1);
        count(z, a, 1), count(b, c, 1), count(d, e, 1);
        cost_ = before;
      }
    }
  }

  const Network& network_;
  std::vector<Node> tour_;
  std::vector<int> uses_;  ///< per channel
  std::vector<Channel> route_;
  double cost_ = 0;
  std::uint64_t state_ = 1;
};

/// Group by group, each from the router where messages come in to the one where they leave. If these are the same, the
/// last message goes back to it over a link that no other takes.
std::vector<Node> in_order_of_groups(const Network& network, const Dragonfly& dragonfly) {
  const std::uint32_t routers = dragonfly.routers();
  std::vector<Node> hosts(network.hosts().begin(), network.hosts().end());
  const auto group = [&](Node host) { return dragonfly.router(host) / routers; };
  std::vector<std::uint32_t> visited;  // groups with ranks
  for (const Node host : hosts) visited.push_back(group(host));
  std::ranges::sort(visited);
  visited.erase(std::unique(visited.begin(), visited.end()), visited.end());
  std::vector<std::uint32_t> entry(dragonfly.groups()), exit(dragonfly.groups());
  for (std::size_t i = 0; visited.size() > 1 && i < visited.size(); ++i) {
    const std::uint32_t here = visited[i], next = visited[(i + 1) % visited.size()];
    exit[here] = dragonfly.router(dragonfly.tail(dragonfly.between(here, next)));
    entry[next] = dragonfly.router(dragonfly.head(dragonfly.between(here, next)));
  }
  std::ranges::stable_sort(hosts, {}, [&](Node host) {
    const std::uint32_t router = dragonfly.router(host), at = group(host);
    return std::tuple(at, router != entry[at], router == exit[at], router);
  });
  return hosts;
}

}  // namespace

std::vector<Node> host_ring(const Network& network) {
  if (network.dragonfly() != nullptr) return in_order_of_groups(network, *network.dragonfly());
  const FatTree* tree = network.wired_as();
  if (tree == nullptr) return Tour(network).run();
  std::vector<Node> hosts(network.hosts().begin(), network.hosts().end());
  std::ranges::sort(hosts, {}, [&](Node host) { return tree->first_host(host); });
  return hosts;
}

}  // namespace hocket::algorithms
