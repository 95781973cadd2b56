#include "core/algorithms/rooted/one_giver.hpp"

#include <cmath>

#include "core/algorithms/registry.hpp"
#include "core/limits.hpp"
#include "core/schedule/token_time.hpp"

namespace hocket::algorithms {
namespace {

constexpr double fill_share = 64, worst_share = 16;  // pieces for each phase in which the pipeline fills
constexpr double many_relays = 1e5, most_relays = 4e7;

}  // namespace

std::uint64_t pieces_of_a_lane(const Demand& demand, const Pipeline& pipeline, const AlgorithmOptions& costs) {
  const double bytes = static_cast<double>(demand.contribution(demand.only_block().value())) / pipeline.lanes;
  const double fill = pipeline.depth - 1;
  const double sends = std::max(1.0, static_cast<double>(demand.ranks - 1) * pipeline.lanes);  // one piece in each lane
  double pieces = std::clamp(many_relays / sends, worst_share * fill, fill_share * fill);
  pieces = std::min({pieces, bytes / static_cast<double>(smallest_piece), most_relays / sends});
  const double alpha = costs.alpha * pipeline.sends_at_once;
  if (alpha > 0) pieces = std::min(pieces, std::sqrt(fill * bytes / (alpha * pipeline.rate)));
  return static_cast<std::uint64_t>(std::max(1.0, std::round(pieces)));
}

bool is_far_piped(const Network& network, const Bounds& bounds, const Schedule& schedule) {
  return lockstep_seconds(network, schedule) > limits::near_enough_piped * bounds.seconds;
}

}  // namespace hocket::algorithms
