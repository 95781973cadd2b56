#include "runtime/choose/irregular_choices.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "core/plan/binary.hpp"
#include "runtime/choose/kept_timings_file.hpp"
#include "runtime/plan/settings.hpp"

namespace hocket::runtime {
namespace {

/// Usual ratio of the time of a scheduled irregular exchange to its bound (bench/results/lab-vector.md).
constexpr double usual_time = 1.15;

constexpr std::size_t most_known = 1000;  // exchanges per communicator whose timings are kept

}  // namespace

DemandClass class_of(const Demand& demand) {
  ByteWriter out;
  demand.matrix.each([&](Rank src, Rank dst, std::uint64_t bytes) {
    out.fixed(src);
    out.fixed(dst);
    out.fixed(size_class(bytes));
  });
  return {checksum(out.bytes()), demand.matrix.total_bytes() / std::max<std::uint64_t>(demand.messages(), 1)};
}

std::shared_ptr<Selection> IrregularChoices::begin(MPI_Comm comm, DemandClass demand_class, double bound,
                                                   AgreedCost::Of of) {
  if (!kept_) {
    place_ = members_.place();
    mpi_ = mpi_name();
    kept_ = kept_timings(comm, place_);
  }
  const std::string layout = "demand-" + digits_of(demand_class.digest);
  const auto of_class = [&](const KeptTimings& one) { return one.call == irregular_call && one.layout == layout; };
  const auto found = std::ranges::find_if(*kept_, of_class);
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  const std::array predicted{unknown, bound > 0 ? usual_time * bound : unknown};
  // The ranks agree on each of these calls before it begins: one agreement more counts for nothing.
  auto selection = std::make_shared<Selection>(std::vector<std::string_view>{"native", "schedule"}, predicted, 0, 0, of,
                                               found != kept_->end() ? *found : KeptTimings{});
  if (known_.size() < most_known) known_.push_back({layout, demand_class.mean_bytes, selection});
  return selection;
}

void IrregularChoices::keep() const {
  if (members_.rank != 0) return;
  std::vector<KeptTimings> learned;
  for (const Known& one : known_) {
    std::optional<KeptTimings> timings = one.selection->learned();
    if (!timings) continue;
    timings->place = place_;
    timings->call = irregular_call;
    timings->size_class = size_class(one.mean_bytes);
    timings->layout = one.layout;
    timings->ranks = static_cast<std::uint32_t>(members_.size);
    timings->hosts = static_cast<std::uint32_t>(members_.hosts);
    timings->mpi = mpi_;
    learned.push_back(std::move(*timings));
  }
  if (!learned.empty()) keep_timings(place_, learned);
}

}  // namespace hocket::runtime
