/// "spreading": all-gather on any network, phase by phase, every channel used where it brings news.
///
/// A greedy on the time-expanded network, as topology-aware synthesis does it (Won et al., "TACOS",
/// MICRO 2024): in each phase every rank in turn, those that lack most first, gets the rarest part that
/// the nearest rank with a free route to it can give.
#include <bit>
#include <limits>

#include "core/algorithms/all_gather/streams.hpp"
#include "core/algorithms/shared/phase_writer.hpp"
#include "core/limits.hpp"
#include "core/progress/progress.hpp"
#include "core/schedule/shared_channels.hpp"

namespace hocket::algorithms {
namespace {

constexpr std::uint32_t most_ranks = 256;      // a second or a few on one core
constexpr std::uint32_t most_looked_at = 256;  ///< parts compared for one send
constexpr double most_part_sends = 1e6;        ///< sends of all parts in one schedule; beyond, parts grow

class PartSet {
 public:
  explicit PartSet(std::size_t parts) : words_((parts + 63) / 64, 0) {}
  void add(std::uint32_t part) { words_[part / 64] |= std::uint64_t{1} << part % 64; }
  [[nodiscard]] std::size_t words() const { return words_.size(); }
  [[nodiscard]] std::uint64_t word(std::size_t i) const { return words_[i]; }

 private:
  std::vector<std::uint64_t> words_;
};

class Spreading {
 public:
  Spreading(const Network& network, const Demand& demand, std::vector<Chunk> parts, std::uint64_t seed)
      : network_(network),
        demand_(demand),
        parts_(std::move(parts)),
        seed_(seed),
        held_(demand.ranks, PartSet(parts_.size())),
        coming_(network.nodes(), PartSet(parts_.size())),
        known_(demand.ranks, held_.front()),
        lacks_(demand.ranks, static_cast<std::uint32_t>(parts_.size())),
        holders_(parts_.size(), 0),
        used_(network.channels(), 0) {
    for (std::uint32_t part = 0; part < parts_.size(); ++part) {
      held_[parts_[part].origin].add(part);
      note(parts_[part].origin, part);
    }
    list_sources();
  }

  Schedule run() {
    std::vector<Rank> order(demand_.ranks);
    for (Rank rank = 0; rank < demand_.ranks; ++rank) order[rank] = rank;
    while (std::any_of(lacks_.begin(), lacks_.end(), [](std::uint32_t lacks) { return lacks > 0; })) {
      std::fill(used_.begin(), used_.end(), 0);
      std::stable_sort(order.begin(), order.end(), [this](Rank x, Rank y) { return lacks_[x] > lacks_[y]; });
      for (const Rank rank : order) copy_from_mates(rank);
      for (bool sent = true; sent;) {
        sent = false;
        for (const Rank rank : order) sent = (lacks_[rank] > 0 && fetch(rank)) || sent;
      }
      if (arrived_.empty()) throw InputError("spreading: nothing can be sent, yet something is missing");
      end_phase();
    }
    return writer_.finish();
  }

 private:
  /// Lists per rank the ranks from which it can get something, nearest first. Where all hosts have neighbours, wired to
  /// them without a switch, over which all reach all, ranks ask their neighbours only.
  void list_sources() {
    if (!list_sources(true) || !sources_join_all()) list_sources(false);
  }

  /// Returns whether every rank has a neighbour.
  bool list_sources(bool neighbours_only) {
    bool wired = true;
    std::vector<Channel> route;
    std::vector<std::pair<std::size_t, Rank>> near;
    sources_.assign(demand_.ranks, {});
    for (Rank dst = 0; dst < demand_.ranks; ++dst) {
      near.clear();
      for (Rank i = 1; i < demand_.ranks; ++i) {
        const Rank src = (dst + i) % demand_.ranks;
        if (network_.host_of(src) == network_.host_of(dst)) continue;
        near.push_back({network_.find_route(src, dst, route).size(), src});
      }
      std::stable_sort(near.begin(), near.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
      wired = wired && !near.empty() && near.front().first == 1;
      for (const auto& [hops, src] : near) {
        if (neighbours_only && hops > 1) break;
        sources_[dst].push_back(src);
      }
    }
    return wired;
  }

  [[nodiscard]] bool sources_join_all() const {
    std::vector<bool> reached(demand_.ranks, false);
    std::vector<Rank> stack(1, 0);
    reached[0] = true;
    while (!stack.empty()) {
      const Rank at = stack.back();
      stack.pop_back();
      const auto reach = [&](Rank rank) {
        if (!reached[rank]) stack.push_back(rank);
        reached[rank] = true;
      };
      for (const Rank mate : network_.ranks_of(network_.host_of(at))) reach(mate);
      for (const Rank source : sources_[at]) reach(source);
    }
    return std::find(reached.begin(), reached.end(), false) == reached.end();
  }

  void note(Rank rank, std::uint32_t part) {
    known_[rank].add(part);
    coming_[network_.host_of(rank)].add(part);
    --lacks_[rank];
    steps_.tick();
    ++holders_[part];
  }

  /// Adds a part to the next message, which goes to `dst`.
  void add(Rank dst, std::uint32_t part) {
    writer_.add({parts_[part].origin, everyone, parts_[part].offset, parts_[part].length});
    arrived_.push_back({dst, part});
    note(dst, part);
  }

  /// Sends `dst` what the other ranks of its host hold, through memory, as one message from each.
  void copy_from_mates(Rank dst) {
    for (const Rank src : network_.ranks_of(network_.host_of(dst))) {
      if (src == dst) continue;
      for (std::size_t i = 0; i < held_[src].words(); ++i)
        for (std::uint64_t news = held_[src].word(i) & ~known_[dst].word(i); news != 0; news &= news - 1)
          add(dst, static_cast<std::uint32_t>(64 * i) + static_cast<std::uint32_t>(std::countr_zero(news)));
      if (writer_.has_pieces()) writer_.send(src, dst);
    }
  }

  std::uint64_t random() {
    seed_ = seed_ * 6364136223846793005u + 1442695040888963407u;
    return seed_ >> 33;
  }

  /// The rarest part that src holds and the host of dst does not get; none: the number of parts.
  std::uint32_t rarest(Rank src, Rank dst) {
    const PartSet &have = held_[src], &coming = coming_[network_.host_of(dst)];
    auto best = static_cast<std::uint32_t>(parts_.size());
    std::uint32_t looked_at = 0, least = ~0u;
    const std::size_t words = have.words(), start = words > 1 ? random() % words : 0;
    for (std::size_t k = 0; k < words && looked_at < most_looked_at; ++k) {
      const std::size_t i = start + k < words ? start + k : start + k - words;
      for (std::uint64_t news = have.word(i) & ~coming.word(i); news != 0; news &= news - 1) {
        const auto part = static_cast<std::uint32_t>(64 * i) + static_cast<std::uint32_t>(std::countr_zero(news));
        ++looked_at;
        if (holders_[part] > least || (holders_[part] == least && random() % 2 == 0)) continue;
        least = holders_[part];
        best = part;
      }
    }
    return best;
  }

  bool fetch(Rank dst) {
    for (const Rank src : sources_[dst]) {
      network_.find_route(src, dst, route_);
      const auto full = [this](Channel channel) { return used_[channel] >= network_.capacity(channel); };
      if (full(route_.back())) {
        if (network_.shape() == Shape::tree) return false;
        continue;
      }
      if (std::any_of(route_.begin(), route_.end(), full)) continue;
      const std::uint32_t part = rarest(src, dst);
      if (part == parts_.size()) continue;
      for (const Channel channel : route_) ++used_[channel];
      add(dst, part);
      writer_.send(src, dst);
      return true;
    }
    return false;
  }

  void end_phase() {
    for (const auto& [rank, part] : arrived_) held_[rank].add(part);
    arrived_.clear();
    writer_.end_phase();
  }

  struct Arrived {
    Rank rank;
    std::uint32_t part;
  };

  const Network& network_;
  const Demand& demand_;
  std::vector<Chunk> parts_;
  std::uint64_t seed_;
  std::vector<PartSet> held_;    ///< per rank: may be sent on
  std::vector<PartSet> coming_;  ///< per node: some rank of the host holds or gets it
  std::vector<PartSet> known_;   ///< per rank: holds or gets it
  std::vector<std::uint32_t> lacks_, holders_;
  Steps steps_{"spreading parts", std::uint64_t{demand_.ranks} * parts_.size()};
  std::vector<std::uint32_t> used_;  ///< per channel, in this phase
  std::vector<std::vector<Rank>> sources_;
  std::vector<Arrived> arrived_;
  std::vector<Channel> route_;
  PhaseWriter writer_{demand_};
};

/// Parts of each contribution: one for every channel into the host that has fewest.
std::uint32_t parts_of(const Network& network) {
  if (network.shape() == Shape::routed) return 1;
  std::vector<std::uint32_t> links(network.nodes(), 0);
  for (const LinkSpec& link : network.spec().links) ++links[link.a], ++links[link.b];
  std::uint32_t least = ~0u;
  for (const Node host : network.hosts()) least = std::min(least, links[host]);
  return std::clamp(least, 1u, 16u);
}

/// The largest contributions make the time: they flow in a pipeline. The smaller their parts, the sooner every channel
/// is busy, and the more messages there are. Parts are halved until the time is within 2 % of the bound or rises.
Schedule spread_unequal(const Network& network, const Demand& demand, const Contributions& bytes, double alpha) {
  const double n = demand.ranks, channels = parts_of(network);
  const double enough = 1.02 * (lower_bounds(network, demand).seconds + alpha);
  const double finest = std::max({1.0, bytes.all / (8 * n * channels), n * bytes.all / most_part_sends});
  Schedule best{demand.ranks, demand.bytes};
  double least = std::numeric_limits<double>::infinity();
  for (double part = bytes.largest;;
       part = std::max(finest, part / (part == bytes.largest ? std::max(channels, 2.0) : 2))) {
    const std::vector<Chunk> parts = cut_contributions(demand, 1, part);
    const double before = least;
    double fastest = std::numeric_limits<double>::infinity();
    const std::uint32_t tries = n * static_cast<double>(parts.size()) <= most_part_sends / 16 ? 6 : 1;
    for (std::uint32_t seed = 1; seed <= tries && least > enough; ++seed) {
      Schedule schedule = Spreading(network, demand, parts, seed).run();
      const double seconds = lockstep_seconds(network, schedule, alpha);
      fastest = std::min(fastest, seconds);
      if (seconds >= least) continue;
      least = seconds;
      best = std::move(schedule);
    }
    const bool rises = fastest > 1.25 * before;
    if (least <= enough || rises || part <= finest) return best;
  }
}

}  // namespace

static std::string_view spreading_refuses(const Network&, const Demand& demand) {
  return demand.ranks <= most_ranks ? "" : "more than 256 ranks: it would take long";
}

static Schedule make_spreading(const Network& network, const Demand& demand, const AlgorithmOptions& costs) {
  if (const Contributions bytes(demand); bytes.unequal) return spread_unequal(network, demand, bytes, costs.alpha);
  const std::uint32_t tries = demand.ranks <= 64 ? 4 : 1;
  const std::vector<Chunk> parts = split_contributions(demand, parts_of(network), network.host_rate(), costs);
  Schedule best = Spreading(network, demand, parts, 1).run();
  for (std::uint32_t seed = 2; seed <= tries; ++seed) {
    Schedule other = Spreading(network, demand, parts, seed).run();
    if (other.phases() < best.phases()) best = std::move(other);
  }
  return best;
}

/// Prefers rails, whose ranks have few partners, where they serve, unless their load is far above the bound and
/// spreading is faster.
static bool spreading_is_far(const Network& network, const Demand& demand, const Bounds& bounds) {
  if (!rails.why_not(network, demand).empty()) return false;
  StreamLoad load;
  (void)host_rails(network, demand, load);
  if (load.seconds <= limits::near_enough * bounds.seconds || demand.ranks > limits::most_ranks_compared) return true;
  return lockstep_seconds(network, make_spreading(network, demand, {})) >= load.seconds;
}

constinit const Algorithm spreading{
    .pattern = Pattern::all_gather,
    .name = "spreading",
    .summary = "phase by phase, every channel used where it brings news",
    .source = "own; greedy synthesis as in TACOS (Won et al.)",
    .contention_free = true,
    .ports = PortModel::all_port,
    .refuses = spreading_refuses,
    .make = make_spreading,
    .rank = 6,
    .is_far = spreading_is_far,
};

}  // namespace hocket::algorithms
