/// All-gather on rings, tori, meshes and hypercubes by the gossip algorithms: the fastest one for the
/// ratio of startup to transfer time, as a schedule of the network.
#include <algorithm>
#include <numeric>

#include "hocket/error.hpp"
#include "hocket/gossip/search.hpp"
#include "hocket/schedulers/entries.hpp"
#include "hocket/schedulers/grid_of.hpp"

namespace hocket {

std::optional<gossip::Grid> grid_of(const Network& network) {
  const NetworkSpec& spec = network.spec();
  switch (spec.shape) {
    case Shape::torus:
      return gossip::Grid{spec.sides, true};
    case Shape::mesh:
      return gossip::Grid{spec.sides, false};
    case Shape::hypercube:
      return gossip::Grid{std::vector<std::uint32_t>(spec.sides[0], 2), false};
    default:
      return std::nullopt;
  }
}

double startup_ratio(const Network& network, const Demand& demand, const SchedulerOptions& costs) {
  double bytes = static_cast<double>(demand.bytes);
  if (!demand.contributions.empty())
    bytes = std::accumulate(demand.contributions.begin(), demand.contributions.end(), 0.0) / demand.ranks;
  const double latency = network.channels() > 0 ? network.latency(0) : 0;
  // Never 0: among equally fast ones the algorithm with fewer startups.
  constexpr double least = 1e-6;
  return std::max(least, (costs.startup + latency) * network.host_rate() / std::max(bytes, 1.0));
}

namespace algorithms {
namespace {

/// The parts of every item that have come to every processor: one bit for each part between two places
/// at which any item is cut.
class Received {
 public:
  Received(std::uint32_t ranks, const gossip::Steps& steps) : ranks_(ranks), cuts_{0, steps.units} {
    std::vector<bool> cut(std::size_t{steps.units} + 1, false);
    for (const gossip::Parcel& parcel : steps.parcels) cut[parcel.begin] = cut[parcel.end] = true;
    for (std::uint32_t unit = 1; unit < steps.units; ++unit)
      if (cut[unit]) cuts_.push_back(unit);
    std::sort(cuts_.begin(), cuts_.end());
    index_.resize(cut.size());
    for (std::uint32_t i = 0; i < cuts_.size(); ++i) index_[cuts_[i]] = i;
    words_ = (cuts_.size() + 62) / 64;
    bits_.resize(std::uint64_t{ranks} * ranks * words_);
  }

  /// Adds what is new of a parcel to `fresh`.
  void add(Rank at, const gossip::Parcel& parcel, std::vector<gossip::Parcel>& fresh) {
    if (at == parcel.origin) return;
    std::uint64_t* bits = &bits_[(std::uint64_t{at} * ranks_ + parcel.origin) * words_];
    bool run = false;
    for (std::uint32_t i = index_[parcel.begin]; i < index_[parcel.end]; ++i) {
      const std::uint64_t bit = std::uint64_t{1} << i % 64;
      const bool known = (bits[i / 64] & bit) != 0;
      bits[i / 64] |= bit;
      if (!known && run)
        fresh.back().end = cuts_[i + 1];
      else if (!known)
        fresh.push_back({parcel.origin, cuts_[i], cuts_[i + 1]});
      run = !known;
    }
  }

 private:
  std::uint64_t ranks_, words_ = 1;
  std::vector<std::uint32_t> cuts_, index_;  ///< where items are cut, and the number of each cut
  std::vector<std::uint64_t> bits_;          ///< per processor, item and part
};

/// The steps as phases. What its receiver has already is left out; the two messages that go to the
/// same processor over both ways round a ring are one, as the network routes both alike.
Schedule to_schedule(const Demand& demand, const gossip::Grid& grid, const gossip::Steps& steps) {
  Received received(demand.ranks, steps);
  std::vector<std::uint64_t> begin{0};
  std::vector<Hop> hops;
  PieceLists pieces;
  std::vector<std::pair<Hop, const gossip::Message*>> step;
  std::vector<gossip::Parcel> fresh;
  const auto place = [&](std::uint32_t unit, std::uint64_t bytes) {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(bytes) * unit / steps.units);
  };
  for (std::uint64_t i = 0; i < steps.size(); ++i) {
    step.clear();
    for (const gossip::Message& message : steps.step(i))
      step.push_back({{message.src, grid.moved(message.src, message.axis, message.displacement)}, &message});
    std::stable_sort(step.begin(), step.end(), [](const auto& a, const auto& b) {
      return std::pair(a.first.src, a.first.dst) < std::pair(b.first.src, b.first.dst);
    });
    for (std::size_t k = 0; k < step.size();) {
      const Hop hop = step[k].first;
      const std::size_t before = pieces.pieces.size();
      for (; k < step.size() && step[k].first == hop; ++k) {
        fresh.clear();
        for (const gossip::Parcel& parcel : steps.content(*step[k].second)) received.add(hop.dst, parcel, fresh);
        for (const gossip::Parcel& parcel : fresh) {
          const std::uint64_t bytes = demand.contribution(parcel.origin);
          const std::uint64_t from = place(parcel.begin, bytes), to = place(parcel.end, bytes);
          if (to > from) pieces.pieces.push_back({parcel.origin, everyone, from, to - from});
        }
      }
      if (pieces.pieces.size() == before) continue;
      hops.push_back(hop);
      pieces.end_transfer();
    }
    if (hops.size() > begin.back()) begin.push_back(hops.size());
  }
  return {demand.ranks, demand.bytes, std::move(begin), std::move(hops), std::move(pieces)};
}

constexpr std::uint32_t max_stride_ranks = 1024;

}  // namespace

std::string_view gossip_why_not(const Network& network, const Demand& demand) {
  if (const auto reason = gather_why_not(network, demand); !reason.empty()) return reason;
  if (!grid_of(network)) return "gossip needs a torus, mesh or hypercube";
  if (network.ranks() != network.nodes()) return "gossip needs one rank on every host";
  if (!network.equal_rates()) return "gossip needs links of equal rate";
  if (network.ranks() > 4096) return "more than 4096 ranks";
  return {};
}

Schedule gossip(const Network& network, const Demand& demand, const SchedulerOptions& costs) {
  if (demand.ranks < 2) return {demand.ranks, demand.bytes};
  const gossip::Grid grid = grid_of(network).value();
  const double r = startup_ratio(network, demand, costs);
  const gossip::GossipPlan best = gossip::best_gossip(grid, r);
  // Some plans for shared links share none, and are best on tori of unequal sides.
  if (stride_why_not(network, demand).empty()) {
    const gossip::StridePlan strides = gossip::search_stride(grid.sides, r);
    if (strides.time(r) < best.time) {
      const gossip::Steps steps = gossip::build_stride(strides);
      if (gossip::execute(grid, steps).link_disjoint) return to_schedule(demand, grid, steps);
    }
  }
  return to_schedule(demand, grid, gossip::build_gossip(grid, best));
}

std::string_view stride_why_not(const Network& network, const Demand& demand) {
  if (const auto reason = gossip_why_not(network, demand); !reason.empty()) return reason;
  if (network.shape() != Shape::torus) return "strides need a torus";
  if (network.ranks() > max_stride_ranks) return "more than 1024 ranks";
  return {};
}

Schedule stride(const Network& network, const Demand& demand, const SchedulerOptions& costs) {
  if (demand.ranks < 2) return {demand.ranks, demand.bytes};
  const gossip::Grid grid = grid_of(network).value();
  return to_schedule(demand, grid,
                     gossip::build_stride(gossip::search_stride(grid.sides, startup_ratio(network, demand, costs))));
}

}  // namespace algorithms
}  // namespace hocket
