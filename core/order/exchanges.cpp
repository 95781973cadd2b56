#include <algorithm>
#include <cmath>

#include "core/algorithms/shared/random.hpp"
#include "core/order/order.hpp"
#include "core/progress/progress.hpp"

namespace hocket::order {
namespace {

constexpr std::uint32_t most_rounds = 24;
constexpr std::size_t most_partners = 4;  ///< of a unit, those it exchanges most bytes with
constexpr std::uint32_t reach = 2;        ///< slots on either side of a partner's
constexpr std::uint32_t random_tries = 4;

class Exchanges {
 public:
  Exchanges(const Network& network, const Units& units, std::span<const Call> calls, std::vector<Unit> slot,
            std::uint64_t most_routes)
      : network_(network), units_(units), slot_(std::move(slot)), unit_at_(units.size()), most_routes_(most_routes) {
    for (Unit unit = 0; unit < units.size(); ++unit) unit_at_[slot_[unit]] = unit;
    place_ = places_of(units, slot_);
    const auto ranks = static_cast<Rank>(place_.size());
    unit_of_.resize(ranks);
    for (Unit unit = 0; unit < units.size(); ++unit)
      for (const Rank rank : units.ranks[unit]) unit_of_[rank] = unit;
    for (const Call& call : calls) {
      weight_.push_back(call.weight);
      for (const Step& step : call.steps) {
        call_of_.push_back(static_cast<std::uint32_t>(weight_.size() - 1));
        times_.push_back(step.times());
        const auto number = static_cast<std::uint32_t>(times_.size() - 1);
        step.each(ranks, [&](Rank src, Rank dst, double bytes) {
          if (unit_of_[src] != unit_of_[dst]) messages_.push_back({number, src, dst, bytes});
        });
      }
    }
    list_messages();
    seconds_.assign(times_.size() * network.channels(), 0);
    power_.assign(times_.size(), 0);
    count_all();
  }

  [[nodiscard]] const std::vector<Unit>& slots() const { return slot_; }
  /// From now on the channels' times are to be even; before, their sum is to be small.
  void make_even() { even_ = true; }
  [[nodiscard]] bool spent() const { return routes_ > most_routes_; }

  /// A round over all units; false if nothing was gained.
  bool round(const UnitGraph& graph, algorithms::Random& random) {
    count_all();  // anew: differences have been added up
    bool gained = false;
    for (Unit unit = 0; unit < units_.size() && !spent(); ++unit) {
      Progress::check();
      std::vector<UnitGraph::Edge> partners(graph.of(unit).begin(), graph.of(unit).end());
      std::ranges::stable_sort(partners, std::greater<>(), &UnitGraph::Edge::bytes);
      if (partners.size() > most_partners) partners.resize(most_partners);
      for (const auto& [partner, bytes] : partners) {
        const Unit at = slot_[partner];
        const Unit from = at > reach ? at - reach : 0, last = std::min(at + reach, units_.size() - 1);
        for (Unit slot = from; slot <= last; ++slot) gained = attempt(unit, unit_at_[slot]) || gained;
      }
      for (std::uint32_t i = 0; i < random_tries; ++i) gained = attempt(unit, random.below(units_.size())) || gained;
    }
    return gained;
  }

 private:
  struct Sent {
    std::uint32_t step;
    Rank src, dst;
    double bytes;
  };

  /// Lists the messages of each unit, those that it sends and those that it gets.
  void list_messages() {
    of_unit_ = group(units_.size(), [&](auto visit) {
      for (std::uint32_t i = 0; i < messages_.size(); ++i)
        for (const Rank end : {messages_[i].src, messages_[i].dst}) visit(unit_of_[end], i);
    });
  }

  void count(const Sent& one, double sign) {
    ++routes_;
    network_.find_route(place_[one.src], place_[one.dst], route_);
    double* seconds = seconds_.data() + std::size_t{one.step} * network_.channels();
    double& power = power_[one.step];
    for (const Channel channel : route_) {
      double& now = seconds[channel];
      power -= raised(now);
      now = std::max(0.0, now + sign * one.bytes / network_.rate(channel));
      power += raised(now);
    }
  }

  [[nodiscard]] double raised(double x) const { return even_ ? x * x * x * x : x; }

  void count_all() {
    std::ranges::fill(seconds_, 0);
    std::ranges::fill(power_, 0);
    for (const Sent& one : messages_) count(one, 1);
    score_ = score();
  }

  [[nodiscard]] double score() const {
    std::vector<double> sums(weight_.size(), 0);
    for (std::size_t step = 0; step < times_.size(); ++step)
      sums[call_of_[step]] +=
          times_[step] * (even_ ? std::pow(std::max(0.0, power_[step]), 0.25) : std::max(0.0, power_[step]));
    double all = 0;
    for (std::size_t call = 0; call < sums.size(); ++call) all += weight_[call] * std::log(sums[call]);
    return all;
  }

  void count_of(Unit a, Unit b, double sign) {
    for (const std::uint32_t i : of_unit_.of(a)) count(messages_[i], sign);
    for (const std::uint32_t i : of_unit_.of(b)) {
      const Sent& one = messages_[i];
      if (unit_of_[one.src] != a && unit_of_[one.dst] != a) count(one, sign);
    }
  }

  void exchange(Unit a, Unit b) {
    count_of(a, b, -1);
    std::swap(slot_[a], slot_[b]);
    for (const Unit unit : {a, b}) {
      unit_at_[slot_[unit]] = unit;
      for (std::size_t i = 0; i < units_.ranks[unit].size(); ++i)
        place_[units_.ranks[unit][i]] = units_.places[slot_[unit]][i];
    }
    count_of(a, b, 1);
  }

  bool attempt(Unit a, Unit b) {
    if (a == b || network_.host_of(units_.places[slot_[a]][0]) == network_.host_of(units_.places[slot_[b]][0]))
      return false;
    const double before = score_;
    exchange(a, b);
    const double after = score();
    if (after < before - 1e-9) {
      score_ = after;
      return true;
    }
    exchange(a, b);
    return false;
  }

  const Network& network_;
  const Units& units_;
  std::vector<Unit> slot_, unit_at_;
  std::vector<Rank> place_;
  std::vector<Unit> unit_of_;           ///< per rank
  std::vector<double> weight_;          ///< per call
  std::vector<std::uint32_t> call_of_;  ///< per step
  std::vector<double> times_;           ///< per step
  std::vector<Sent> messages_;
  Grouped of_unit_;
  std::vector<double> seconds_;  ///< per step and channel
  std::vector<double> power_;    ///< per step: the sum of the fourth powers
  std::vector<Channel> route_;
  std::uint64_t routes_ = 0, most_routes_;
  double score_ = 0;
  bool even_ = false;
};

}  // namespace

std::vector<Rank> places_of(const Units& units, std::span<const Unit> slot) {
  std::size_t ranks = 0;
  for (const auto& of_unit : units.ranks) ranks += of_unit.size();
  std::vector<Rank> place(ranks);
  for (Unit unit = 0; unit < units.size(); ++unit)
    for (std::size_t i = 0; i < units.ranks[unit].size(); ++i)
      place[units.ranks[unit][i]] = units.places[slot[unit]][i];
  return place;
}

std::vector<Unit> exchanged(const Network& network, const Units& units, const UnitGraph& graph,
                            std::span<const Call> calls, std::vector<Unit> slot, std::uint64_t most_routes) {
  Wires wires(network);
  std::vector<Unit> best = slot;
  double least = wires.score(calls, places_of(units, slot));
  Exchanges search(network, units, calls, std::move(slot), most_routes);
  algorithms::Random random(1);
  bool even = false;
  for (std::uint32_t round = 0; round < most_rounds && !search.spent(); ++round) {
    const bool gained = search.round(graph, random);
    if (const double now = wires.score(calls, places_of(units, search.slots())); now < least) {
      least = now;
      best = search.slots();
    }
    if (!gained && even) break;
    if (!gained) search.make_even(), even = true;
  }
  return best;
}

}  // namespace hocket::order
