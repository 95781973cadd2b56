/// "packing": whole messages packed into phases on any network with fixed routes and trunks of any
/// width. First fit, messages over the scarcest channels first, in several orders; the one with the
/// fewest phases is then squeezed towards the bound by repair.
#include <algorithm>
#include <bit>
#include <numeric>

#include "hocket/schedule/bounds.hpp"
#include "hocket/schedulers/entries.hpp"
#include "hocket/schedulers/repair.hpp"

namespace hocket::algorithms {
namespace {

/// One bit per phase: set where the resource (port or channel) is full.
class PhaseBits {
 public:
  [[nodiscard]] std::uint64_t word(std::size_t i) const { return i < words_.size() ? words_[i] : 0; }
  void set(std::uint32_t phase) {
    if (phase / 64 >= words_.size()) words_.resize(phase / 64 + 1, 0);
    words_[phase / 64] |= std::uint64_t{1} << phase % 64;
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// A channel that carries `capacity` messages in a phase.
class Resource {
 public:
  explicit Resource(std::uint32_t capacity) : capacity_(capacity) {}
  [[nodiscard]] std::uint64_t full(std::size_t word) const { return full_.word(word); }
  void take(std::uint32_t phase) {
    if (capacity_ > 1) {
      if (phase >= used_.size()) used_.resize(phase + 1, 0);
      if (++used_[phase] < capacity_) return;
    }
    full_.set(phase);
  }

 private:
  std::uint32_t capacity_;
  PhaseBits full_;
  std::vector<std::uint32_t> used_;
};

class Packer {
 public:
  Packer(const Network& network, const Demand& demand) : network_(network), demand_(demand) {
    for (Rank rank = 0; rank < 2 * demand.ranks; ++rank) resources_.emplace_back(1);
    for (Channel channel = 0; channel < network.channels(); ++channel)
      resources_.emplace_back(network.capacity(channel));
  }

  /// The earliest phase in which both ports and every channel of the route have room.
  std::uint32_t place(Hop hop) {
    route_.clear();
    network_.append_route(hop.src, hop.dst, route_);
    for (Channel& channel : route_) channel += 2 * demand_.ranks;
    route_.push_back(hop.src);
    route_.push_back(demand_.ranks + hop.dst);
    for (std::size_t word = 0;; ++word) {
      std::uint64_t full = 0;
      for (const std::uint32_t resource : route_) full |= resources_[resource].full(word);
      if (full == ~std::uint64_t{0}) continue;
      const auto phase = static_cast<std::uint32_t>(word * 64 + std::countr_one(full));
      for (const std::uint32_t resource : route_) resources_[resource].take(phase);
      return phase;
    }
  }

 private:
  const Network& network_;
  const Demand& demand_;
  std::vector<Resource> resources_;  ///< send ports, receive ports, channels
  std::vector<std::uint32_t> route_;
};

/// Messages by falling share of the scarcest channel they cross; within equals by `shift` order,
/// in which neighbours in the list have different senders and receivers.
std::vector<Hop> ordered_messages(const Network& network, const Demand& demand, bool critical_first) {
  const Bounds bounds = lower_bounds(network, demand);
  const std::uint64_t n = demand.ranks;
  std::vector<Hop> hops;
  std::vector<std::uint64_t> need;
  std::vector<Channel> route;
  hops.reserve(demand.messages());
  for (Rank shift = 1; shift < n; ++shift)
    for (Rank src = 0; src < n; ++src) {
      hops.push_back({src, static_cast<Rank>((src + shift) % n)});
      if (!critical_first) continue;
      route.clear();
      network.append_route(hops.back().src, hops.back().dst, route);
      std::uint64_t most = 0;
      for (const Channel channel : route) most = std::max(most, bounds.load[channel] / network.capacity(channel));
      need.push_back(most);
    }
  if (!critical_first) return hops;
  std::vector<std::uint32_t> order(hops.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto x, auto y) { return need[x] > need[y]; });
  std::vector<Hop> sorted;
  sorted.reserve(hops.size());
  for (const std::uint32_t i : order) sorted.push_back(hops[i]);
  return sorted;
}

}  // namespace

Schedule packing(const Network& network, const Demand& demand, const Costs&) {
  Packed best;
  for (const bool critical_first : {true, false}) {
    Packed packed;
    packed.hops = ordered_messages(network, demand, critical_first);
    Packer packer(network, demand);
    packed.phase_of.reserve(packed.hops.size());
    for (const Hop hop : packed.hops) {
      packed.phase_of.push_back(packer.place(hop));
      packed.phases = std::max<std::uint64_t>(packed.phases, packed.phase_of.back() + 1);
    }
    if (best.hops.empty() || packed.phases < best.phases) best = std::move(packed);
  }
  repair(network, lower_bounds(network, demand).phases, best);
  return group_by_phase(demand.ranks, demand.bytes, best.phases, best.phase_of, best.hops);
}

}  // namespace hocket::algorithms
