/// "packing": whole messages packed into phases on any network with fixed routes and inter-switch links of any
/// width: first fit, then repair where that misses the bound.
#include <bit>
#include <numeric>

#include "core/algorithms/all_to_all/resources.hpp"
#include "core/algorithms/registry.hpp"
#include "core/progress/progress.hpp"

namespace hocket::algorithms {

namespace {

constexpr std::uint64_t full_word = ~std::uint64_t{0};

constexpr std::uint64_t most_words = 2'000'000'000;  // looked at before further orders are left out

/// One bit per phase: set where the resource is full.
class FullPhases {
 public:
  explicit FullPhases(std::uint32_t capacity) : capacity_(capacity) {}
  [[nodiscard]] std::uint64_t word(std::size_t i) const { return i < words_.size() ? words_[i] : 0; }
  /// All words before this one are full.
  [[nodiscard]] std::size_t first_word() const { return first_word_; }
  void take(std::uint32_t phase) {
    if (capacity_ > 1) {
      if (phase >= used_.size()) used_.resize(phase + 1, 0);
      if (++used_[phase] < capacity_) return;
    }
    if (phase / 64 >= words_.size()) words_.resize(phase / 64 + 1, 0);
    words_[phase / 64] |= std::uint64_t{1} << phase % 64;
    while (first_word_ < words_.size() && words_[first_word_] == full_word) ++first_word_;
  }

 private:
  std::uint32_t capacity_;
  std::size_t first_word_ = 0;
  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> used_;
};

Packed fit(const Resources& resources, const std::vector<Hop>& hops, const std::vector<std::uint32_t>& order,
           std::uint64_t& words) {
  std::vector<FullPhases> full;
  for (std::uint32_t resource = 0; resource < resources.size(); ++resource)
    full.emplace_back(resources.capacity(resource));
  Packed packed;
  packed.phase_of.resize(hops.size());
  std::vector<std::uint32_t> needs;
  Steps steps("packing messages", hops.size());
  for (const std::uint32_t message : order) {
    steps.tick();
    needs.clear();
    resources.append(hops[message], needs);
    std::size_t word = 0;
    for (const std::uint32_t resource : needs) word = std::max(word, full[resource].first_word());
    for (;; ++word) {
      words += needs.size();
      std::uint64_t taken = 0;
      for (const std::uint32_t resource : needs) taken |= full[resource].word(word);
      if (taken == full_word) continue;
      const auto phase = static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(std::countr_one(taken));
      for (const std::uint32_t resource : needs) full[resource].take(phase);
      packed.phase_of[message] = phase;
      packed.phases = std::max<std::uint64_t>(packed.phases, phase + 1);
      break;
    }
  }
  return packed;
}

/// Difficulty of placing a message, by three measures in this order; the hardest messages are placed first.
struct Hardness {
  std::uint64_t scarcest = 0;  ///< load per capacity of its scarcest resource
  std::uint64_t total = 0;     ///< load per capacity, summed over its resources
  std::uint64_t length = 0;    ///< resources that it needs
};

/// First fit of an all-to-all in several orders; the one with the fewest phases, the first that has
/// `bound` phases. Ranks of a pool of several have a message to themselves, too. Near-linear in messages × route
/// length.
[[nodiscard]] Packed first_fit(const Network& network, const SendPools& pools, std::uint64_t bound) {
  const std::uint64_t n = network.ranks();
  // Shifts, in which neighbours in the list have different senders and receivers.
  std::vector<Hop> hops;
  hops.reserve(n * n);
  for (Rank shift = 0; shift < n; ++shift)
    for (Rank src = 0; src < n; ++src)
      if (shift > 0 || pools.members(pools.of(src)).size() > 1)
        hops.push_back({src, static_cast<Rank>((src + shift) % n)});
  const Resources resources(network, pools, hops);

  std::vector<std::uint32_t> order(hops.size());
  std::iota(order.begin(), order.end(), 0u);
  std::uint64_t words = 0;
  Packed best = fit(resources, hops, order, words);
  std::vector<Hardness> hardness(best.phases > bound ? hops.size() : 0);
  std::vector<std::uint32_t> needs;
  for (std::size_t message = 0; message < hardness.size(); ++message) {
    needs.clear();
    resources.append(hops[message], needs);
    hardness[message].length = needs.size();
    for (const std::uint32_t resource : needs) {
      const std::uint64_t share = resources.load(resource) / resources.capacity(resource);
      hardness[message].scarcest = std::max(hardness[message].scarcest, share);
      hardness[message].total += share;
    }
  }
  for (const auto measure : {&Hardness::scarcest, &Hardness::length, &Hardness::total}) {
    if (best.phases <= bound || words > most_words) break;
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return hardness[a].*measure > hardness[b].*measure; });
    if (Packed packed = fit(resources, hops, order, words); packed.phases < best.phases) best = std::move(packed);
  }
  best.hops = std::move(hops);
  return best;
}

/// `bound`: below which there is no schedule.
Packed packed_by(const Network& network, const SendPools& pools, std::uint64_t bound) {
  Packed packed = first_fit(network, pools, bound);
  repair(network, pools, bound, packed, repair_budget(packed.hops.size()));
  pools.deal(packed.phases, packed.hops, packed.phase_of);
  return packed;
}

}  // namespace

/// Packs with the ranks' own ports first, unless pools of them need no more phases than the bound.
static Schedule make_packing(const Network& network, const Demand& demand, const AlgorithmOptions&) {
  const std::uint64_t bound = lower_bounds(network, demand).phases;
  const SendPools own(network, false), shared(network, true);
  const std::uint64_t of_pools = std::max<std::uint64_t>(bound, demand.ranks);
  std::optional<Packed> best;
  if (!shared.any_shared() || bound < of_pools) best = packed_by(network, own, bound);
  if (shared.any_shared() && (!best || best->phases > of_pools))
    if (Packed other = packed_by(network, shared, of_pools); !best || other.phases < best->phases)
      best = std::move(other);
  return group_by_phase(demand.ranks, demand.bytes, best->phases, best->phase_of, best->hops);
}

constinit const Algorithm packing{
    .pattern = Pattern::all_to_all,
    .name = "packing",
    .summary = "phases packed against the bottleneck on any network, inter-switch links of any width",
    .source = "own; ejection search as of Nagata and Bräysy",
    .contention_free = true,
    .make = make_packing,
    .rank = 6,
};

}  // namespace hocket::algorithms
