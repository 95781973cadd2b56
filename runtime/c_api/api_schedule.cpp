/// hocket.h: from destination vectors to a table.
#include <string>
#include <vector>

#include "core/schedule/bounds.hpp"
#include "runtime/agreement/agreement.hpp"
#include "runtime/buffers/vector_call.hpp"
#include "runtime/c_api/api.hpp"
#include "runtime/c_api/table.hpp"
#include "runtime/irregular/plan_irregular.hpp"
#include "runtime/progress/requests.hpp"

using namespace hocket::runtime;

namespace {

void check_pending_setup(const PendingSetup& pending_setup, const PrivateComm& comm) {
  hocket::ByteWriter out;
  out.text(pending_setup.algorithm);
  out.fixed(pending_setup.seed);
  const std::uint64_t digest = hocket::checksum(out.bytes()), mine[] = {digest, ~digest};
  std::uint64_t least[] = {0, 0};
  run_collective(PMPI_Iallreduce, mine, least, 2, MPI_UINT64_T, MPI_MIN, comm.get());
  if (least[0] != ~least[1]) throw ApiError{HOCKET_ERR_ARGUMENT, "ranks differ in algorithm or seed"};
}

/// The senders to `rank`, which keeps `kept` bytes for itself.
Partners sources_of(const hocket::TrafficMatrix& matrix, hocket::Rank rank, std::uint64_t kept) {
  Partners sources;
  for (hocket::Rank src = 0; src < matrix.ranks(); ++src)
    if (const std::uint64_t bytes = src == rank ? kept : matrix.size(src, rank); bytes > 0)
      sources.add(static_cast<int>(src), static_cast<std::int64_t>(bytes));
  return sources;
}

PhaseTable make_table(const PrivateComm& comm, Partners targets, const PendingSetup& pending_setup) {
  check_pending_setup(pending_setup, comm);
  const Site site = site_of(comm.get());
  hocket::Network network = network_to_plan(comm.get(), site);
  PhaseTable table;
  table.ranks = static_cast<std::uint32_t>(comm.size());
  table.rank = static_cast<hocket::Rank>(comm.rank());
  table.seed = pending_setup.seed;
  table.place = site.digest;
  const std::vector<std::uint64_t> bytes(targets.bytes.begin(), targets.bytes.end());
  std::uint64_t kept = 0;
  const auto sends = sum_by_peer(targets.ranks, bytes, table.rank, kept);
  const hocket::TrafficMatrix matrix = concatenate(comm.get(), sends);
  table.targets = std::move(targets);
  table.sources = sources_of(matrix, table.rank, kept);
  const hocket::Demand demand = hocket::irregular(to_network(matrix, site.numbering));
  table.bound_seconds = lower_bounds(network, demand).one_port_seconds();

  std::string problem;
  Planned made = Planner(site.numbering, std::move(network), pending_setup).schedule(comm.get(), demand, problem);
  agree(comm.get(), {problem.empty() ? HOCKET_SUCCESS : HOCKET_ERR_SCHEDULE, problem});
  table.algorithm = std::move(made.algorithm);
  table.lockstep_seconds = made.figures.predicted;
  table.phases = made.phases;
  table.window = made.window;
  table.program = std::move(made.program);
  collective_try(comm.get(), HOCKET_ERR_SCHEDULE, [&] { check_table(table); });

  const std::uint64_t part = part_digest(table);
  run_collective(PMPI_Iallreduce, &part, &table.whole, 1, MPI_UINT64_T, MPI_SUM, comm.get());
  return table;
}

/// `read(ranks)` makes the destination vector from the arguments.
template <class Read>
int schedule(MPI_Comm comm, Read read, const char* algorithm, std::uint64_t seed, hocket_table** table) {
  return c_boundary([&] {
    need(table, "table");
    *table = nullptr;
    need_intracommunicator(comm);
    PrivateComm own(comm);
    Partners targets;
    collective_try(own.get(), HOCKET_ERR_ARGUMENT, [&] {
      targets = read(own.size());
      check_partners(targets, static_cast<std::uint32_t>(own.size()));
    });
    PhaseTable made = make_table(own, std::move(targets), {algorithm == nullptr ? "" : algorithm, seed});
    *table = new hocket_table(std::move(own), std::move(made));
  });
}

}  // namespace

int hocket_schedule(MPI_Comm comm, int sends, const int targets[], const int64_t bytes[], const char* algorithm,
                    uint64_t seed, hocket_table** table) {
  const auto read = [&](int) {
    if (sends < 0) throw hocket::InputError(std::to_string(sends) + " messages to send");
    if (sends > 0) need(targets, "targets");
    if (sends > 0) need(bytes, "bytes");
    return Partners{{targets, targets + sends}, {bytes, bytes + sends}};
  };
  return schedule(comm, read, algorithm, seed, table);
}

int hocket_schedule_counts(MPI_Comm comm, const int64_t bytes[], const char* algorithm, uint64_t seed,
                           hocket_table** table) {
  const auto read = [&](int ranks) {
    need(bytes, "bytes");
    Partners targets;
    for (int rank = 0; rank < ranks; ++rank)
      if (bytes[rank] != 0) targets.add(rank, bytes[rank]);
    return targets;
  };
  return schedule(comm, read, algorithm, seed, table);
}
