/// All-gathers as MPI libraries do them without knowing the network; kept for comparison.
#include <algorithm>
#include <bit>

#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/phase_writer.hpp"

namespace hocket::algorithms {
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

static std::string_view recursive_doubling_refuses(const Network&, const Demand& demand) {
  return !std::has_single_bit(demand.ranks) ? "it needs a power of two of ranks" : "";
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
    .refuses = recursive_doubling_refuses,
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
