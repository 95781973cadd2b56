/// Messages of different sizes where only the ports matter: a preemptive open shop (Gonzalez and Sahni, 1976),
/// or the decomposition of a matrix of bytes into matchings with lengths (Birkhoff and von Neumann). The total
/// of the lengths is the largest row or column sum, or a little more with far fewer pieces.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "core/algorithms/irregular/shop_phases.hpp"
#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/phase_writer.hpp"
#include "core/algorithms/shared/serves.hpp"

namespace hocket::algorithms {
namespace {

constexpr std::uint64_t most_pieces_exact = 3;  // per message
constexpr std::uint64_t tolerance = 100;        // coarse units may take this part of the time more

/// The schedule in units of so many bytes, none left over; none if that takes more than `most_pieces`.
std::optional<Schedule> in_units(const Demand& demand, std::uint64_t unit, std::uint64_t most_pieces) {
  Shop shop(demand.matrix, unit);
  ShopPhases phases(shop);
  PhaseWriter writer(demand);
  for (std::uint64_t pieces = 0; shop.time() > 0;) {
    const std::uint64_t length = phases.next();
    for (std::uint32_t sender = 0; shop.is_sender(sender); ++sender) {
      const std::uint32_t job = phases.job(sender);
      if (job == ShopPhases::none) continue;
      if (++pieces > most_pieces) return std::nullopt;
      const Rank dst = shop.dst(job) - demand.ranks;
      const std::uint64_t offset = shop.done(job) * unit, units = std::min(length, shop.left(job));
      const std::uint64_t bytes = demand.matrix.size(sender, dst);
      writer.send(sender, dst, offset, std::min(units * unit, bytes - offset));
      shop.work(job, units);
    }
    shop.pass(length);
    shop.clear();
    writer.end_phase();
  }
  return writer.finish();
}

/// The largest unit, doubling from `least`, with which rounding up costs no more than the tolerance.
std::uint64_t coarse_unit(const Demand& demand, std::uint64_t least) {
  const std::uint64_t time = Shop(demand.matrix, least).time() * least, most = time + time / tolerance;
  std::uint64_t unit = least;
  while (Shop(demand.matrix, 2 * unit).time() <= most / (2 * unit)) unit *= 2;
  return unit;
}

}  // namespace

/// The exact time first, in units of the greatest common divisor. As soon as no rank has slack, sizes that
/// have little in common make ever shorter phases, which move few bytes and split everything. Where that comes
/// to more than two splits per message, coarser units take a fraction of them, for a hundredth more time.
static Schedule make_open_shop(const Network&, const Demand& demand, const AlgorithmOptions&) {
  std::uint64_t divisor = 0;
  demand.matrix.each([&](Rank, Rank, std::uint64_t bytes) { divisor = std::gcd(divisor, bytes); });
  if (divisor == 0) return PhaseWriter(demand).finish();
  if (auto exact = in_units(demand, divisor, most_pieces_exact * demand.messages())) return *std::move(exact);
  return *in_units(demand, coarse_unit(demand, divisor), std::numeric_limits<std::uint64_t>::max());
}

constinit const Algorithm open_shop{
    .pattern = Pattern::irregular,
    .name = "open-shop",
    .summary = "phases of just the right lengths where only the ports matter",
    .source = "Gonzalez and Sahni; Birkhoff and von Neumann; longest phase first: own",
    .contention_free = false,
    .ports = PortModel::one_port,
    .why_not = irregular_why_not,
    .make = make_open_shop,
    .guarantee =
        "exactly the largest row or column sum if that takes at most two splits per message, at most 1 % above it "
        "otherwise",
};

}  // namespace hocket::algorithms
