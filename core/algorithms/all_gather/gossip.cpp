/// All-gather on rings, tori, meshes and hypercubes by the gossip algorithms: the fastest one for the
/// ratio of per-message cost to transfer time, as a schedule of the network.
#include <limits>
#include <map>

#include "core/algorithms/registry.hpp"
#include "core/error.hpp"
#include "core/gossip/search.hpp"
#include "core/limits.hpp"
#include "core/schedule/block_parts.hpp"
#include "core/schedule/shared_channels.hpp"

namespace hocket {

/// The grid of a torus, mesh or hypercube (a mesh of sides 2).
static gossip::Grid grid_of(const Network& network) {
  return {grid_sides(network.spec()), network.shape() == Shape::torus};
}

/// r = t_s / (L·t_l): what a message costs besides its transfer (per-message cost, and a link's latency), in
/// transfers of a mean contribution over one link.
static double alpha_ratio(const Network& network, const Demand& demand, const AlgorithmOptions& costs) {
  double bytes = static_cast<double>(demand.bytes);
  if (!demand.contributions.empty())
    bytes = std::accumulate(demand.contributions.begin(), demand.contributions.end(), 0.0) / demand.ranks;
  const double latency = network.channels() > 0 ? network.latency(0) : 0;
  // Never 0: among equally fast ones the algorithm with fewer per-message costs.
  constexpr double least = 1e-6;
  return std::max(least, (costs.alpha + latency) * network.host_rate() / std::max(bytes, 1.0));
}

namespace algorithms {
namespace {

/// The piece lists that the steps' messages carry: one for each distinct content, which many messages share.
class Contents {
 public:
  Contents(const Demand& demand, const gossip::Steps& steps) : demand_(demand), steps_(steps) {
    for (const gossip::Message& message : steps.messages) {
      const auto [known, first_time] = list_.try_emplace({message.first, message.last}, lists_.lists());
      if (!first_time) continue;
      for (const gossip::Parcel& parcel : steps.content(message)) add(parcel);
      lists_.end_list();
    }
  }

  [[nodiscard]] std::uint32_t of(const gossip::Message& message) const {
    return list_.at({message.first, message.last});
  }
  [[nodiscard]] PieceLists& lists() { return lists_; }
  /// The list of these pieces: of all messages that miss as much.
  [[nodiscard]] std::uint32_t list_with(const std::vector<Piece>& pieces) {
    const auto [known, first_time] = partial_.try_emplace(pieces, lists_.lists());
    if (first_time) {
      lists_.pieces.insert(lists_.pieces.end(), pieces.begin(), pieces.end());
      lists_.end_list();
    }
    return known->second;
  }

 private:
  void add(const gossip::Parcel& parcel) {
    const std::uint64_t bytes = demand_.contribution(parcel.origin);
    const std::uint64_t from = part_begin(bytes, parcel.begin, steps_.units),
                        to = part_begin(bytes, parcel.end, steps_.units);
    if (to > from) lists_.pieces.push_back({parcel.origin, everyone, from, to - from});
  }

  const Demand& demand_;
  const gossip::Steps& steps_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> list_;
  std::map<std::vector<Piece>, std::uint32_t> partial_;  ///< lists of what receivers lack
  PieceLists lists_;
};

/// The steps as phases. What its receiver has already is left out; the two messages that go to the
/// same processor over both ways round a ring are one, as the network routes both alike.
Schedule to_schedule(const Demand& demand, const gossip::Grid& grid, const gossip::Steps& steps) {
  Contents contents(demand, steps);
  PieceLists& lists = contents.lists();
  const BlockParts parts(demand, lists.pieces, std::numeric_limits<std::size_t>::max());
  HeldParts held(parts);
  std::vector<std::uint64_t> begin{0};
  std::vector<Hop> hops;
  std::vector<std::pair<Hop, const gossip::Message*>> step;
  std::vector<BlockParts::Bits> bits;
  std::vector<Piece> fresh;
  for (std::uint64_t i = 0; i < steps.size(); ++i) {
    step.clear();
    for (const gossip::Message& message : steps.step(i))
      step.push_back({{message.src, grid.moved(message.src, message.axis, message.displacement)}, &message});
    std::stable_sort(step.begin(), step.end(), [](const auto& a, const auto& b) {
      return std::pair(a.first.src, a.first.dst) < std::pair(b.first.src, b.first.dst);
    });
    for (std::size_t k = 0; k < step.size();) {
      const Hop hop = step[k].first;
      const std::uint32_t list = contents.of(*step[k].second);
      const bool alone = k + 1 == step.size() || step[k + 1].first != hop;
      bits.clear();
      parts.append(lists.in(list), bits);
      if (alone && !held.has_any(hop.dst, bits)) {
        ++k;
        if (bits.empty()) continue;
        held.add(hop.dst, bits);
        lists.list.push_back(list);
      } else {
        fresh.clear();
        for (; k < step.size() && step[k].first == hop; ++k)
          for (const Piece& piece : lists.in(contents.of(*step[k].second))) held.add(hop.dst, piece, fresh);
        if (fresh.empty()) continue;
        lists.list.push_back(contents.list_with(fresh));
      }
      hops.push_back(hop);
    }
    if (hops.size() > begin.back()) begin.push_back(hops.size());
  }
  return {demand.ranks, demand.bytes, std::move(begin), std::move(hops), std::move(lists)};
}

constexpr std::uint32_t max_stride_ranks = 1024;

}  // namespace

static std::string_view gossip_refuses(const Network& network, const Demand&) {
  if (!is_grid(network.shape())) return "gossip needs a torus, mesh or hypercube";
  if (network.ranks() != network.nodes()) return "gossip needs one rank on every host";
  if (!network.equal_rates()) return "gossip needs links of equal rate";
  if (network.ranks() > 4096) return "more than 4096 ranks";
  return {};
}

static Schedule make_gossip(const Network& network, const Demand& demand, const AlgorithmOptions& costs) {
  if (demand.ranks < 2) return {demand.ranks, demand.bytes};
  const gossip::Grid grid = grid_of(network);
  const double r = alpha_ratio(network, demand, costs);
  const gossip::GossipPlan best = gossip::best_gossip(grid, r);
  // Some plans for shared links share none, and are best on tori of unequal sides.
  if (stride.why_not(network, demand).empty()) {
    const gossip::StridePlan strides = gossip::search_stride(grid.sides, r);
    if (strides.time(r) < best.time) {
      const gossip::Steps steps = gossip::build_stride(strides);
      if (gossip::execute(grid, steps).link_disjoint) return to_schedule(demand, grid, steps);
    }
  }
  return to_schedule(demand, grid, gossip::build_gossip(grid, best));
}

static std::string_view stride_refuses(const Network& network, const Demand& demand) {
  if (const auto reason = gossip_refuses(network, demand); !reason.empty()) return reason;
  if (network.shape() != Shape::torus) return "strides need a torus";
  if (network.ranks() > max_stride_ranks) return "more than 1024 ranks";
  return {};
}

static Schedule make_stride(const Network& network, const Demand& demand, const AlgorithmOptions& costs) {
  if (demand.ranks < 2) return {demand.ranks, demand.bytes};
  const gossip::Grid grid = grid_of(network);
  return to_schedule(demand, grid,
                     gossip::build_stride(gossip::search_stride(grid.sides, alpha_ratio(network, demand, costs))));
}

static bool gossip_is_far(const Network& network, const Demand& demand, const Bounds& bounds) {
  return demand.ranks <= limits::most_ranks_compared &&
         lockstep_seconds(network, make_gossip(network, demand, {})) > limits::near_enough * bounds.seconds;
}

constinit const Algorithm gossip{
    .pattern = Pattern::all_gather,
    .name = "gossip",
    .summary = "the fastest gossip algorithm for this ratio of per-message cost to transfer time",
    .source = "Juurlink, Sibeyn and Rao",
    .contention_free = true,
    .ports = PortModel::all_port,
    .refuses = gossip_refuses,
    .make = make_gossip,
    .rank = 4,
    .is_far = gossip_is_far,
};

constinit const Algorithm stride{
    .pattern = Pattern::all_gather,
    .name = "stride",
    .summary = "everyone sends far first; few per-message costs, links are shared",
    .source = "own; shared model",
    .ports = PortModel::all_port,
    .refuses = stride_refuses,
    .make = make_stride,
};

}  // namespace algorithms
}  // namespace hocket
