#include "runtime/agreement/places.hpp"

#include <dlfcn.h>

#include <array>
#include <set>

#include "runtime/agreement/agreement.hpp"
#include "runtime/agreement/changed_ways.hpp"
#include "runtime/plan/plan_store.hpp"
#include "runtime/progress/requests.hpp"

namespace hocket::runtime {
namespace {

/// True if the CUDA or HIP runtime is loaded in this process. Pointers that the program passes to MPI may then be
/// device pointers, which schedules cannot serve because they copy by CPU.
bool gpu_runtime_loaded() {
  constexpr std::array functions{"cuPointerGetAttribute", "hipPointerGetAttributes"};
  // Programs linked statically with the CUDA runtime load the driver library locally, so its symbols are not global.
  constexpr std::array libraries{"libcuda.so.1", "libamdhip64.so.5", "libamdhip64.so.6", "libamdhip64.so.7"};
  return std::ranges::any_of(functions, [](const char* name) { return dlsym(RTLD_DEFAULT, name) != nullptr; }) ||
         std::ranges::any_of(libraries, [](const char* name) {
           void* const library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
           if (library != nullptr) dlclose(library);  // counted once more by dlopen()
           return library != nullptr;
         });
}

/// 'a', 'b', 'c' and 5 more
template <class Names>
std::string listed(const Names& names, std::string_view quote) {
  constexpr std::size_t most = 4;
  std::string text;
  std::size_t written = 0;
  for (const auto& name : names) {
    if (written == most) break;
    const bool last = written + 1 == names.size();
    text += (written == 0 ? "" : last ? " and " : ", ") + std::string(quote) + std::string(name) + std::string(quote);
    ++written;
  }
  return names.size() > most ? text + " and " + std::to_string(names.size() - most) + " more" : text;
}

std::string of_unknown_hosts(const std::set<std::string>& names) {
  return (names.size() == 1 ? "host " : "hosts ") + listed(names, "'") + (names.size() == 1 ? " is" : " are") +
         " not in the network file; " + (names.size() == 1 ? "add it" : "add them") + ", or " +
         std::string(other_placements);
}

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
  std::vector<RankInfo> votes(static_cast<std::size_t>(size_of(comm)));
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

std::string why_lost(const Placement& placement) {
  return placement.problem.empty() ? of_unknown_hosts({placement.unknown_host}) : placement.problem;
}

std::string unmapped_ranks(MPI_Comm comm, const Placement& own) {
  struct Line {
    char problem[512] = "", unknown_host[256] = "";
  };
  Line mine;
  own.problem.copy(mine.problem, sizeof mine.problem - 1);
  own.unknown_host.copy(mine.unknown_host, sizeof mine.unknown_host - 1);
  std::vector<Line> lines(static_cast<std::size_t>(size_of(comm)));
  gather_all(&mine, lines.data(), sizeof mine, comm);
  std::set<std::string> unknown_hosts;
  for (const Line& line : lines) {
    if (line.problem[0] != 0) return line.problem;
    if (line.unknown_host[0] != 0) unknown_hosts.insert(line.unknown_host);
  }
  return of_unknown_hosts(unknown_hosts);
}

std::string differing_settings(MPI_Comm comm) {
  const std::vector<std::uint64_t>& own = settings().must_match;
  std::vector<std::uint64_t> most(own.size()), least(own.size());
  const int count = static_cast<int>(own.size());
  run_collective(PMPI_Iallreduce, own.data(), most.data(), count, MPI_UINT64_T, MPI_MAX, comm);
  run_collective(PMPI_Iallreduce, own.data(), least.data(), count, MPI_UINT64_T, MPI_MIN, comm);
  const std::vector<std::string_view> names = must_match_variables();
  std::vector<std::string_view> differing;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (most[i] != least[i]) differing.push_back(names[i]);
  if (differing.empty()) return "ranks differ in their plan; give all of them the same HOCKET_PLAN";
  return "ranks differ in " + listed(differing, "") + "; give all of them the same values";
}

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
