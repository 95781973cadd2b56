/// All-to-all algorithms that MPI libraries use without knowing the network; kept for comparison.
#include <algorithm>
#include <bit>
#include <numeric>

#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/phase_writer.hpp"

namespace hocket::algorithms {

/// Phases in which partner(rank, phase) says whom each rank sends to.
template <class Partner>
static Schedule by_partner(const Demand& demand, std::uint64_t phases, Partner partner) {
  PhaseWriter writer(demand);
  for (std::uint64_t phase = 0; phase < phases; ++phase) {
    for (Rank src = 0; src < demand.ranks; ++src)
      if (const Rank dst = partner(src, static_cast<Rank>(phase)); dst != src) writer.send(src, dst);
    writer.end_phase();
  }
  return writer.finish();
}

static std::string_view other_than_power_of_two(const Network&, const Demand& demand) {
  return !std::has_single_bit(demand.ranks) ? "it needs a power of two of ranks" : "";
}

/// LAM/MPI: everybody posts all sends in the order 0, 1, 2, … (Faraj and Yuan, section 6).
static Schedule make_linear(const Network&, const Demand& demand, const AlgorithmOptions&) {
  PhaseWriter writer(demand);
  for (Rank src = 0; src < demand.ranks; ++src)
    for (Rank dst = 0; dst < demand.ranks; ++dst)
      if (src != dst) writer.send(src, dst);
  return writer.finish();
}

/// MPICH, any number of ranks: at step j rank i sends to i + j (Thakur, Rabenseifner and Gropp).
static Schedule make_ring(const Network&, const Demand& demand, const AlgorithmOptions&) {
  const Rank n = demand.ranks;
  return by_partner(demand, n > 0 ? n - 1 : 0, [n](Rank src, Rank phase) { return (src + phase + 1) % n; });
}

/// MPICH, powers of two: at step j rank i exchanges with i XOR j.
static Schedule make_pairwise(const Network&, const Demand& demand, const AlgorithmOptions&) {
  return by_partner(demand, demand.ranks - 1, [](Rank src, Rank phase) { return src ^ (phase + 1); });
}

constinit const Algorithm ring{
    .pattern = Pattern::all_to_all,
    .name = "ring",
    .summary = "at step j rank i sends to i + j",
    .source = "MPICH (Thakur, Rabenseifner, Gropp)",
    .make = make_ring,
};

constinit const Algorithm pairwise{
    .pattern = Pattern::all_to_all,
    .name = "pairwise",
    .summary = "at step j rank i exchanges with i XOR j",
    .source = "MPICH, powers of two",
    .refuses = other_than_power_of_two,
    .make = make_pairwise,
};

constinit const Algorithm linear{
    .pattern = Pattern::all_to_all,
    .name = "linear",
    .summary = "post everything at once, in the order of ranks",
    .source = "LAM/MPI",
    .make = make_linear,
};

/// All-to-all on tori and meshes as shifts: a phase is a displacement in every dimension, as Stricker and
/// Hardwick's talk "From AAPC to Random Permuters and Sorters" (1996) has them before its patterns and
/// routes are made free of congestion. A phase is a permutation, so that ports are never shared; links are.
///
/// A phase of the grid is one permutation of k coordinates per side k, and node (x, y, …) sends to
/// (π(x), σ(y), …). Under dimension-order routes each line of nodes along a dimension then carries just the
/// messages of that dimension's permutation, so that the worst use of a channel in a phase is the largest of
/// the permutations' own. k permutations that cover every pair of coordinates once multiply up to phases
/// that cover every pair of nodes once.

namespace {

/// k permutations of the coordinates 0 … k−1, one per phase, that cover every pair of coordinates once.
class RingPhases {
 public:
  /// Phase δ: everybody sends to its coordinate + δ.
  explicit RingPhases(std::uint32_t side) : side_(side) {}

  /// Phases with the same pairs as the plain shifts, but with both directions of the ring in use in each phase and
  /// links loaded evenly:
  ///
  /// - Even sides: even coordinates send to + δ, odd ones to − δ. A shift by an even δ keeps even and odd
  ///   coordinates apart and one by an odd δ exchanges them, so this is a permutation. A channel that
  ///   carries min(δ, k − δ) messages in the plain shift carries half of them, rounded up. (δ = k/2 is the
  ///   same permutation as in the plain shift; there the network's ties decide.)
  /// - Odd sides: no permutation mixes + δ with − δ, unless δ divides the ring into shorter ones: who goes up next
  ///   to who goes down must change places with it, which leaves one over on a ring of odd length. Instead phase c
  ///   sends x to m·x + c with m and m − 1 coprime to k. That is a permutation (m), its displacements
  ///   (m − 1)·x + c are all different (m − 1), so up and down weigh the same, and every phase is the one before,
  ///   turned along the ring. m is the one whose worst channel use w is least; where k phases of it come to no less
  ///   than the shifts (k² − 1)/4 (k = 3 and 15), shifts remain.
  static RingPhases paired(std::uint32_t side) {
    RingPhases phases(side);
    phases.by_parity_ = side % 2 == 0;
    if (phases.by_parity_) return phases;
    std::uint64_t least = (std::uint64_t{side} * side - 1) / 4;
    for (std::uint32_t m = 2; m < side; ++m) {
      if (std::gcd(m, side) != 1 || std::gcd(m - 1, side) != 1) continue;
      const std::uint64_t use = std::uint64_t{side} * worst_use(side, m, least / side);
      if (use >= least) continue;
      least = use;
      phases.multiplier_ = m;
    }
    return phases;
  }

  [[nodiscard]] std::uint32_t side() const { return side_; }

  [[nodiscard]] std::uint32_t target(std::uint32_t from, std::uint32_t phase) const {
    if (by_parity_ && from % 2 == 1) return (from + side_ - phase) % side_;
    return static_cast<std::uint32_t>((std::uint64_t{multiplier_} * from + phase) % side_);
  }

 private:
  /// The most messages that share a channel of a ring of odd length under x → m·x; any number above
  /// `enough` where there are more than that.
  static std::uint64_t worst_use(std::uint32_t side, std::uint32_t m, std::uint64_t enough) {
    std::uint64_t worst = 0;
    for (const bool up : {true, false}) {
      // change[i]: messages that begin to use the ring at place i, less those that leave it there.
      std::vector<std::int64_t> change(2 * std::size_t{side} + 1, 0);
      for (std::uint32_t x = 0; x < side; ++x) {
        const auto displacement = static_cast<std::uint32_t>(std::uint64_t{m - 1} * x % side);
        const std::uint32_t length = up ? displacement : (side - displacement) % side;
        if (2 * length > side) continue;  // the other way is shorter
        const std::uint32_t begin = up ? x : (side - x) % side;
        ++change[begin];
        --change[begin + length];
      }
      std::partial_sum(change.begin(), change.end(), change.begin());
      for (std::uint32_t i = 0; i < side; ++i)
        worst = std::max(worst, static_cast<std::uint64_t>(change[i] + change[i + side]));
      if (worst > enough) break;
    }
    return worst;
  }

  std::uint32_t side_;
  bool by_parity_ = false;
  std::uint32_t multiplier_ = 1;
};

/// The product of the dimensions' phases, the last dimension's running fastest. A phase in which everybody
/// keeps its own message is left out.
Schedule product_of(const Demand& demand, const std::vector<RingPhases>& dimensions) {
  const Rank n = demand.ranks;
  PhaseWriter writer(demand);
  std::vector<Rank> to(n), wider(n);
  for (Rank phase = 0; phase < n; ++phase) {
    // to[i] for the ranks of the dimensions so far, from the first on, as if there were no others.
    to[0] = 0;
    Rank size = 1, rest = n;
    for (const RingPhases& dimension : dimensions) {
      const std::uint32_t side = dimension.side();
      rest /= side;
      const std::uint32_t own = phase / rest % side;
      for (std::uint32_t x = 0; x < side; ++x) {
        const std::uint32_t target = dimension.target(x, own);
        for (Rank i = 0; i < size; ++i) wider[i * side + x] = to[i] * side + target;
      }
      size *= side;
      std::swap(to, wider);
    }
    for (Rank src = 0; src < n; ++src)
      if (to[src] != src) writer.send(src, to[src]);
    writer.end_phase();
  }
  return writer.finish();
}

/// The ranks of a host are one more dimension, without wires.
Schedule by_dimensions(const Network& network, const Demand& demand, RingPhases (*phases_of)(std::uint32_t)) {
  std::vector<RingPhases> dimensions;
  for (const std::uint32_t side : network.spec().sides) dimensions.push_back(phases_of(side));
  dimensions.emplace_back(network.ranks_per_host());
  return product_of(demand, dimensions);
}

}  // namespace

static std::string_view shift_refuses(const Network& network, const Demand&) {
  if (network.shape() == Shape::hypercube) return "on a hypercube the shifts are those of 'pairwise'";
  if (network.shape() != Shape::torus && network.shape() != Shape::mesh) return "shifts need a torus or mesh";
  if (network.ranks_per_host() == 0) return "shifts need as many ranks on every host";
  return {};
}

/// On a mesh, too, coordinates are counted modulo the side, so that who finds nobody at one end sends to the
/// other.
static Schedule make_shift(const Network& network, const Demand& demand, const AlgorithmOptions&) {
  return by_dimensions(network, demand, [](std::uint32_t side) { return RingPhases(side); });
}

static std::string_view paired_shift_refuses(const Network& network, const Demand& demand) {
  if (network.shape() == Shape::mesh) return "on a mesh plain shifts use both directions already";
  return shift_refuses(network, demand);
}

static Schedule make_paired_shift(const Network& network, const Demand& demand, const AlgorithmOptions&) {
  return by_dimensions(network, demand, RingPhases::paired);
}

constinit const Algorithm shift{
    .pattern = Pattern::all_to_all,
    .name = "shift",
    .summary = "on a torus or mesh a phase per displacement in every dimension",
    .source = "Stricker and Hardwick, phased routing",
    .refuses = shift_refuses,
    .make = make_shift,
};

constinit const Algorithm paired_shift{
    .pattern = Pattern::all_to_all,
    .name = "paired-shift",
    .summary = "shifts whose phases use both directions of every ring of a torus",
    .source = "Stricker and Hardwick, pattern fixed; odd sides: own",
    .refuses = paired_shift_refuses,
    .make = make_paired_shift,
};

// All-gathers as MPI libraries do them without knowing the network; kept for comparison.

namespace {

/// Messages of whole contributions; none of nothing.
class Aggregates : public PhaseWriter {
 public:
  explicit Aggregates(const Demand& demand) : PhaseWriter(demand), demand_(demand) {}

  void add(Rank origin) {
    if (const std::uint64_t bytes = demand_.contribution(origin); bytes > 0)
      PhaseWriter::add({origin, everyone, 0, bytes});
  }
  void end_message(Hop hop) {
    if (has_pieces()) send(hop.src, hop.dst);
  }

 private:
  const Demand& demand_;
};

}  // namespace

/// The ring in the order of ranks (MPICH, Open MPI; long messages).
static Schedule make_neighbor_ring(const Network&, const Demand& demand, const AlgorithmOptions&) {
  Aggregates aggregates(demand);
  const Rank n = demand.ranks;
  for (Rank phase = 0; phase + 1 < n; ++phase) {
    for (Rank src = 0; src < n; ++src) {
      aggregates.add((src + n - phase) % n);
      aggregates.end_message({src, (src + 1) % n});
    }
    aggregates.end_phase();
  }
  return aggregates.finish();
}

/// At step j rank i exchanges all it has with i XOR 2^j, near ones first (MPICH, short messages).
static Schedule make_recursive_doubling(const Network&, const Demand& demand, const AlgorithmOptions&) {
  Aggregates aggregates(demand);
  for (Rank distance = 1; distance < demand.ranks; distance *= 2) {
    for (Rank src = 0; src < demand.ranks; ++src) {
      for (Rank i = 0; i < distance; ++i) aggregates.add(src / distance * distance + i);
      aggregates.end_message({src, src ^ distance});
    }
    aggregates.end_phase();
  }
  return aggregates.finish();
}

/// At step j rank i sends all it has to i − 2^j; the last step completes any number of ranks (Bruck).
static Schedule make_bruck(const Network&, const Demand& demand, const AlgorithmOptions&) {
  Aggregates aggregates(demand);
  const Rank n = demand.ranks;
  for (Rank distance = 1; distance < n; distance *= 2) {
    for (Rank src = 0; src < n; ++src) {
      for (Rank i = 0; i < std::min(distance, n - distance); ++i) aggregates.add((src + i) % n);
      aggregates.end_message({src, (src + n - distance) % n});
    }
    aggregates.end_phase();
  }
  return aggregates.finish();
}

static std::string_view neighbor_exchange_refuses(const Network&, const Demand& demand) {
  return demand.ranks % 2 != 0 ? "it needs an even number of ranks" : "";
}

/// Pairs exchange with the neighbour on either side in turn, two contributions at a time (Open MPI).
static Schedule make_neighbor_exchange(const Network&, const Demand& demand, const AlgorithmOptions&) {
  Aggregates aggregates(demand);
  const Rank n = demand.ranks;
  // Pair p is ranks 2p and 2p + 1. In step s, an even rank holds from its last partner the pair
  // `newest`, and hands it to the other side.
  std::vector<Rank> newest(n), next(n);
  for (Rank src = 0; src < n; ++src) {
    aggregates.add(src);
    aggregates.end_message({src, src ^ 1});
    newest[src] = src / 2;
  }
  aggregates.end_phase();
  for (Rank step = 1; step < n / 2; ++step) {
    for (Rank src = 0; src < n; ++src) {
      const bool up = (src % 2 == 0) == (step % 2 == 0);  // odd ranks turn to the right in odd steps
      const Rank dst = up ? (src + 1) % n : (src + n - 1) % n;
      aggregates.add(2 * newest[src]);
      aggregates.add(2 * newest[src] + 1);
      aggregates.end_message({src, dst});
      next[dst] = newest[src];
    }
    newest = next;
    aggregates.end_phase();
  }
  return aggregates.finish();
}

constinit const Algorithm neighbor_ring{
    .pattern = Pattern::all_gather,
    .name = "neighbor-ring",
    .summary = "a ring in the order of ranks",
    .source = "MPICH, Open MPI",
    .make = make_neighbor_ring,
};

constinit const Algorithm recursive_doubling{
    .pattern = Pattern::all_gather,
    .name = "recursive-doubling",
    .summary = "at step j rank i exchanges all it has with i XOR 2^j",
    .source = "MPICH, powers of two",
    .refuses = other_than_power_of_two,
    .make = make_recursive_doubling,
};

constinit const Algorithm bruck{
    .pattern = Pattern::all_gather,
    .name = "bruck",
    .summary = "at step j rank i sends all it has to i - 2^j",
    .source = "Bruck et al.; MPICH, Open MPI",
    .make = make_bruck,
};

constinit const Algorithm neighbor_exchange{
    .pattern = Pattern::all_gather,
    .name = "neighbor-exchange",
    .summary = "pairs exchange with either neighbour in turn",
    .source = "Open MPI",
    .refuses = neighbor_exchange_refuses,
    .make = make_neighbor_exchange,
};

}  // namespace hocket::algorithms
