#include "runtime/plan/plan_store.hpp"

#include <fstream>
#include <new>

#include "core/algorithms/all_gather/ring_form.hpp"
#include "core/algorithms/plan_exchange.hpp"
#include "core/choose/forecast.hpp"
#include "core/error.hpp"
#include "core/plan/plan.hpp"
#include "core/schedule/shared_channels.hpp"
#include "core/schedule/waits.hpp"
#include "runtime/plan/settings.hpp"

namespace hocket::runtime {
namespace {

std::uint64_t combined(std::uint64_t digest, std::uint64_t more) {
  ByteWriter out;
  out.fixed(digest);
  out.fixed(more);
  return checksum(out.bytes());
}

std::uint64_t digest_of(const Settings& s) {
  ByteWriter out;
  for (const std::uint64_t value : s.must_match) out.fixed(value);
  return checksum(out.bytes());
}

NetworkSpec without_costs(NetworkSpec spec) {
  for (LinkSpec& link : spec.links) link.rate = link.latency = 0;
  for (ChannelSpec& channel : spec.channels) channel.rate = channel.latency = 0;
  return spec;
}

/// True if two plans serve the same calls, so that one is redundant. Sizes are compared only where the schedule depends
/// on them.
bool serves_alike(const Demand& one, const Demand& other) {
  if (one.by_matrix()) return one == other;
  return one.pattern == other.pattern && one.only_block() == other.only_block();
}

/// One rank of a communicator computes what the report says of a plan: it takes the whole of it.
bool tells_figures(Rank rank) { return reporting && rank == 0; }

/// One rank of a communicator keeps the whole of a plan, to simulate it.
std::shared_ptr<const WholePlan> kept_whole(const Network& network, Schedule schedule, Rank rank) {
  if (rank != 0 || settings().choose == Choose::off || schedule.size() > most_simulated_messages) return nullptr;
  return std::make_shared<const WholePlan>(network, std::move(schedule));
}

/// Throws InputError if there is no such file.
Bytes contents(const std::string& path) {
  std::ifstream file;
  if (bytes_of_file(path)) file.open(path, std::ios::binary);
  if (!file.is_open()) throw InputError("cannot read the plan '" + shown(path) + "' (HOCKET_PLAN)");
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

const PlanStore& PlanStore::instance() {
  static const PlanStore store(settings());
  return store;
}

PlanStore::PlanStore(const Settings& s) : digest_(digest_of(s)) {
  try {
    if (s.plan_paths.empty()) throw InputError("HOCKET_PLAN is not set; start the program with 'hocket run'");
    for (const std::string& path : s.plan_paths) read_file(path);
    placement_ = place_this_process(*network_, s);
  } catch (const InputError& error) {
    placement_ = {.problem = error.what()};
  } catch (const std::bad_alloc&) {
    placement_ = {.problem = "no memory to read the plan"};
  }
}

void PlanStore::read_file(const std::string& path) {
  const Bytes bytes = contents(path);
  try {
    const PlanFile plan(bytes);
    PlanHeader header = plan.header();
    header.demand = plan.demand();
    NetworkSpec network = plan.network();
    const Demand& demand = header.demand;
    for (const Stored& other : stored_)
      if (serves_alike(other.header.demand, demand))
        throw PlanProblem("a second " + std::string(to_string(demand.pattern)) + " plan");
    if (network_ && network_->spec() != network) throw PlanProblem("made for another network than the plan before it");
    digest_ = combined(digest_, plan.digest());
    network_digest_ = plan.network_digest();
    if (!network_) {
      network_ = std::make_unique<Network>(Network::with_routes(std::move(network)));
      wiring_digest_ = checksum(encode_network(without_costs(network_->spec())));
    }
    stored_.push_back({bytes, std::move(header)});
  } catch (const InputError& error) {
    throw PlanProblem(shown(path) + ": " + error.what() + "; make it again with 'hocket plan'");
  }
}

const PlanStore::Stored* PlanStore::stored_for(CallKind kind) const {
  for (const Stored& stored : stored_) {
    if (stored.header.transfers > 0 && kind.collective->can_follow(stored.header.demand, kind.root)) return &stored;
  }
  return nullptr;
}

Planned PlanStore::program(CallKind kind, std::span<const std::uint32_t> ranks_per_node, Rank rank,
                           std::uint32_t wanted_window, const Network* measured, bool whole) const {
  const Stored* const stored = stored_for(kind);
  const bool planned_for =
      measured == nullptr && stored != nullptr && std::ranges::equal(ranks_per_node, network_->spec().ranks);
  Planned planned;
  if (planned_for) {
    const PlanHeader& header = stored->header;
    const PlanFile file(stored->bytes);
    const std::uint32_t window = wanted_window > 0 ? wanted_window : header.window;
    planned = {{}, header.demand, header.phases, window, header.algorithm};
    planned.figures.bound = header.bound_seconds;
    const bool as_filed = window == header.window;
    if (as_filed) planned.program = file.program(rank);
    if (!as_filed || rank == 0) {
      Schedule schedule = file.plan().schedule;
      if (!as_filed) planned.program = rank_program(schedule, derive_waits(*network_, schedule, window), rank);
      planned.figures.predicted = lockstep_seconds(*network_, schedule);
      planned.whole = kept_whole(*network_, std::move(schedule), rank);
    }
  }
  if (!planned_for || (whole && planned.relays()))
    planned = make(kind, (measured != nullptr ? *measured : *network_).restricted_to(ranks_per_node), rank,
                   wanted_window, whole);
  check_program(planned, rank);
  return planned;
}

/// Plans only this rank's program if there are many ranks and the schedule has a closed form; the result equals that of
/// the whole schedule.
Planned PlanStore::make(CallKind kind, const Network& part, Rank rank, std::uint32_t window, bool whole) const {
  const Demand demand = kind.collective->demand(part.ranks(), kind.bytes, kind.root);
  const std::optional<std::uint32_t> asked = window > 0 ? window : this->window(demand);
  window = asked.value_or(run_window(demand));
  const auto by_program = [&](RankProgram row, std::uint64_t phases, std::string_view algorithm) {
    Planned planned{std::move(row), demand, phases, window, std::string(algorithm)};
    planned.figures.bound = lower_bounds(part, demand).seconds;
    planned.figures.predicted = static_cast<double>(phases * demand.bytes) / part.host_rate();
    return planned;
  };
  if (window == 1 && part.ranks() > limits::most_ranks_searched_for_waits)
    if (const FoundForm found = closed_form_of(part, demand); found.form != nullptr)
      return by_program(rank_program(part, *found.form, rank), found.form->phases(), found.algorithm);
  if (demand.messages() > limits::most_messages_compared)
    if (const FoundRing found = ring_form_of(part, demand); found.form)
      return by_program(found.form->program(rank, window), found.form->phases(), found.algorithm);
  if (part.ranks() > limits::most_ranks_planned_for_run)
    throw InputError(
        "a communicator of " + std::to_string(part.ranks()) +
        " ranks without a plan of its own is too large to plan inside the program; run 'hocket plan' for its "
        "hosts, with the rates of the uplinks");
  ScheduleOptions options;
  options.for_algorithm.alpha = kind.collective->usual_alpha();
  options.window = asked;
  options.whole = whole;
  Plan chosen = plan_exchange(part, demand, options);
  Planned planned{rank_program(chosen.schedule, chosen.waits, rank), demand, chosen.schedule.phases(),
                  chosen.waits.window, chosen.algorithm};
  // Figures are scaled to other sizes, with which per-message costs do not grow.
  const bool counts_alphas = options.for_algorithm.alpha > 0;
  planned.figures.bound = counts_alphas ? lower_bounds(part, demand).seconds : chosen.bound_seconds;
  if (tells_figures(rank)) planned.figures.predicted = lockstep_seconds(part, chosen.schedule);
  planned.whole = kept_whole(part, std::move(chosen.schedule), rank);
  return planned;
}

std::optional<std::uint32_t> PlanStore::window(const Demand& demand) const {
  const auto chosen_for = [&](Pattern pattern) {
    return std::ranges::find_if(stored_, [&](const Stored& of) {
      const PlanHeader& header = of.header;
      if (header.demand.pattern != pattern || header.window == run_window(header.demand)) return false;
      return header.window > 1 || std::ranges::none_of(all_algorithms(), [&](const Algorithm* one) {
               return one->even_phases && one->name == header.algorithm && one->pattern == Pattern::all_gather;
             });
    });
  };
  auto chosen = chosen_for(demand.by_matrix() ? Pattern::all_to_all : demand.pattern);
  if (chosen == stored_.end() && demand.reduces()) chosen = chosen_for(Pattern::all_gather);
  return chosen != stored_.end() ? std::optional(chosen->header.window) : std::nullopt;
}

}  // namespace hocket::runtime
