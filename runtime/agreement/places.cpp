#include "runtime/agreement/places.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "core/error.hpp"
#include "runtime/agreement/agreement.hpp"
#include "runtime/agreement/changed_ways.hpp"
#include "runtime/agreement/obstacles.hpp"
#include "runtime/buffers/gpu.hpp"
#include "runtime/plan/plan_store.hpp"
#include "runtime/progress/agree.hpp"
#include "runtime/progress/requests.hpp"

namespace hocket::runtime {
namespace {

/// Data that every rank sends to all others.
struct RankInfo {
  std::int64_t node;              ///< network node of the rank, -1 if unknown
  std::uint64_t machine;          ///< Placement::machine
  std::uint64_t processor;        ///< Placement::processor
  std::uint64_t settings;         ///< digest of plan and settings: they must agree everywhere
  std::uint64_t config_warnings;  ///< Settings::config_warnings_digest
  std::uint32_t has_plans;
  std::uint32_t gpu;      ///< buffers may be in a GPU's memory
  std::uint64_t meeting;  ///< of those in which this rank has taken part
  std::uint64_t kept;     ///< see agree_on_places()
  OwnView ways;
};

std::atomic<std::uint64_t> meetings = 0;

std::vector<RankInfo> exchange_votes(MPI_Comm comm, std::uint64_t kept) {
  const PlanStore& store = PlanStore::instance();
  const Settings& s = settings();
  const RankInfo mine{.node = store.node(),
                      .machine = store.placement().machine,
                      .processor = store.placement().processor,
                      .settings = store.digest(),
                      .config_warnings = s.config_warnings_digest,
                      .has_plans = s.plan_paths.empty() ? 0U : 1U,
                      .gpu = !s.host_buffers && gpu_runtime_loaded() ? 1U : 0U,
                      .meeting = ++meetings,
                      .kept = kept,
                      .ways = own_view()};
  int size = 0;
  check(PMPI_Comm_size(comm, &size));
  std::vector<RankInfo> votes(static_cast<std::size_t>(size));
  gather_all(&mine, votes.data(), sizeof mine, comm);
  return votes;
}

/// No other meeting of these ranks has it: each rank has numbered its own. Not 0.
std::uint64_t number_of(const std::vector<RankInfo>& votes) {
  std::uint64_t digest = 14695981039346656037U;  // FNV-1a, by words
  for (const RankInfo& vote : votes) digest = (digest ^ vote.meeting) * 1099511628211U;
  return digest | 1;
}

/// Two neighbours, once sorted, that are alike in `same` and differ in `other`; nothing if there are none.
template <class Same, class Other>
const RankInfo* torn(std::vector<RankInfo>& votes, Same same, Other other) {
  std::ranges::sort(votes, {}, [&](const RankInfo& vote) { return std::pair(vote.*same, vote.*other); });
  const auto found = std::ranges::adjacent_find(
      votes, [&](const RankInfo& a, const RankInfo& b) { return a.*same == b.*same && a.*other != b.*other; });
  return found == votes.end() ? nullptr : &*found;
}

}  // namespace

Places agree_on_places(MPI_Comm comm, std::uint64_t kept) {
  const std::uint64_t own_ways = own_view().number;
  std::vector<RankInfo> votes = exchange_votes(comm, kept);
  const auto any = [&](auto that) { return std::ranges::any_of(votes, that); };
  // All ranks have the same data from here on, so they decide alike.
  std::vector<std::uint64_t> config_warnings;
  for (const RankInfo& vote : votes) config_warnings.push_back(vote.config_warnings);
  tell_config_warnings(comm, config_warnings);
  const bool planned = any([](const RankInfo& vote) { return vote.has_plans != 0; });
  if (planned && any([](const RankInfo& vote) { return vote.node < 0; }))
    return {.obstacle = unmapped_ranks(comm, PlanStore::instance().placement())};
  if (any([&](const RankInfo& vote) { return vote.settings != votes[0].settings; }))
    return {.obstacle = differing_settings(comm)};
  Places places{.own_ways = own_ways,
                .ways_changed = any([](const RankInfo& vote) { return vote.ways.changed != 0; }),
                .ways_watched = any([](const RankInfo& vote) { return vote.ways.may_glance != 0; }),
                .gpu = any([](const RankInfo& vote) { return vote.gpu != 0; }),
                .number = number_of(votes),
                .all_kept = kept != 0 && !any([&](const RankInfo& vote) { return vote.kept != kept; })};
  if (!planned) return places;
  for (const RankInfo& vote : votes) places.nodes.push_back(static_cast<Node>(vote.node));
  if (const RankInfo* const host = torn(votes, &RankInfo::node, &RankInfo::machine))
    places.obstacle = "several machines are called host '" +
                      shown(PlanStore::instance().network().name(static_cast<Node>(host->node))) +
                      "'; write whole names into the network file, or use 'hocket run --placement FILE'";
  places.machines_differ = torn(votes, &RankInfo::processor, &RankInfo::node) == nullptr;
  return places;
}

}  // namespace hocket::runtime
