#include "runtime/record/record.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/mpi/attached.hpp"
#include "runtime/mpi/element_bytes.hpp"
#include "runtime/mpi/entry.hpp"
#include "runtime/mpi/world.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/record/record_file.hpp"

namespace hocket::runtime {
namespace {

std::mutex mutex;  // guards the file and all RecordedComms

RecordFile& file() {
  static RecordFile& opened = *[] {
    int rank = 0, ranks = 0;
    check(PMPI_Comm_rank(MPI_COMM_WORLD, &rank));
    check(PMPI_Comm_size(MPI_COMM_WORLD, &ranks));
    return new RecordFile(settings().record, rank, ranks);  // outlives every thread
  }();
  return opened;
}

/// Empty for an intercommunicator and where ranks are of another world.
std::vector<int> recorded_ranks(MPI_Comm comm) {
  if (!plain_intracommunicator(comm)) return {};
  std::vector<int> ranks = world_ranks(comm);
  if (std::ranges::count(ranks, MPI_UNDEFINED) > 0) ranks.clear();
  return ranks;
}

RecordedComm& recorded(MPI_Comm comm) {
  if (RecordedComm* const known = Attached<RecordedComm>::find(comm)) return *known;
  return Attached<RecordedComm>::attach(comm, std::make_unique<RecordedComm>(file().add_comm(recorded_ranks(comm))));
}

/// Volumes that this rank sends to each rank of MPI_COMM_WORLD, itself included, except its own contribution to an
/// all-gather.
std::vector<Volume> row_of(const std::vector<int>& world, MPI_Comm comm, Reach reach, const VectorSide& sends,
                           const VectorSide& receives) {
  const bool everybody = reach.kind == Reach::everybody, in_place = everybody && sends.buffer == MPI_IN_PLACE;
  const VectorSide& side = in_place ? receives : sends;
  const std::optional<Neighbours> neighbours = neighbours_of(comm, reach);
  if (!neighbours || !side.counts.given() || !side.types.given()) return {};
  std::vector<int> to = neighbours->destinations;
  int own = 0;
  check(PMPI_Comm_rank(comm, &own));
  if (everybody && sends.shared) to[static_cast<std::size_t>(own)] = MPI_PROC_NULL;
  std::vector<std::uint64_t> bytes(to.size(), 0);
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] < 0) continue;
    const std::size_t message = in_place && sends.shared ? static_cast<std::size_t>(own) : i;
    to[i] = world[static_cast<std::size_t>(to[i])];
    if (const std::int64_t count = side.counts[message]; count > 0 && side.types[message] != MPI_DATATYPE_NULL)
      bytes[i] = quick_bytes_of(count, side.types[message]);
  }
  constexpr Rank nobody = ~Rank{0};
  std::uint64_t kept = 0;
  return sum_by_peer(to, bytes, nobody, kept);
}

/// Elements that `own` sends to `to`.
std::int64_t part(Parts parts, const Numbers& counts, int root, std::size_t own, std::size_t to, std::size_t ranks) {
  const auto is_root = [root](std::size_t rank) { return root >= 0 && rank == static_cast<std::size_t>(root); };
  switch (parts) {
    case Parts::from_root:
      return is_root(own) ? counts[0] : 0;
    case Parts::to_root:
      return is_root(to) ? counts[0] : 0;
    case Parts::to_owners:
      return counts[to];
    case Parts::to_all:
      break;
  }
  const auto share = [&](std::size_t rank) {
    const auto places = static_cast<std::int64_t>(ranks), place = static_cast<std::int64_t>(rank);
    return counts[0] / places + (place < counts[0] % places ? 1 : 0);
  };
  return share(to) + share(own);
}

std::vector<Volume> row_of(const std::vector<int>& world, MPI_Comm comm, Parts parts, const Numbers& counts,
                           MPI_Datatype type, int root) {
  if (!counts.given() || type == MPI_DATATYPE_NULL) return {};
  int own = 0;
  check(PMPI_Comm_rank(comm, &own));
  std::vector<int> to = world;
  to[static_cast<std::size_t>(own)] = MPI_PROC_NULL;
  std::vector<std::uint64_t> bytes(to.size(), 0);
  for (std::size_t i = 0; i < to.size(); ++i)
    if (const std::int64_t count = part(parts, counts, root, static_cast<std::size_t>(own), i, to.size()); count > 0)
      bytes[i] = quick_bytes_of(count, type);
  constexpr Rank nobody = ~Rank{0};
  std::uint64_t kept = 0;
  return sum_by_peer(to, bytes, nobody, kept);
}

template <class... Described>
void record(const char* operation, MPI_Comm comm, const Described&... what) {
  if (!in_world()) return say_once("calls of programs that only open MPI sessions are not recorded");
  const std::lock_guard lock(mutex);
  RecordedComm& calls = recorded(comm);
  std::vector<Volume> row;
  if (!calls.world.empty()) row = row_of(calls.world, comm, what...);
  file().add_call(calls, operation, std::move(row));
}

template <class... Described>
bool try_record(const char* operation, MPI_Comm comm, const Described&... what) noexcept {
  try {
    if (comm != MPI_COMM_NULL) record(operation, comm, what...);
  } catch (const MpiFailure&) {  // the call itself will fail
  } catch (const std::exception& error) {
    say_once("a call could not be recorded: " + std::string(error.what()));
  }
  return settings().plan_paths.empty();
}

}  // namespace

bool only_recorded(const char* operation, MPI_Comm comm, Reach reach, const VectorSide& sends,
                   const VectorSide& receives) noexcept {
  return try_record(operation, comm, reach, sends, receives);
}

bool only_recorded(const char* operation, MPI_Comm comm, Parts parts, const Numbers& counts, MPI_Datatype type,
                   int root) noexcept {
  return try_record(operation, comm, parts, counts, type, root);
}

void end_recording() noexcept {
  try {
    const std::lock_guard lock(mutex);
    if (in_world()) file().end();
  } catch (const MpiFailure&) {
  } catch (const std::exception& error) {
    say_once("the end of the recording could not be written: " + std::string(error.what()));
  }
}

}  // namespace hocket::runtime
