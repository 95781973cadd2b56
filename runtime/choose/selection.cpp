#include "runtime/choose/selection.hpp"

#include <algorithm>
#include <utility>

#include "core/choose/chooser.hpp"

namespace hocket::runtime {
namespace {

Deadline in(double seconds) {
  constexpr double longest = 1e6;
  if (!(seconds < longest)) return never;
  const std::chrono::duration<double> wait(seconds);
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<Deadline::duration>(wait);
}

}  // namespace

Selection::Selection(std::vector<std::string_view> names, std::span<const double> predicted, double agree_seconds,
                     double setup_seconds, AgreedCost::Of of, const KeptTimings& known)
    : names_(std::move(names)), measured_(names_.size()), chooser_(predicted, agree_seconds, setup_seconds), cost_(of) {
  for (const CandidateTimings& candidate : known.candidates) {
    const auto same = std::ranges::find(names_, candidate.name);
    if (same != names_.end() && candidate.calls > 0)
      chooser_.recall(static_cast<std::size_t>(same - names_.begin()), candidate.seconds);
  }
}

void Selection::measured(std::size_t candidate, double seconds) {
  if (!is_cost(seconds)) return;
  ++measured_[candidate].calls;
  measured_[candidate].logarithms += exact_log(seconds);
}

void Selection::seen(std::uint64_t calls, double seconds) {
  chooser_.seen(0, calls, seconds);
  if (calls > 0) measured(0, seconds);
}

std::size_t Selection::next(MPI_Comm comm) {
  if (cost_.is_open()) {
    const double seconds = cost_.agree(comm).seconds;
    chooser_.learn(seconds);
    measured(timed_, seconds);
  }
  decision_ = chooser_.next();
  return decision_.candidate;
}

void Selection::begin() {
  if (decision_.timed) {
    cost_.begin();
    timed_ = decision_.candidate;
  }
  deadline_ = in(decision_.limit);
}

void Selection::over(double times) {
  if (decision_.timed) cost_.end(times);
}

bool Selection::native_stays() const {
  return chooser_.best() == 0 &&
         std::ranges::all_of(chooser_.beliefs(), [](const Belief& belief) { return belief.timed > 0; });
}

std::optional<KeptTimings> Selection::learned() const {
  KeptTimings timings;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const Measured& measured = measured_[i];
    if (measured.calls == 0) continue;
    const double seconds = exact_exp(measured.logarithms / static_cast<double>(measured.calls));
    timings.candidates.push_back({std::string(names_[i]), measured.calls, seconds, chooser_.noise(i)});
  }
  if (timings.candidates.empty()) return std::nullopt;
  const auto cheapest = std::ranges::min_element(timings.candidates, {}, &CandidateTimings::seconds);
  timings.winner = cheapest->name;
  return timings;
}

}  // namespace hocket::runtime
