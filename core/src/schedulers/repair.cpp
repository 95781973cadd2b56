#include "hocket/schedulers/repair.hpp"

#include <algorithm>

namespace hocket::algorithms {
namespace {

constexpr std::uint64_t most_messages = 70'000;  // beyond, first fit is within a few per mille
constexpr std::uint64_t tries_per_message = 12;
constexpr std::uint64_t scan_budget = 400'000'000;  // phases looked at, all tries together

/// Who uses what in each phase, for a fixed number of phases.
class Timetable {
 public:
  Timetable(const Network& network, std::uint64_t phases, const std::vector<Hop>& hops)
      : phases_(phases),
        ranks_(network.ranks()),
        held_((2 * ranks_ + network.channels()) * phases),
        phase_of_(hops.size(), nowhere),
        weight_(hops.size(), 1) {
    capacity_.assign(2 * ranks_, 1);
    for (Channel channel = 0; channel < network.channels(); ++channel) capacity_.push_back(network.capacity(channel));
    std::vector<Channel> route;
    begin_.push_back(0);
    for (const Hop hop : hops) {
      needs_.push_back(hop.src);
      needs_.push_back(static_cast<std::uint32_t>(ranks_ + hop.dst));
      route.clear();
      network.append_route(hop.src, hop.dst, route);
      for (const Channel channel : route) needs_.push_back(static_cast<std::uint32_t>(2 * ranks_ + channel));
      begin_.push_back(needs_.size());
    }
  }

  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
  [[nodiscard]] const std::vector<std::uint32_t>& phase_of() const { return phase_of_; }

  /// What it would cost to put the message there: the weights of those that have to leave.
  [[nodiscard]] std::uint64_t cost(std::uint32_t message, std::uint64_t phase, std::uint64_t give_up_at) const {
    std::uint64_t sum = 0;
    for (std::uint64_t i = begin_[message]; i < begin_[message + 1] && sum < give_up_at; ++i)
      if (full(needs_[i], phase)) sum += weight_[lightest(needs_[i], phase)];
    return sum;
  }

  /// Puts the message there; appends those that had to leave to `displaced`.
  void put(std::uint32_t message, std::uint64_t phase, std::vector<std::uint32_t>& displaced) {
    for (std::uint64_t i = begin_[message]; i < begin_[message + 1]; ++i)
      if (full(needs_[i], phase)) {
        const std::uint32_t other = lightest(needs_[i], phase);
        ++weight_[other];
        remove(other);
        displaced.push_back(other);
      }
    for (std::uint64_t i = begin_[message]; i < begin_[message + 1]; ++i) at(needs_[i], phase).push_back(message);
    phase_of_[message] = static_cast<std::uint32_t>(phase);
  }

 private:
  [[nodiscard]] std::vector<std::uint32_t>& at(std::uint32_t resource, std::uint64_t phase) {
    return held_[resource * phases_ + phase];
  }
  [[nodiscard]] bool full(std::uint32_t resource, std::uint64_t phase) const {
    return held_[resource * phases_ + phase].size() >= capacity_[resource];
  }
  [[nodiscard]] std::uint32_t lightest(std::uint32_t resource, std::uint64_t phase) const {
    const auto& users = held_[resource * phases_ + phase];
    return *std::min_element(users.begin(), users.end(), [&](auto a, auto b) { return weight_[a] < weight_[b]; });
  }
  void remove(std::uint32_t message) {
    for (std::uint64_t i = begin_[message]; i < begin_[message + 1]; ++i)
      std::erase(at(needs_[i], phase_of_[message]), message);
    phase_of_[message] = nowhere;
  }

  std::uint64_t phases_, ranks_;
  std::vector<std::uint32_t> capacity_;
  std::vector<std::vector<std::uint32_t>> held_;  ///< per resource and phase: its messages
  std::vector<std::uint64_t> begin_;
  std::vector<std::uint32_t> needs_;  ///< ports and channels of each message
  std::vector<std::uint32_t> phase_of_;
  std::vector<std::uint64_t> weight_;  ///< grows each time a message is displaced
};

/// True if every message found a phase below `phases`; writes them to `packed`.
bool squeeze(const Network& network, std::uint64_t phases, Packed& packed, std::uint64_t& budget) {
  Timetable table(network, phases, packed.hops);
  std::vector<std::uint32_t> waiting;
  for (std::uint32_t message = 0; message < packed.hops.size(); ++message) {
    if (packed.phase_of[message] < phases)
      table.put(message, packed.phase_of[message], waiting);
    else
      waiting.push_back(message);
  }
  std::uint64_t tries = tries_per_message * packed.hops.size();
  for (std::size_t next = 0; next < waiting.size(); ++next) {
    if (tries-- == 0 || budget < phases) return false;
    budget -= phases;
    const std::uint32_t message = waiting[next];
    std::uint64_t best_phase = 0, best_cost = ~std::uint64_t{0};
    for (std::uint64_t i = 0; i < phases && best_cost > 0; ++i) {
      // Start anywhere but always the same way, so that the first phases do not collect the trouble.
      const std::uint64_t phase = (i + message * 7919u + next) % phases;
      const std::uint64_t cost = table.cost(message, phase, best_cost);
      if (cost < best_cost) best_cost = cost, best_phase = phase;
    }
    table.put(message, best_phase, waiting);
  }
  packed.phases = phases;
  packed.phase_of = table.phase_of();
  return true;
}

}  // namespace

void repair(const Network& network, std::uint64_t bound, Packed& packed) {
  if (packed.hops.size() > most_messages) return;
  std::uint64_t budget = scan_budget;
  for (std::uint64_t phases = bound; phases < packed.phases; phases += std::max<std::uint64_t>(1, bound / 200))
    if (squeeze(network, phases, packed, budget)) return;
}

}  // namespace hocket::algorithms
