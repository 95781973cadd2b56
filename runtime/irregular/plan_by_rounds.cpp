#include "runtime/irregular/plan_by_rounds.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/algorithms/irregular/worth.hpp"
#include "core/algorithms/plan_exchange.hpp"
#include "core/choose/kept_timings.hpp"
#include "core/error.hpp"
#include "core/limits.hpp"
#include "runtime/agreement/agreement.hpp"
#include "runtime/irregular/check_sizes.hpp"
#include "runtime/irregular/message_marks.hpp"
#include "runtime/irregular/proposal_rounds.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/plan/plan_store.hpp"
#include "runtime/plan/settings.hpp"

namespace hocket::runtime {
namespace {

constexpr std::string_view algorithm = "proposals";

Flows flows_of(const std::vector<Volume>& volumes) {
  Flows flows;
  for (const Volume& volume : volumes) flows.add(volume.bytes);
  return flows;
}

/// Partners as the network numbers them.
PeerBytes in_network(PeerBytes peer_bytes, const Numbering& numbering) {
  for (auto* const side : {&peer_bytes.sends, &peer_bytes.receives}) {
    for (Volume& volume : *side) volume.peer = numbering.network_rank[volume.peer];
    std::ranges::sort(*side, {}, &Volume::peer);
  }
  return peer_bytes;
}

DemandClass class_of_all(MPI_Comm comm, const PeerBytes& partners, Rank rank, const Extent& all) {
  std::uint64_t own = 0;
  for (const auto& [peer, bytes] : partners.sends) own += mark(std::uint64_t{rank} << 32 | peer, size_class(bytes));
  DemandClass found{0, all.bytes / all.messages};
  reduce(&own, &found.digest, 1, MPI_UINT64_T, MPI_SUM, comm);
  return found;
}

}  // namespace

bool wants_rounds(std::uint32_t ranks) {
  const std::string& wanted = settings().algorithm;
  return wanted == algorithm || (wanted.empty() && ranks > limits::most_ranks_planned_for_run);
}

PortLoads port_loads(MPI_Comm comm, const PeerBytes& peer_bytes, const Extent& all) {
  const Flows out = flows_of(peer_bytes.sends), in = flows_of(peer_bytes.receives);
  const auto messages = static_cast<double>(std::max(peer_bytes.sends.size(), peer_bytes.receives.size()));
  const std::array<double, 2> own{std::max(out.bytes, in.bytes), messages};
  std::array<double, 2> most{};
  reduce(own.data(), most.data(), 2, MPI_DOUBLE, MPI_MAX, comm);

  double flows = 0, senders = 0;
  for (const Flows& port : {out, in})
    if (port.bytes >= most[0]) flows = std::max(flows, port.number());
  if (in.bytes >= holds_up * most[0]) senders = in.number();
  const std::array<double, 2> own_numbers{flows, senders};
  std::array<double, 2> numbers{};
  reduce(own_numbers.data(), numbers.data(), 2, MPI_DOUBLE, MPI_MAX, comm);
  const Settings& s = settings();
  const WorthLimits limits{s.min_vector_bytes, s.min_flows, s.min_senders};
  return {most[0], static_cast<std::uint32_t>(most[1]), all.large_enough() && limits.reached(numbers[0], numbers[1])};
}

PlannedByRounds plan_by_rounds(MPI_Comm comm, const Network& part, const Numbering& numbering,
                               const PeerBytes& peer_bytes, const Extent& all, const PortLoads& loads) {
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
  planned.figures.bound = loads.most_bytes / part.host_rate();
  planned.program = rounds->program(std::max(planned.window, 1u));
  try_local(problem, [&] {
    translate(planned, numbering);
    check_tags(planned, comm);
  });
  if (!all_ok(comm, problem, consequence)) {
    made.problem = problem;
    return made;
  }
  int rank = 0;
  check(PMPI_Comm_rank(comm, &rank));
  made.demand_class = class_of_all(comm, partners, numbering.network_rank[static_cast<std::size_t>(rank)], all);
  made.rounds = rounds->rounds();
  made.planned = std::move(planned);
  return made;
}

}  // namespace hocket::runtime
