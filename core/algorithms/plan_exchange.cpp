#include "core/algorithms/plan_exchange.hpp"

#include <chrono>
#include <limits>

#include "core/error.hpp"
#include "core/model/predict.hpp"
#include "core/schedule/shared_channels.hpp"

namespace hocket {
namespace {

/// True if the way back between two hosts may differ from the way there.
bool has_other_ways_back(const Network& network) {
  return network.shape() == Shape::graph || network.shape() == Shape::routed;
}

/// The first algorithm that serves the demand and is not far from the bound, else the last one that serves it. Throws
/// InputError if none does.
const Algorithm& first_choice(const Network& network, const Demand& demand, const Bounds& bounds) {
  std::string reasons;
  const Algorithm* fallback = nullptr;
  for (const Algorithm* const one : by_rank(demand.pattern)) {
    if (const std::string_view reason = one->why_not(network, demand); !reason.empty()) {
      reasons += "; " + std::string(one->name) + ": " + std::string(reason);
      continue;
    }
    if (one->is_far == nullptr || !one->is_far(network, demand, bounds)) return *one;
    fallback = one;
  }
  if (fallback != nullptr) return *fallback;
  throw InputError("no " + std::string(to_string(demand.pattern)) + " algorithm serves this network" + reasons);
}

bool predictions_are_compared(const Network& network, const Demand& demand) {
  if (demand.pattern == Pattern::irregular || demand.messages() > limits::most_messages_compared) return false;
  return demand.pattern == Pattern::all_gather || !network.equal_rates();
}

/// The first choice, and what it is compared with. Where links differ, the list, which is the best in three cases of
/// four, comes before it. What is made for one contribution is near the bound; to simulate its
/// many pieces would take minutes. Where messages have a per-message cost there are few, and other ways may need fewer.
/// What takes its own ways may beat any schedule that keeps to the routes.
std::vector<const Algorithm*> candidates(const Network& network, const Demand& demand, const Bounds& bounds,
                                         const ScheduleOptions& options) {
  const Algorithm& first = first_choice(network, demand, bounds);
  std::vector<const Algorithm*> found{&first};
  const bool is_enough = first.one_contribution && (options.for_algorithm.alpha == 0 || network.tree() != nullptr);
  const bool compares = predictions_are_compared(network, demand) && !is_enough;
  for (const Algorithm* const other : all_algorithms()) {
    if (other->name == "list" && demand.messages() > limits::most_messages_listed) continue;
    if (other->own_ways ? options.whole : !compares) continue;
    if (other->pattern == demand.pattern && other->contention_free && other != &first &&
        other->why_not(network, demand).empty())
      found.push_back(other);
  }
  if (demand.pattern == Pattern::all_to_all)
    std::ranges::stable_partition(found, [](const Algorithm* algorithm) { return algorithm->name == "list"; });
  return found;
}

const Algorithm& named(const ScheduleOptions& options, const Network& network, const Demand& demand) {
  const Algorithm& found = find_algorithm(options.algorithm, demand.pattern);
  std::string_view reason = found.why_not(network, demand);
  if (reason.empty() && found.own_ways && options.whole) reason = "it cuts messages, which here go whole";
  if (!reason.empty())
    throw InputError("algorithm '" + options.algorithm + "' cannot serve this: " + std::string(reason));
  return found;
}

bool better(const Plan& a, const Plan& b) {
  return std::pair(a.predicted_seconds, a.schedule.phases()) < std::pair(b.predicted_seconds, b.schedule.phases());
}

/// The waits with the prediction that belongs to them.
void set_prediction(Plan& plan, Waits waits, Prediction prediction) {
  plan.waits = std::move(waits);
  plan.predicted_seconds = prediction.seconds;
  plan.prediction = to_string(prediction.kind);
}

/// The candidate with the least predicted run time; a prediction of at most `enough` seconds ends the search. No more
/// than two schedules are in memory at a time.
template <class Make>
Plan fastest(const Network& network, const Demand& demand, const std::vector<const Algorithm*>& tried,
             const AlgorithmOptions& costs, std::optional<std::uint32_t> window, double enough, Make make) {
  Plan best = make(*tried.front());
  const auto windows = [&](const Algorithm& algorithm) {
    const std::uint32_t usual = window.value_or(run_window(demand));
    return !window && algorithm.even_phases && usual > 1 ? std::vector{1U, usual} : std::vector{usual};
  };
  if (tried.size() == 1 && windows(*tried.front()).size() == 1) return best;
  const auto sharing_of = [&](const Algorithm& algorithm) { return algorithm.own_ways ? nullptr : costs.sharing; };
  const auto predict_by_waits = [&](Plan& of, const Algorithm& algorithm) {
    for (const std::uint32_t each : windows(algorithm)) {
      const bool known = !of.prediction.empty();
      if (known && of.predicted_seconds <= enough) return;
      Waits waits = derive_waits(network, of.schedule, each, sharing_of(algorithm));
      const Prediction prediction =
          predict(network, demand, of.schedule, waits, algorithm.contention_free, costs.alpha, std::nullopt);
      if (!known || prediction.seconds < of.predicted_seconds) set_prediction(of, std::move(waits), prediction);
    }
  };
  predict_by_waits(best, *tried.front());
  for (std::size_t i = 1; i < tried.size() && best.predicted_seconds > enough; ++i) {
    Plan other = make(*tried[i]);
    // A clock without latencies and per-message costs tells at once what gains nothing; the waits take much longer.
    if (const ChannelSharing* const sharing = sharing_of(*tried[i]);
        sharing != nullptr &&
        token_seconds(network, other.schedule, *sharing) >= limits::worth_waits * best.predicted_seconds)
      continue;
    predict_by_waits(other, *tried[i]);
    if (better(other, best)) best = std::move(other);
  }
  return best;
}

/// All-reduces whose halves each follow the routes of their own direction. Turning the all-gather round brings its
/// transfers onto the ways back, where they may meet: then the other half is made for these.
class AllReduces {
 public:
  AllReduces(const Network& network, const Demand& demand, const Bounds& bounds, const ScheduleOptions& options)
      : network_(network), demand_(demand), bounds_(bounds), options_(options) {}

  Schedule of(const Algorithm& algorithm, const Schedule& gather) {
    Schedule whole = turned(network_, Pattern::all_reduce, gather);
    if (!has_other_ways_back(network_)) return whole;
    const double seconds = lockstep_seconds(network_, whole);
    if (seconds <= limits::near_enough * bounds_.seconds) return whole;
    if (!back_) {
      Demand back = demand_;
      back.pattern = Pattern::reduce_scatter;
      back_ = choose_schedule(network_, back, options_);
    }
    if (find_algorithm(back_->algorithm, back_->demand.pattern).ports != algorithm.ports) return whole;
    Schedule halves = joined(back_->schedule, gather);
    return lockstep_seconds(network_, halves) < seconds ? std::move(halves) : std::move(whole);
  }

 private:
  const Network& network_;
  const Demand& demand_;
  const Bounds& bounds_;
  const ScheduleOptions& options_;
  std::optional<Plan> back_;  ///< the reduce-scatter, made when it is first needed
};

}  // namespace

Least least_of(const Algorithm* algorithm, const Network& network, const Demand& demand, const Bounds& bounds,
               double alpha) {
  if (algorithm == nullptr || !algorithm->own_ways) {
    const PortModel ports = algorithm == nullptr ? PortModel::one_port : algorithm->ports;
    return {least_phases(network, demand, bounds, ports), least_seconds(network, demand, bounds, alpha)};
  }
  const std::optional<FreeRoutesBound> free = price_channels(network, demand);
  return {fewest_phases(network, PortModel::all_port), free ? free->seconds : 0};
}

/// Reductions are all-gathers turned round. An all-reduce is two of them: that its halves take their bounds is enough.
Plan choose_schedule(const Network& network, const Demand& demand, const ScheduleOptions& options) {
  const bool reduces = demand.reduces(), both = demand.pattern == Pattern::all_reduce;
  const Demand forward = reduces ? gather_of(demand) : demand;
  std::optional<Network> ways_back;
  if (reduces && !both && has_other_ways_back(network)) ways_back.emplace(network.turned_round());
  const Network& made_for = ways_back ? *ways_back : network;
  const Bounds bounds = lower_bounds(network, demand), of_forward = reduces ? lower_bounds(made_for, forward) : bounds;
  AlgorithmOptions costs = options.for_algorithm;
  const std::vector<const Algorithm*> tried = options.algorithm.empty()
                                                  ? candidates(made_for, forward, of_forward, options)
                                                  : std::vector<const Algorithm*>{&named(options, made_for, forward)};
  std::optional<ChannelSharing> sharing;  // all-to-alls: shared by all schedules that have the same messages
  if (tried.size() > 1 && demand.pattern == Pattern::all_to_all && !network.equal_rates())
    costs.sharing = &sharing.emplace(network, each_pair(network, demand.bytes));
  std::optional<Least> of_any_routes;  // takes long
  const auto least = [&](const Algorithm& algorithm) {
    if (!algorithm.own_ways) return least_of(&algorithm, network, demand, bounds, costs.alpha);
    if (!of_any_routes) of_any_routes = least_of(&algorithm, network, demand, bounds, costs.alpha);
    return *of_any_routes;
  };
  double bound = std::numeric_limits<double>::infinity();
  for (const Algorithm* const one : tried) bound = std::min(bound, least(*one).seconds);
  AllReduces all_reduces(network, demand, bounds, options);
  const auto make = [&](const Algorithm& algorithm) {
    Schedule schedule = algorithm.make(made_for, forward, costs);
    if (reduces) schedule = both ? all_reduces.of(algorithm, schedule) : turned(network, demand.pattern, schedule);
    const auto [phases, seconds] = least(algorithm);
    return Plan{std::string(algorithm.name), demand, phases, seconds, std::move(schedule)};
  };
  const double enough = limits::near_enough * std::max(bound, both ? 2 * of_forward.seconds : 0);
  return fastest(network, demand, tried, costs, options.window, enough, make);
}

Plan plan_exchange(const Network& network, const Demand& demand, const ScheduleOptions& options) {
  Plan planned = choose_schedule(network, demand, options);
  if (planned.prediction.empty())
    planned.waits = derive_waits(network, planned.schedule, options.window.value_or(run_window(demand)));
  planned.alpha = options.for_algorithm.alpha;
  planned.seed = options.for_algorithm.seed;
  return planned;
}

Plan plan(const Network& network, const Demand& demand, const ScheduleOptions& options) {
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const auto seconds_since = [&](auto begun) { return std::chrono::duration<double>(now() - begun).count(); };
  auto begun = now();
  Plan planned = plan_exchange(network, demand, options);
  planned.plan_seconds = seconds_since(begun);
  const Algorithm& algorithm = find_algorithm(planned.algorithm, demand.pattern);
  if (planned.prediction.empty()) {
    const Prediction prediction = predict(network, demand, planned.schedule, planned.waits, algorithm.contention_free,
                                          planned.alpha, options.most_steps);
    set_prediction(planned, std::move(planned.waits), prediction);
  }
  begun = now();
  planned.certificate = verify(network, demand, planned.schedule, algorithm.ports);
  verify_waits(network, planned.schedule, planned.waits, *planned.certificate);
  planned.verify_seconds = seconds_since(begun);
  return planned;
}

}  // namespace hocket
