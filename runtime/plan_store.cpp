#include "plan_store.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <new>
#include <utility>

#include "hocket/environment/variables.hpp"
#include "hocket/schedule/bounds.hpp"
#include "hocket/schedule/lockstep.hpp"
#include "hocket/schedulers/scheduler.hpp"
#include "report.hpp"
#include "settings.hpp"

namespace hocket::runtime {
namespace {

/// Planning takes time and memory in the square of the ranks: 2,048 take a few seconds, once.
constexpr std::uint32_t max_planned_here = 2048;

/// What an all-gather is planned for; pieces are scaled to what a call contributes.
constexpr std::uint64_t gather_bytes = 1 << 20;
/// A rank that forwards has the next message for the same wire at once: it must not wait for an
/// acknowledgement of each (bench/results/lab-gather-window.md).
constexpr std::uint32_t gather_window = 2;

std::uint64_t combined(std::uint64_t digest, std::uint64_t more) {
  ByteWriter out;
  out.fixed(digest);
  out.fixed(more);
  return checksum(out.bytes());
}

std::uint64_t digest_of(const Settings& s) {
  ByteWriter out;
  for (const std::uint64_t value : s.alike) out.fixed(value);
  return checksum(out.bytes());
}

/// One rank of a communicator computes what the report says of a plan: it takes the whole of it.
bool tells_figures(Rank rank) { return reporting && rank == 0; }

/// Throws InputError if there is no such file. A pipe or a device might never end.
Bytes contents(const std::string& path) {
  std::error_code error;
  std::ifstream file;
  if (std::filesystem::is_regular_file(path, error)) file.open(path, std::ios::binary);
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
    const PlanHeader header = plan.header();
    NetworkSpec network = plan.network();
    auto& place = stored_[static_cast<std::size_t>(header.demand.pattern)];
    if (place) throw PlanProblem("a second " + std::string(to_string(header.demand.pattern)) + " plan");
    if (network_ && network_->spec() != network) throw PlanProblem("made for another network than the plan before it");
    digest_ = combined(digest_, plan.digest());
    network_digest_ = plan.network_digest();
    if (!network_) network_ = std::make_unique<Network>(std::move(network));
    place = Stored{bytes, header};
  } catch (const InputError& error) {
    throw PlanProblem(shown(path) + ": " + error.what() + "; make it again with 'hocket plan'");
  }
}

Planned PlanStore::program(Pattern pattern, std::span<const std::uint32_t> ranks_per_node, Rank rank,
                           const Network* measured) const {
  const auto& stored = stored_[static_cast<std::size_t>(pattern)];
  const bool planned_for = measured == nullptr && stored && stored->header.transfers > 0 &&
                           std::ranges::equal(ranks_per_node, network_->spec().ranks);
  Planned planned;
  if (planned_for) {
    const PlanHeader& header = stored->header;
    planned = {PlanFile(stored->bytes).program(rank), header.demand, header.phases, header.window};
    if (tells_figures(rank))
      planned.figures = {lockstep_seconds(*network_, PlanFile(stored->bytes).plan().schedule), header.bound_seconds};
  } else {
    planned = make(pattern, (measured != nullptr ? *measured : *network_).restricted_to(ranks_per_node), rank);
  }
  check_program(planned, rank);
  return planned;
}

Planned PlanStore::make(Pattern pattern, const Network& part, Rank rank) const {
  if (part.ranks() > max_planned_here)
    throw InputError("a communicator of " + std::to_string(part.ranks()) +
                     " ranks without a plan of its own is too large to plan inside the program; plan for its hosts, "
                     "and for uplinks as wide as they are");
  const bool gather = pattern == Pattern::all_gather;
  const Demand demand{pattern, part.ranks(), gather ? gather_bytes : 1};
  const Schedule schedule = choose_scheduler(part, demand).make(part, demand, {});
  const std::uint32_t chosen = window(pattern);
  Planned planned{rank_program(schedule, derive_waits(part, schedule, chosen), rank), demand, schedule.phases(),
                  chosen};
  if (tells_figures(rank)) planned.figures = {lockstep_seconds(part, schedule), lower_bounds(part, demand).seconds};
  return planned;
}

/// What the launcher was told stands in the plans that it made; it makes none for irregular exchanges.
std::uint32_t PlanStore::window(Pattern pattern) const {
  const Pattern told = pattern == Pattern::irregular ? Pattern::all_to_all : pattern;
  const auto& stored = stored_[static_cast<std::size_t>(told)];
  return stored ? stored->header.window : pattern == Pattern::all_gather ? gather_window : 1;
}

}  // namespace hocket::runtime
