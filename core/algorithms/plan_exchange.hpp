#pragma once
/// The one place that decides which schedule serves a demand on a network.
#include <cstdint>
#include <optional>
#include <string>

#include "core/algorithms/registry.hpp"
#include "core/limits.hpp"
#include "core/plan/plan.hpp"
#include "core/schedule/bounds.hpp"

namespace hocket {

/// Options of planning besides network and demand.
struct ScheduleOptions {
  std::string algorithm = {};  ///< a name of the registry; empty: chosen
  AlgorithmOptions for_algorithm = {};
  /// Messages in flight that its waits will allow on a channel; none: run_window(), or fewer (Algorithm::even_phases).
  std::optional<std::uint32_t> window = {};
  bool whole = false;  ///< messages of an all-to-all go whole and straight: no Algorithm::own_ways
  std::uint64_t most_steps = limits::most_simulation_steps;  ///< of the simulation by which plan() predicts
};

/// Lower bounds of the schedules of an algorithm.
struct Least {
  std::uint64_t phases = 0;
  double seconds = 0;
};

/// The bounds of an algorithm's schedules; where it takes its own ways (Algorithm::own_ways), those of any routes; of
/// null, one that this version does not know, those of the strictest port model. `bounds`: those of the demand on the
/// network's routes.
[[nodiscard]] Least least_of(const Algorithm* algorithm, const Network& network, const Demand& demand,
                             const Bounds& bounds, double alpha);

/// The schedule that serves the demand best (docs/decisions/0021-one-choice-of-schedule.md). The sizes of the demand
/// count, and the window of the waits with which the schedule will run; whether tokens, barriers or nothing holds
/// messages back does not.
///
/// - All-to-all: the tree schedule where it meets the bound, else the first other contention-free one of the registry.
///   Where links differ in rate, fewest phases need not be fastest: the least predicted time, of the list and of those
///   that an estimate (token_seconds()) finds faster than the list. So where hosts forward, whose ranks may pass on.
/// - All-gather to which one rank contributes: disjoint-trees or group-chain, where near the bound.
/// - All-gather: the first one of switch-ring (trees), gossip (grids, where it comes near the bound), rails and
///   spreading, whichever is faster phase by phase; then the least predicted time.
/// - Reduce-scatter, all-reduce: an all-gather of the same blocks, turned round (schedule/schedule.hpp); `algorithm` is
///   that one's. What is compared is the time of the reduction. Of a reduce-scatter on a graph or explicit routes the
///   all-gather is made for the ways back.
/// - Irregular: list, which cuts nothing, where it comes near the bound or cutting would take long, else critical.
///
/// What comes near the bound is taken without looking further; all limits are in limits.hpp. Throws InputError if no
/// algorithm, or not the one that was named, serves them. The plan has waits and prediction if these were compared.
[[nodiscard]] Plan choose_schedule(const Network& network, const Demand& demand, const ScheduleOptions& options = {});

/// Messages that a rank may have unacknowledged, and that a plan's waits allow on a channel, unless the user says
/// otherwise. `one_block`: one rank's alone is sent or added up.
[[nodiscard]] constexpr std::uint32_t run_window(Pattern pattern, bool one_block) {
  return by_blocks(pattern) && !one_block ? limits::gather_window : limits::window;
}
[[nodiscard]] inline std::uint32_t run_window(const Demand& demand) {
  return run_window(demand.pattern, demand.only_block().has_value());
}

/// Chooses a schedule like choose_schedule(), and adds its waits.
[[nodiscard]] Plan plan_exchange(const Network& network, const Demand& demand, const ScheduleOptions& options = {});

/// All that a user means by planning: also predicted and verified.
[[nodiscard]] Plan plan(const Network& network, const Demand& demand, const ScheduleOptions& options = {});

}  // namespace hocket
