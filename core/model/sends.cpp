#include "core/model/sends.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "core/error.hpp"

namespace hocket::model {

void check_fits(const Network& network, const Schedule& schedule) {
  if (schedule.ranks() != network.ranks())
    throw InputError("the schedule is for " + std::to_string(schedule.ranks()) + " ranks, the network has " +
                     std::to_string(network.ranks()));
  if (schedule.size() >= ~std::uint32_t{0}) throw InputError("the schedule is too long to simulate");
  check_ranks(schedule);
}

Sends::Sends(const Schedule& schedule) : begin_(std::uint64_t{schedule.ranks()} + 1, 0), transfers_(schedule.size()) {
  for (const Hop& hop : schedule.hops()) ++begin_[hop.src + 1];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  std::vector<std::uint64_t> fill(begin_.begin(), begin_.end() - 1);
  for (std::uint64_t i = 0; i < schedule.size(); ++i)
    transfers_[fill[schedule.hops()[i].src]++] = static_cast<std::uint32_t>(i);
}

Simulation unsent(const Schedule& schedule) {
  Simulation result;
  for (auto* times : {&result.posted, &result.start, &result.end}) times->assign(schedule.size(), 0);
  for (auto* times : {&result.phase_start, &result.phase_end}) times->assign(schedule.phases(), 0);
  result.phase.reserve(schedule.size());
  for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase)
    result.phase.insert(result.phase.end(), schedule.phase(phase).size(), static_cast<std::uint32_t>(phase));
  return result;
}

void sum_up(const Schedule& schedule, Simulation& result) {
  for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase) {
    const std::uint64_t first = schedule.phase_begin()[phase], end = schedule.phase_begin()[phase + 1];
    if (first == end) continue;
    result.phase_start[phase] = *std::min_element(result.posted.begin() + first, result.posted.begin() + end);
    result.phase_end[phase] = *std::max_element(result.end.begin() + first, result.end.begin() + end);
    result.seconds = std::max(result.seconds, result.phase_end[phase]);
  }
}

}  // namespace hocket::model
