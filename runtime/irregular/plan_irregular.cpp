#include "runtime/irregular/plan_irregular.hpp"

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/algorithms/plan_exchange.hpp"
#include "core/error.hpp"
#include "core/limits.hpp"
#include "core/schedule/shared_channels.hpp"
#include "runtime/agreement/agreement.hpp"
#include "runtime/exchange/exchange.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/plan/plan_store.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/progress/requests.hpp"
#include "runtime/progress/waiting.hpp"

namespace hocket::runtime {
namespace {

/// Compares the sizes that this rank expects with those that the others send to it.
void check_column(const PeerBytes& peer_bytes, const Demand& demand, const Numbering& numbering, Rank rank) {
  std::vector<std::uint64_t> expected(demand.ranks, 0);
  for (const Volume& volume : peer_bytes.receives) expected[numbering.network_rank[volume.peer]] = volume.bytes;
  for (Rank src = 0; src < demand.ranks; ++src) {
    const std::uint64_t sent = demand.matrix.size(src, rank);
    if (sent == expected[src]) continue;
    throw InputError("rank " + std::to_string(numbering.comm_rank[src]) + " sends " + std::to_string(sent) +
                     " bytes to rank " + std::to_string(numbering.comm_rank[rank]) + ", which expects " +
                     std::to_string(expected[src]));
  }
}

/// The first rank with the least seconds, which are not negative: their bits are ordered as they are. Not by
/// MPI_MINLOC: MPICH reduces pairs with gaps between them on 131 KB of stack, which a program's threads may not have.
int fastest(MPI_Comm comm, double seconds, int rank) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(seconds));
  const std::uint64_t own = std::uint64_t{bits} << 32 | static_cast<std::uint32_t>(rank);
  std::uint64_t best = own;
  reduce(&own, &best, 1, MPI_UINT64_T, MPI_MIN, comm);
  return static_cast<int>(best & std::numeric_limits<std::uint32_t>::max());
}

}  // namespace

TrafficMatrix concatenate(MPI_Comm comm, std::span<const Volume> sends) {
  const int rank = rank_in(comm), size = size_of(comm);
  std::vector<Message> row;
  for (const Volume& volume : sends) row.push_back({static_cast<Rank>(rank), volume.peer, volume.bytes});
  const int length = static_cast<int>(row.size());
  std::vector<int> lengths(static_cast<std::size_t>(size)), places;
  gather_all(&length, lengths.data(), sizeof length, comm);
  std::int64_t total = 0;
  for (const int of_rank : lengths) {
    places.push_back(static_cast<int>(total));
    total += of_rank;
    if (total > std::numeric_limits<int>::max()) throw InputError("an exchange of more than 2^31 - 1 messages");
  }
  std::vector<Message> all;
  std::string problem;
  try_local(problem, [&] { all.resize(static_cast<std::size_t>(total)); });
  if (first_where(!problem.empty(), comm)) throw InputError("no memory to say who sends how much to whom");
  const MadeType type = run_of(sizeof(Message));
  run_collective(PMPI_Iallgatherv, row.data(), length, type.get(), all.data(), lengths.data(), places.data(),
                 type.get(), comm);
  return {static_cast<std::uint32_t>(size), std::move(all)};
}

Planner::Planner(const Numbering& numbering, const Network& network)
    : Planner(numbering, network.restricted_to(numbering.ranks_per_node),
              {settings().algorithm != any_algorithm ? settings().algorithm : ""}) {}

Planner::Planner(const Numbering& numbering, Network part, PendingSetup pending_setup)
    : numbering_(numbering), part_(std::move(part)), pending_setup_(std::move(pending_setup)) {}

Demand Planner::demand(MPI_Comm comm, const PeerBytes& peer_bytes) const {
  return irregular(to_network(concatenate(comm, peer_bytes.sends), numbering_));
}

Planned Planner::program(const Demand& demand, const Schedule& schedule, Rank rank) const {
  const std::uint32_t window = PlanStore::instance().window(demand).value_or(run_window(demand));
  Planned planned{rank_program(schedule, derive_waits(part_, schedule, window), rank), demand, schedule.phases(),
                  window};
  check_program(planned, rank);
  planned.demand.matrix = {};  // once per remembered exchange would be too much
  translate(planned, numbering_);
  return planned;
}

std::optional<Planned> Planner::plan(MPI_Comm comm, const PeerBytes& peer_bytes, const Demand& demand,
                                     std::string& problem) const {
  const int own = rank_in(comm);
  try_local(problem, [&] {
    check_column(peer_bytes, demand, numbering_, numbering_.network_rank[static_cast<std::size_t>(own)]);
  });
  Planned made = schedule(comm, demand, problem);
  if (!all_ok(comm, problem, "the MPI library serves this exchange")) return std::nullopt;
  return made;
}

Planned Planner::schedule(MPI_Comm comm, const Demand& demand, std::string& problem) const {
  const int own = rank_in(comm);
  Planned made;
  std::string algorithm = pending_setup_.algorithm;
  std::optional<Plan> drawn;
  double seconds = std::numeric_limits<double>::infinity();
  int drawn_by = -1;
  const auto draw = [&](int by) {
    if (by == drawn_by) return;
    drawn = choose_schedule(part_, demand, {algorithm, {.seed = pending_setup_.seed + static_cast<std::uint64_t>(by)}});
    algorithm = drawn->algorithm;
    seconds = token_seconds(part_, drawn->schedule);
    drawn_by = by;
  };
  try_local(problem, [&] {
    draw(0);
    if (seconds > limits::near_enough * drawn->bound_seconds) draw(own);
  });
  const int winner = fastest(comm, problem.empty() ? seconds : std::numeric_limits<double>::infinity(), own);
  try_local(problem, [&] {
    draw(winner);
    made = program(demand, drawn->schedule, numbering_.network_rank[static_cast<std::size_t>(own)]);
    made.algorithm = algorithm;
    made.figures = {lockstep_seconds(part_, drawn->schedule), drawn->bound_seconds};
    check_tags(made, comm);
  });
  return made;
}

}  // namespace hocket::runtime
