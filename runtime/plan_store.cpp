#include "plan_store.hpp"

#include <algorithm>
#include <fstream>
#include <mutex>
#include <set>

#include "hocket/schedulers/scheduler.hpp"
#include "placement.hpp"
#include "settings.hpp"

namespace hocket::runtime {
namespace {

/// Planning takes time and memory in the square of the ranks: 2,048 take a few seconds, once.
constexpr std::uint32_t max_planned_here = 2048;

std::uint64_t digest_of(std::uint64_t plan, const Settings& s) {
  ByteWriter out;
  out.fixed(plan);
  for (const std::size_t value : {s.min_bytes, s.segment, s.early, static_cast<std::size_t>(s.flow)}) out.fixed(value);
  return checksum(out.bytes());
}

}  // namespace

void say_once(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard lock(mutex);
  if (said.insert(text).second) say(text);
}

const PlanStore& PlanStore::instance() {
  static const PlanStore store;
  return store;
}

PlanStore::PlanStore() {
  const Settings& s = settings();
  try {
    if (s.plan_path.empty()) throw InputError("HOCKET_PLAN is not set; start the program with 'hocket run'");
    read_file(s.plan_path);
    const Placement placement = place_this_process(*network_, s);
    node_ = placement.node;
    problem_ = placement.problem;
  } catch (const InputError& error) {
    problem_ = error.what();
  }
}

void PlanStore::read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError("cannot read the plan '" + path + "' (HOCKET_PLAN)");
  bytes_.assign(std::istreambuf_iterator<char>(file), {});
  try {
    const PlanFile plan(bytes_);
    header_ = plan.header();
    digest_ = digest_of(plan.digest(), settings());
    network_ = std::make_unique<Network>(plan.network());
  } catch (const InputError& error) {
    throw PlanProblem(path + ": " + error.what() + "; make it again with 'hocket plan'");
  }
}

RankProgram PlanStore::program(std::span<const std::uint32_t> ranks_per_node, Rank rank, std::uint64_t& phases) const {
  if (std::ranges::equal(ranks_per_node, network_->spec().ranks) && header_.transfers > 0) {
    phases = header_.phases;
    return PlanFile(bytes_).program(rank);
  }
  const Network part = network_->restricted_to(ranks_per_node);
  if (part.ranks() > max_planned_here)
    throw InputError("a communicator of " + std::to_string(part.ranks()) +
                     " ranks that is not the planned one is too large to plan inside the program; plan for its hosts");
  const Demand demand{Pattern::all_to_all, part.ranks(), 1};
  const Schedule schedule = choose_scheduler(part, demand).make(part, demand, {});
  phases = schedule.phases();
  return rank_program(schedule, derive_waits(part, schedule, header_.window), rank);
}

}  // namespace hocket::runtime
