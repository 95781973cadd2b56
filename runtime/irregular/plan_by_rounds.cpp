#include "runtime/irregular/plan_by_rounds.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/algorithms/plan_exchange.hpp"
#include "core/error.hpp"
#include "core/limits.hpp"
#include "runtime/agreement/agreement.hpp"
#include "runtime/exchange/tags.hpp"
#include "runtime/irregular/check_sizes.hpp"
#include "runtime/irregular/plan_irregular.hpp"
#include "runtime/irregular/proposal_rounds.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/plan/plan_store.hpp"
#include "runtime/plan/settings.hpp"

namespace hocket::runtime {
namespace {

constexpr std::string_view algorithm = "proposals";

/// Partners as the network numbers them.
PeerBytes in_network(PeerBytes peer_bytes, const Numbering& numbering) {
  for (auto* const side : {&peer_bytes.sends, &peer_bytes.receives}) {
    for (Volume& volume : *side) volume.peer = numbering.network_rank[volume.peer];
    std::ranges::sort(*side, {}, &Volume::peer);
  }
  return peer_bytes;
}

}  // namespace

bool wants_rounds(std::uint32_t ranks) {
  const std::string& wanted = settings().algorithm;
  return wanted == algorithm ||
         ((wanted.empty() || wanted == any_algorithm) && ranks > limits::most_ranks_planned_for_run);
}

PortLoads port_loads(MPI_Comm comm, const PeerBytes& peer_bytes) {
  const auto bytes = [](const std::vector<Volume>& volumes) {
    std::uint64_t sum = 0;
    for (const Volume& volume : volumes) sum += volume.bytes;
    return sum;
  };
  const auto& [sends, receives] = peer_bytes;
  const std::array<std::uint64_t, 2> own{std::max(bytes(sends), bytes(receives)),
                                         std::max(sends.size(), receives.size())};
  std::array<std::uint64_t, 2> most{};
  reduce(own.data(), most.data(), 2, MPI_UINT64_T, MPI_MAX, comm);
  const std::uint64_t messages = sends.size();
  PortLoads loads{most[0], static_cast<std::uint32_t>(most[1])};
  reduce(&messages, &loads.messages, 1, MPI_UINT64_T, MPI_SUM, comm);
  return loads;
}

PlannedByRounds plan_by_rounds(MPI_Comm comm, const Network& part, const Numbering& numbering,
                               const PeerBytes& peer_bytes, const PortLoads& loads) {
  if (const std::string reason = why_sizes_disagree(comm, peer_bytes); !reason.empty()) throw InputError(reason);

  PlannedByRounds made;
  const std::string consequence = "the MPI library serves this exchange";
  std::string problem;
  PeerBytes partners;
  std::optional<ProposalRounds> rounds;
  try_local(problem, [&] {
    partners = in_network(peer_bytes, numbering);
    rounds.emplace(comm, numbering, partners, loads.most_messages, settings().seed);
  });
  if (!all_ok(comm, problem, consequence)) {
    made.problem = problem;
    return made;
  }
  rounds->run();
  const std::vector<std::uint64_t> largest = rounds->close_gaps();

  Planned planned;
  planned.demand.pattern = Pattern::irregular;
  planned.demand.ranks = part.ranks();
  planned.demand.bytes = std::ranges::max(largest);
  planned.phases = largest.size();
  planned.window = PlanStore::instance().window(planned.demand).value_or(run_window(planned.demand));
  planned.algorithm = algorithm;
  planned.figures.predicted = std::accumulate(largest.begin(), largest.end(), 0.0) / part.host_rate();
  planned.figures.bound = static_cast<double>(loads.most_bytes) / part.host_rate();
  planned.program = rounds->program(std::max(planned.window, 1u));
  try_local(problem, [&] {
    translate(planned, numbering);
    check_tags(planned, comm);
  });
  if (!all_ok(comm, problem, consequence)) {
    made.problem = problem;
    return made;
  }
  made.rounds = rounds->rounds();
  made.planned = std::move(planned);
  return made;
}

}  // namespace hocket::runtime
