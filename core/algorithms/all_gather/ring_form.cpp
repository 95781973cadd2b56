#include "core/algorithms/all_gather/ring_form.hpp"

#include <ranges>
#include <tuple>
#include <utility>

#include "core/algorithms/all_gather/streams.hpp"
#include "core/error.hpp"

namespace hocket::algorithms {

/// One ring of hosts for networks without a known cycle.

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
    for (const Channel channel : network_.find_route(network_.first_rank(from), network_.first_rank(to), route_)) {
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
    network_.find_route(network_.first_rank(from), network_.first_rank(to), route_);
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

namespace hocket {

namespace {

/// Per channel: the place of the only edge that uses it, or `none`. `gathers`: edges lead onward and are numbered by
/// their begin; otherwise they lead backward and are numbered by their end.
class ChannelUsers {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  ChannelUsers(const Network& network, std::span<const Rank> order, bool gathers) : user_(network.channels(), none) {
    std::vector<Channel> route;
    for (std::uint32_t place = 0; place < order.size(); ++place) {
      const Rank here = order[place], next = order[(place + 1) % order.size()];
      route.clear();
      gathers ? network.append_route(here, next, route) : network.append_route(next, here, route);
      for (const Channel channel : route) apart_ = std::exchange(user_[channel], place) == none && apart_;
    }
  }
  [[nodiscard]] std::uint32_t of(Channel channel) const { return user_[channel]; }
  /// True if no channel is used by two edges.
  [[nodiscard]] bool apart() const { return apart_; }

 private:
  bool apart_ = true;
  std::vector<std::uint32_t> user_;
};

/// Both halves of an all-reduce on one channel. A rank's own sends are in order without a token.
std::vector<TurnWait> turn_waits_of(const Network& network, std::span<const Rank> order) {
  const ChannelUsers onward(network, order, true), backward(network, order, false);
  std::vector<TurnWait> waits;
  for (Channel channel = 0; channel < network.channels(); ++channel) {
    const std::uint32_t waiting = onward.of(channel), releasing = backward.of(channel);
    if (waiting == ChannelUsers::none || releasing == ChannelUsers::none) continue;
    if ((releasing + 1) % order.size() != waiting) waits.push_back({waiting, releasing, network.capacity(channel)});
  }
  return waits;
}

/// Sorts the waits and keeps, of several channels between the same two edges, only the one with the least capacity: its
/// wait implies the others.
void sort_by(std::vector<TurnWait>& waits, std::uint32_t TurnWait::* first, std::uint32_t TurnWait::* second) {
  const auto key = [=](const TurnWait& wait) { return std::tuple(wait.*first, wait.*second, wait.capacity); };
  std::ranges::sort(waits, {}, key);
  const auto same = std::ranges::unique(waits, [=](const TurnWait& a, const TurnWait& b) {
    return a.waiting == b.waiting && a.releasing == b.releasing;
  });
  waits.erase(same.begin(), same.end());
}

/// A vector that cannot be cut into equal blocks has some of one byte more.
bool nearly_equal(const Demand& demand) {
  return std::ranges::all_of(demand.contributions, [&](std::uint64_t bytes) { return bytes + 1 >= demand.bytes; });
}

}  // namespace

RingForm::RingForm(const Network& network, std::vector<Rank> order, Demand demand)
    : order_(std::move(order)), place_(order_.size(), 0), demand_(std::move(demand)) {
  for (std::uint32_t place = 0; place < order_.size(); ++place) place_[order_[place]] = place;
  if (pattern() != Pattern::all_reduce) return;
  by_waiting_ = turn_waits_of(network, order_);
  sort_by(by_waiting_, &TurnWait::waiting, &TurnWait::releasing);
  by_releasing_ = by_waiting_;
  sort_by(by_releasing_, &TurnWait::releasing, &TurnWait::waiting);
}

RankProgram RingForm::program(Rank rank, std::uint32_t window) const {
  if (rank >= order_.size()) throw InputError("there is no rank " + std::to_string(rank));
  RankProgram program;
  program.sends.reserve(phases());
  program.receives.reserve(phases());
  if (pattern() != Pattern::all_gather) add_half(program, place_[rank], false);
  if (pattern() != Pattern::reduce_scatter) add_half(program, place_[rank], true);
  if (pattern() == Pattern::all_reduce) add_turn(program, place_[rank], std::max(window, 1u));
  return program;
}

void RingForm::add_half(RankProgram& program, std::uint64_t place, bool gathers) const {
  const std::uint64_t ranks = order_.size(), first = program.sends.size();
  const Rank before = at(place + ranks - 1), after = at(place + 1);
  for (std::uint64_t i = 0; i < turn(); ++i) {
    const std::uint64_t step = gathers ? i : turn() - 1 - i;
    const Piece onward = block(place + ranks - step), inward = block(place + 2 * ranks - 1 - step);
    program.sends.push_back({gathers ? after : before, first + i, {gathers ? onward : inward}, {}});
    program.receives.push_back({gathers ? before : after, first + i, {gathers ? inward : onward}, {}});
  }
}

/// Adds the tokens of the turn: a message sent onward in step i after the turn waits for the message that used the same
/// channel `capacity` × `window` messages earlier (the rule of derive_waits()).
void RingForm::add_turn(RankProgram& program, std::uint32_t place, std::uint32_t window) const {
  // Calls work(phase of the earlier message, phase of the later one).
  const auto each_step = [&](const TurnWait& wait, auto work) {
    const std::uint64_t back = std::uint64_t{wait.capacity} * window;
    for (std::uint64_t phase = turn(); phase < phases() && phase < turn() + back; ++phase)
      if (phase >= back) work(phase - back, phase);
  };
  // Tokens of later transfers come first; a phase has them in the order of the ring.
  const auto own = std::ranges::equal_range(by_waiting_, place, {}, &TurnWait::waiting);
  for (const TurnWait& wait : std::views::reverse(own))
    each_step(wait, [&](std::uint64_t, std::uint64_t phase) {
      program.sends[phase].tokens.push_back(order_[wait.releasing]);
    });
  for (const TurnWait& wait : std::ranges::equal_range(by_releasing_, place, {}, &TurnWait::releasing))
    each_step(wait, [&](std::uint64_t earlier, std::uint64_t phase) {
      program.receives[earlier].releases.push_back({order_[wait.waiting], static_cast<std::uint32_t>(phase)});
    });
}

FoundRing ring_form_of(const Network& network, const Demand& demand) {
  if (demand.pattern != Pattern::all_gather && demand.pattern != Pattern::reduce_scatter &&
      demand.pattern != Pattern::all_reduce)
    return {std::nullopt, {}, "only all-gathers, reduce-scatters and all-reduces go round a ring"};
  if (demand.ranks != network.ranks() || demand.ranks < 2) return {std::nullopt, {}, "it needs at least two ranks"};
  if (!nearly_equal(demand)) return {std::nullopt, {}, "contributions differ by more than a byte"};
  if (demand.bytes == 0 || std::ranges::find(demand.contributions, 0) != demand.contributions.end())
    return {std::nullopt, {}, "there is nothing to send"};
  if (network.tree() == nullptr && network.wired_as() == nullptr && network.dragonfly() == nullptr)
    return {std::nullopt, {}, "it needs a tree of switches, a fat tree or a dragonfly"};
  if (network.hosts().size() != network.ranks()) return {std::nullopt, {}, "it needs one rank on every host"};
  for (Channel channel = 0; channel < network.channels(); ++channel)
    if (network.rate(channel) < network.host_rate())
      return {std::nullopt, {}, "a link is slower than the fastest host"};
  if (network.tree() != nullptr)
    return {RingForm(network, algorithms::one_ring(network, demand), demand), "switch-ring", {}};
  std::vector<Rank> order;
  for (const Node host : algorithms::host_ring(network)) order.push_back(network.first_rank(host));
  if (!ChannelUsers(network, order, true).apart() || !ChannelUsers(network, order, false).apart())
    return {std::nullopt, {}, "tables lead neighbours over the same links"};
  return {RingForm(network, std::move(order), demand), "rails", {}};
}

}  // namespace hocket
