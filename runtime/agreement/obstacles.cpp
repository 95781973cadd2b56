#include "runtime/agreement/obstacles.hpp"

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "runtime/plan/settings.hpp"
#include "runtime/progress/agree.hpp"
#include "runtime/progress/requests.hpp"

namespace hocket::runtime {
namespace {

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
  int size = 0;
  check(PMPI_Comm_size(comm, &size));
  std::vector<Line> lines(static_cast<std::size_t>(size));
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

}  // namespace hocket::runtime
