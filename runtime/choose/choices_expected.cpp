/// Choices: what a call is expected to take by each candidate.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <span>
#include <sstream>

#include "core/choose/chooser.hpp"
#include "core/choose/forecast.hpp"
#include "core/model/fair_share.hpp"
#include "runtime/choose/choices.hpp"
#include "runtime/mpi/world.hpp"
#include "runtime/plan/plan_store.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/progress/waiting.hpp"
#include "runtime/two_level/host_team.hpp"

namespace hocket::runtime {
namespace {

std::string rate_text(double bytes_per_second) {
  const bool is_fast = bytes_per_second * 8 >= 1e9;
  std::ostringstream text;
  text.precision(3);
  text << bytes_per_second * 8 / (is_fast ? 1e9 : 1e6) << (is_fast ? " Gbit/s" : " Mbit/s");
  return text.str();
}

}  // namespace

/// Seconds that a host's link needs for the data that one rank sends.
double Choices::wire_seconds(const Choice& choice) const {
  const PlanStore& plans = PlanStore::instance();
  if (!plans.has_network()) return 0;
  const Pattern pattern = choice.kind.collective->pattern;
  const bool row = !choice.kind.collective->rooted && pattern != Pattern::all_reduce;
  const double bytes = static_cast<double>(choice.sizes.bytes) * (row ? members_.size() - 1 : 1);
  return bytes / (faster_ * plans.network().host_rate());
}

bool Choices::shares_wires(const Choice& choice) const {
  constexpr double alone = 2.5;  // times the bound: the library's all-to-all takes less where nobody else sends
  int world = 0;
  if (in_world()) check(PMPI_Comm_size(MPI_COMM_WORLD, &world));
  return members_.size() < world && choice.bound_seconds > 0 && choice.native_seconds > alone * choice.bound_seconds;
}

double Choices::bound_seconds(const Planned& planned, std::size_t bytes) {
  return planned.figures.bound * static_cast<double>(bytes) / static_cast<double>(planned.demand.bytes);
}

/// Measures the link rates once if timings contradict the described ones; predictions are then recomputed.
void Choices::doubt_rates(MPI_Comm comm, const Choice& choice) {
  constexpr double measuring_seconds = 30e-3, worth_measuring = 50;  // times as long, in calls
  constexpr double plausible = 10;                                   // times the bound: what schedules gain
  constexpr double contradicted = 1.5;
  const double native = choice.native_seconds;
  if (rates_doubted_ || native <= 0) return;
  const bool is_too_slow = choice.bound_seconds > 0 && native > plausible * choice.bound_seconds;
  if (native >= wire_seconds(choice) && !is_too_slow) return;
  if (std::max(spent_, native * static_cast<double>(choice.calls)) < worth_measuring * measuring_seconds) return;
  rates_doubted_ = true;
  const auto measured = static_cast<double>(members_.host_rate(comm));
  const double described = PlanStore::instance().network().host_rate();
  const double times = measured / described;
  if (measured <= 0 || (times < contradicted && times > 1 / contradicted)) return;
  faster_ = times;
  if (members_.rank() == 0 && settings().log > 0)
    say("host links are stated with " + rate_text(described) + " and measured with " + rate_text(measured) +
        ", which counts");
  for (Choice& one : choices_)
    if (one.selection) open(comm, one);
}

std::vector<double> Choices::predictions(MPI_Comm own, const Choice& choice,
                                         std::span<const Exchange* const> exchanges) const {
  std::vector<double> here(exchanges.size()), found(exchanges.size());
  const Pattern pattern = choice.kind.collective->pattern;
  const auto candidate = [&](std::size_t i) -> const Candidate& { return all_candidates[choice.offered[i]]; };
  for (std::size_t i = 0; i < exchanges.size(); ++i) {
    if (exchanges[i] == nullptr) continue;
    std::size_t same = 0;  // the longest segments, or no turns, are simulated alike
    while (exchanges[same] != exchanges[i] || candidate(same).window != candidate(i).window) ++same;
    here[i] = same < i ? here[same] : simulated(*exchanges[i], choice, candidate(i));
  }
  // Ranks that wait for the one that simulates sleep: inside the MPI library they would keep processors from it.
  MPI_Request request = MPI_REQUEST_NULL;
  check(PMPI_Iallreduce(here.data(), found.data(), static_cast<int>(here.size()), MPI_DOUBLE, MPI_MAX, own, &request));
  wait_until_done(request);
  const double port = static_cast<double>(choice.sizes.most) / PlanStore::instance().network().host_rate();
  for (std::size_t i = 0; i < exchanges.size(); ++i) {
    constexpr double usual = 1.15;  // over the bound, a schedule for the very sizes (bench/results/lab-vector.md)
    if (candidate(i).planned)
      found[i] = usual * std::max(port, choice.bound_seconds) / faster_;
    else if (exchanges[i] == nullptr)
      found[i] = choice.native_seconds > 0 ? choice.native_seconds : std::numeric_limits<double>::quiet_NaN();
    else if (found[i] == 0)
      found[i] = estimated(*exchanges[i], choice, candidate(i));
    const bool is_spread = pattern == Pattern::all_to_all || pattern == Pattern::irregular;
    if (is_spread && !candidate(i).two_level && !candidate(i).planned)
      found[i] = in_a_crowd(found[i], choice.native_seconds, candidate(i));
  }
  return found;
}

/// Seconds on the rank that keeps the whole plan; 0 on the others, and of what is not simulated. Wires are taken to be
/// at least as fast as the library's call shows: networks are often described as slower than they are.
double Choices::simulated(const Exchange& exchange, const Choice& choice, const Candidate& candidate) const {
  const Planned& planned = exchange.planned();
  if (!planned.whole || candidate.all_lead) return 0;
  const HostTeam* const together = exchange.host_team();
  const std::size_t bytes = carried_bytes(exchange, choice);
  const auto& [network, schedule] = *planned.whole;
  double overhead = profile_of(network).wire / faster_;
  const double bound = bound_seconds(planned, bytes);
  if (bound > 0 && choice.native_seconds > 0) overhead = std::min(overhead, choice.native_seconds / bound);
  const double times = static_cast<double>(bytes) / static_cast<double>(planned.demand.bytes);
  const double step = (together != nullptr ? between_leaders_ : small_)->step_seconds;
  const ModelParameters costs = costs_of_steps(network, step, times * overhead);
  const auto seconds_of = [&](const Schedule& of) { return simulated_seconds(network, of, candidate, costs); };
  const bool uneven = choice.sizes.most > 0 && together == nullptr && schedule.direct();
  const std::optional<double> seconds =
      seconds_of(uneven ? with_drawn_sizes(schedule, choice.sizes.sparse, choice.sizes.skewed) : schedule);
  return seconds ? *seconds + within_host_seconds(exchange, choice) : 0;
}

/// Seconds that the ranks of a host spend before and after the exchange between leaders: two barriers, and concurrent
/// copies at an assumed rate.
double Choices::within_host_seconds(const Exchange& exchange, const Choice& choice) const {
  constexpr double copy_rate = 2e9;  // bytes a second
  const HostTeam* const together = exchange.host_team();
  if (together == nullptr) return 0;
  const auto copied = static_cast<double>(together->needed(*choice.kind.collective, choice.sizes.bytes));
  return 2 * between_leaders_->step_seconds + copied / copy_rate;
}

std::size_t Choices::carried_bytes(const Exchange& exchange, const Choice& choice) {
  const HostTeam* const together = exchange.host_team();
  return together != nullptr ? together->aggregate_bytes(*choice.kind.collective, choice.sizes.bytes)
                             : choice.sizes.bytes;
}

/// Closed-form prediction, used where no simulation is possible.
double Choices::estimated(const Exchange& exchange, const Choice& choice, const Candidate& candidate) const {
  const Planned& planned = exchange.planned();
  const HostTeam* const together = exchange.host_team();
  const std::size_t bytes = carried_bytes(exchange, choice);
  const std::size_t segment = candidate.large ? large_segment : settings().segment;
  const double wire = bound_seconds(planned, bytes) / faster_;
  ScheduleCost cost{planned.phases, wire, candidate.window, (bytes + segment - 1) / segment, candidate.large};
  if (together != nullptr && candidate.window == 0) {
    cost.window = 1;
    const Hosts& hosts = together->hosts;
    // Phases as in the library's algorithm for short messages; where all ranks lead, each has a share of the hosts,
    // plus one more barrier.
    cost.phases = candidate.all_lead ? 1 + (hosts.count() - 1) / hosts.fewest : std::bit_width(hosts.count() - 1);
    // Between leaders the library's order is as good or bad as between all.
    cost.wire_seconds = std::sqrt(wire * std::max(wire, choice.native_seconds));
  }
  return within_host_seconds(exchange, choice) +
         forecast(cost, {(together != nullptr ? between_leaders_ : small_)->step_seconds, choice.native_seconds});
}

/// The ratio of measured to predicted time of schedules (geometric mean) at the nearest size that was measured; 1 if
/// none was.
double Choices::prediction_error(const Choice& choice) const {
  const auto distance = [&](const Choice& other) {
    return std::abs(static_cast<int>(size_class(other.sizes.bytes)) - static_cast<int>(size_class(choice.sizes.bytes)));
  };
  double error = 1;
  int least = std::numeric_limits<int>::max();
  for (const Choice& other : choices_) {
    if (other.kind != choice.kind || !other.selection || distance(other) >= least) continue;
    const std::span<const Belief> beliefs = other.selection->chooser().beliefs();
    double logarithms = 0, measured = 0;
    for (std::size_t i = 1; i < beliefs.size(); ++i) {
      if (beliefs[i].timed == 0) continue;
      logarithms += exact_log(beliefs[i].seconds / other.predicted[i]);
      ++measured;
    }
    if (measured == 0) continue;
    least = distance(other);
    error = exact_exp(logarithms / measured);
  }
  return error;
}

}  // namespace hocket::runtime
