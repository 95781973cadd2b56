#include "runtime/record/record.hpp"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <map>
#include <utility>

#include "runtime/mpi/attached.hpp"
#include "runtime/mpi/datatypes.hpp"
#include "runtime/mpi/world.hpp"
#include "runtime/plan/settings.hpp"

namespace hocket::runtime {
namespace {

/// The calls of one communicator.
struct RecordedComm {
  int number = 0;
  std::vector<int> world;      ///< ranks of its members; empty: its calls are skipped
  std::string_view operation;  ///< operation of the last run of identical calls
  std::vector<Volume> row;     ///< volumes sent in each of these calls
  std::uint64_t calls = 0;     ///< so far
  std::uint64_t repeated = 0;  ///< number of these calls
  off_t place = 0;             ///< file offset of `repeated`
};

std::string twenty_digits(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(20 - digits.size(), '0') + digits;
}

/// The file of a rank, in HOCKET_RECORD; python/hocket/measure/recording.py puts the files together.
///
/// Its lines, one for each run of calls with the same row:
///   hocket-rank 1 RANK RANKS
///   comm C ORDINAL SIZE WORLD-RANK...    the C-th communicator of this rank; the ORDINAL-th with these members
///   call C FIRST REPEATED OPERATION N (WORLD-RANK BYTES)...
///   skip C OPERATION                     an intercommunicator, or ranks of another world
///   end
/// REPEATED has 20 digits and is written again in place, so that nothing is lost with a rank that dies.
///
/// Recording ends where the disk does; the program goes on.
class RecordFile {
 public:
  /// The rank is that of MPI_COMM_WORLD.
  RecordFile(const std::string& directory, int rank, int ranks) {
    const std::string path = directory + "/rank-" + std::to_string(rank);
    file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file_ < 0 && errno == EEXIST)
      say("only the first MPI job is recorded, not those that it starts or that follow it");
    else if (file_ < 0)
      say("cannot write " + path + ": " + std::strerror(errno) + "; it must be in a directory that all hosts see");
    append("hocket-rank 1 " + std::to_string(rank) + " " + std::to_string(ranks));
  }

  /// `world`: as RecordedComm has it. Communicators of the same members are told apart by the order of these calls.
  [[nodiscard]] RecordedComm add_comm(std::vector<int> world) {
    RecordedComm comm;
    comm.number = comms_++;
    if (!world.empty()) {
      std::string line = "comm " + std::to_string(comm.number) + " " + std::to_string(seen_[world]++) + " " +
                         std::to_string(world.size());
      for (const int rank : world) line += " " + std::to_string(rank);
      append(line);
    }
    comm.world = std::move(world);
    return comm;
  }

  /// The next call of a communicator; receivers by their rank in the world, ascending.
  void add_call(RecordedComm& comm, std::string_view operation, std::vector<Volume> row) {
    if (comm.world.empty()) {
      if (comm.calls++ == 0) append("skip " + std::to_string(comm.number) + " " + std::string(operation));
      return;
    }
    if (comm.calls > 0 && operation == comm.operation && row == comm.row) {
      write(twenty_digits(++comm.repeated), comm.place);
    } else {
      std::string line = "call " + std::to_string(comm.number) + " " + std::to_string(comm.calls) + " ";
      comm.place = size_ + static_cast<off_t>(line.size());
      line += twenty_digits(1) + " " + std::string(operation) + " " + std::to_string(row.size());
      for (const auto& [peer, bytes] : row) line += " " + std::to_string(peer) + " " + std::to_string(bytes);
      append(line);
      comm.operation = operation;
      comm.row = std::move(row);
      comm.repeated = 1;
    }
    ++comm.calls;
  }

  void end() {
    append("end");
    if (file_ >= 0) close(std::exchange(file_, -1));
  }

 private:
  void write(std::string_view text, off_t place) {
    while (file_ >= 0 && !text.empty()) {
      const ssize_t done = pwrite(file_, text.data(), text.size(), place);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) {
        say("cannot write to HOCKET_RECORD any more: " + std::string(std::strerror(errno)));
        close(std::exchange(file_, -1));
        return;
      }
      text.remove_prefix(static_cast<std::size_t>(done));
      place += done;
    }
  }

  void append(const std::string& line) {
    write(line + "\n", size_);
    size_ += static_cast<off_t>(line.size()) + 1;
  }

  int file_ = -1;  ///< -1: nothing is written any more
  off_t size_ = 0;
  int comms_ = 0;
  std::map<std::vector<int>, int> seen_;  ///< number of communicators with these members so far
};

std::mutex mutex;  // guards the file and all RecordedComms

RecordFile& file() {
  static RecordFile& opened = *[] {
    const int rank = rank_in(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
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

/// `bytes` of each message go to the ranks `to`.
std::vector<Volume> row_of(std::span<const int> to, std::span<const std::uint64_t> bytes) {
  constexpr Rank nobody = ~Rank{0};
  std::uint64_t kept = 0;
  return sum_by_peer(to, bytes, nobody, kept);
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
  const int own = rank_in(comm);
  if (everybody && sends.shared) to[static_cast<std::size_t>(own)] = MPI_PROC_NULL;
  std::vector<std::uint64_t> bytes(to.size(), 0);
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] < 0) continue;
    const std::size_t message = in_place && sends.shared ? static_cast<std::size_t>(own) : i;
    to[i] = world[static_cast<std::size_t>(to[i])];
    if (const std::int64_t count = side.counts[message]; count > 0 && side.types[message] != MPI_DATATYPE_NULL)
      bytes[i] = quick_bytes_of(count, side.types[message]);
  }
  return row_of(to, bytes);
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
  const int own = rank_in(comm);
  std::vector<int> to = world;
  to[static_cast<std::size_t>(own)] = MPI_PROC_NULL;
  std::vector<std::uint64_t> bytes(to.size(), 0);
  for (std::size_t i = 0; i < to.size(); ++i)
    if (const std::int64_t count = part(parts, counts, root, static_cast<std::size_t>(own), i, to.size()); count > 0)
      bytes[i] = quick_bytes_of(count, type);
  return row_of(to, bytes);
}

template <class... Described>
void record(MPI_Comm comm, const Described&... what) {
  if (!in_world()) return say_once("calls of programs that only open MPI sessions are not recorded");
  const std::lock_guard lock(mutex);
  RecordedComm& calls = recorded(comm);
  std::vector<Volume> row;
  if (!calls.world.empty()) row = row_of(calls.world, comm, what...);
  file().add_call(calls, Called::now(), std::move(row));
}

template <class... Described>
bool try_record(MPI_Comm comm, const Described&... what) noexcept {
  try {
    if (comm != MPI_COMM_NULL) record(comm, what...);
  } catch (const MpiFailure&) {  // the call itself will fail
  } catch (const std::exception& error) {
    say_once("a call could not be recorded: " + std::string(error.what()));
  }
  return settings().plan_paths.empty();
}

}  // namespace

bool only_recorded(MPI_Comm comm, Reach reach, const VectorSide& sends, const VectorSide& receives) noexcept {
  return try_record(comm, reach, sends, receives);
}

bool only_recorded(MPI_Comm comm, Parts parts, const Numbers& counts, MPI_Datatype type, int root) noexcept {
  return try_record(comm, parts, counts, type, root);
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
