/// hocket.h: tables, what they say, keeping them in files, running them; and the program's own collective calls.
#include <fstream>
#include <iterator>

#include "core/of_thread.hpp"
#include "core/schedule/bounds.hpp"
#include "runtime/c_api/api.hpp"
#include "runtime/c_api/table.hpp"
#include "runtime/irregular/plan_irregular.hpp"
#include "runtime/team/team.hpp"

using hocket::all_candidates, hocket::Candidate, hocket::of_thread;
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

namespace {

void show(const Partners& partners, int* count, const int** ranks, const std::int64_t** bytes) {
  need(count, "count");
  *count = static_cast<int>(partners.size());
  if (ranks != nullptr) *ranks = partners.ranks.data();
  if (bytes != nullptr) *bytes = partners.bytes.data();
}

std::string path_of(const char* prefix, std::uint32_t rank) { return std::string(prefix) + "." + std::to_string(rank); }

void write_whole(const std::string& path, hocket::ByteView bytes) {
  if (!replace_file(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}))
    throw ApiError{HOCKET_ERR_FILE, "cannot write '" + path + "'; check directory, permissions and space"};
}

hocket::Bytes read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  hocket::Bytes bytes(std::istreambuf_iterator<char>(file), {});
  if (!file) throw ApiError{HOCKET_ERR_FILE, "cannot read '" + path + "'; hocket_save writes one file per rank"};
  return bytes;
}

PhaseTable read_table(const std::string& path, const PrivateComm& comm, std::uint64_t place) {
  const auto refuse = [&](const std::string& why) {
    throw ApiError{HOCKET_ERR_MISMATCH, path + ": made for " + why + "; schedule again"};
  };
  try {
    PhaseTable table = decode_table(read_whole(path));
    if (table.ranks != static_cast<std::uint32_t>(comm.size()))
      refuse(std::to_string(table.ranks) + " ranks, not " + std::to_string(comm.size()));
    if (table.rank != static_cast<hocket::Rank>(comm.rank()))
      refuse("rank " + std::to_string(table.rank) + ", not " + std::to_string(comm.rank()));
    if (table.place != place) refuse("another network or another placement of the ranks in it");
    check_table(table);
    check_tags({table.program, {}, 0, 1}, comm.get());
    return table;
  } catch (const hocket::InputError& error) {
    throw hocket::InputError(path + ": " + error.what() + "; schedule again");
  }
}

/// Every table is whole by itself; do they belong together? Rank 0's word counts for what the sum should be.
void check_mixture(const PhaseTable& table, const PrivateComm& comm, const char* prefix) {
  const std::uint64_t mine[] = {part_digest(table), comm.rank() == 0 ? table.whole : 0};
  std::uint64_t sums[] = {0, 0};
  run_collective(PMPI_Iallreduce, mine, sums, 2, MPI_UINT64_T, MPI_SUM, comm.get());
  if (sums[0] != sums[1])
    throw ApiError{HOCKET_ERR_MISMATCH, std::string("the files ") + prefix +
                                            ".* do not belong together: some were saved from another exchange; "
                                            "schedule again"};
}

}  // namespace

int hocket_get_info(const hocket_table* table, hocket_info* info) {
  return c_boundary([&] {
    need(table, "table");
    need(info, "info");
    const PhaseTable& phases = table->phases;
    *info = {};
    info->ranks = static_cast<int>(phases.ranks);
    info->rank = static_cast<int>(phases.rank);
    info->phases = static_cast<std::int64_t>(phases.phases);
    info->digest = phases.whole;
    info->seed = phases.seed;
    info->lockstep_seconds = phases.lockstep_seconds;
    info->bound_seconds = phases.bound_seconds;
    phases.algorithm.copy(info->algorithm, sizeof info->algorithm - 1);
  });
}

int hocket_targets(const hocket_table* table, int* count, const int** ranks, const int64_t** bytes) {
  return c_boundary([&] {
    need(table, "table");
    show(table->phases.targets, count, ranks, bytes);
  });
}

int hocket_sources(const hocket_table* table, int* count, const int** ranks, const int64_t** bytes) {
  return c_boundary([&] {
    need(table, "table");
    show(table->phases.sources, count, ranks, bytes);
  });
}

int hocket_phases(const hocket_table* table, size_t* count, const hocket_phase** rows) {
  return c_boundary([&] {
    need(table, "table");
    need(count, "count");
    *count = table->rows.size();
    if (rows != nullptr) *rows = table->rows.data();
  });
}

int hocket_save(const hocket_table* table, const char* prefix) {
  return c_boundary([&] {
    need(table, "table");
    need(prefix, "prefix");
    write_whole(path_of(prefix, table->phases.rank), encode_table(table->phases));
  });
}

int hocket_load(MPI_Comm comm, const char* prefix, hocket_table** table) {
  return c_boundary([&] {
    need(prefix, "prefix");
    need(table, "table");
    *table = nullptr;
    need_intracommunicator(comm);
    PrivateComm own(comm);
    const Site site = site_of(own.get());
    PhaseTable read;
    collective_try(own.get(), HOCKET_ERR_DAMAGED, [&] {
      read = read_table(path_of(prefix, static_cast<std::uint32_t>(own.rank())), own, site.digest);
    });
    check_mixture(read, own, prefix);
    *table = new hocket_table(std::move(own), std::move(read));
  });
}

int hocket_check(const hocket_table* table, int sends, const int targets[], const int64_t bytes[]) {
  return c_boundary([&] {
    need(table, "table");
    collective_try(table->comm.get(), HOCKET_ERR_ARGUMENT, [&] {
      const Partners& made_for = table->phases.targets;
      if (sends > 0) need(targets, "targets");
      if (sends > 0) need(bytes, "bytes");
      if (sends < 0 || made_for.size() != static_cast<std::size_t>(sends) ||
          !std::equal(made_for.ranks.begin(), made_for.ranks.end(), targets) ||
          !std::equal(made_for.bytes.begin(), made_for.bytes.end(), bytes))
        throw ApiError{HOCKET_ERR_MISMATCH, "the table was made for another destination vector; schedule again"};
    });
  });
}

int hocket_free(hocket_table** table) {
  return c_boundary([&] {
    need(table, "table");
    if (*table == nullptr) return;
    if ((*table)->under_way())
      throw ApiError{HOCKET_ERR_BUSY, "an exchange of this table is under way; call hocket_exchange_wait first"};
    delete *table;
    *table = nullptr;
  });
}

int hocket_exchange_start(hocket_table* table, const void* const send_buffers[], void* const receive_buffers[]) {
  return c_boundary([&] {
    need(table, "table");
    table->start(send_buffers, receive_buffers);
  });
}

int hocket_exchange_test(hocket_table* table, int* over) {
  return c_boundary([&] {
    need(table, "table");
    need(over, "over");
    *over = table->test() ? 1 : 0;
  });
}

int hocket_exchange_wait(hocket_table* table) {
  return c_boundary([&] {
    need(table, "table");
    table->wait();
  });
}

int hocket_exchange(hocket_table* table, const void* const send_buffers[], void* const receive_buffers[]) {
  return c_boundary([&] {
    need(table, "table");
    table->start(send_buffers, receive_buffers);
    table->wait();
  });
}

namespace {

ApiError& last() { return of_thread<ApiError>(); }

}  // namespace

int hocket_leave_alone(MPI_Comm comm) {
  return c_boundary([&] {
    need_intracommunicator(comm);
    Team::leave_alone(comm);
  });
}

const char* hocket_candidate_name(int number) {
  return number >= 0 && static_cast<std::size_t>(number) < all_candidates.size()
             ? all_candidates[static_cast<std::size_t>(number)].name.data()
             : nullptr;
}

int hocket_serve_by(MPI_Comm comm, const char* candidate) {
  return c_boundary([&] {
    need_intracommunicator(comm);
    const auto found =
        std::ranges::find(all_candidates, std::string_view(candidate == nullptr ? "" : candidate), &Candidate::name);
    if (found == all_candidates.end())
      throw ApiError{HOCKET_ERR_ARGUMENT, "no candidate has this name; hocket_candidate_name() lists them"};
    Team::known(comm)->serve_by(*found);
  });
}

uint64_t hocket_scheduled_calls(void) { return scheduled_calls.load(std::memory_order_relaxed); }

int hocket::runtime::report(const ApiError& error) {
  last() = error;
  return error.code;
}

const char* hocket_error_string(int code) {
  if (code == last().code && !last().text.empty()) return last().text.c_str();
  if (const char* text = meaning(code)) return text;
  last() = {code, what_mpi_says(code)};
  return last().text.c_str();
}
