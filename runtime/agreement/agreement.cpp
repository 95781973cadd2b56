#include "runtime/agreement/agreement.hpp"

#include <algorithm>
#include <atomic>
#include <set>

#include "runtime/mpi/mpi_call.hpp"
#include "runtime/mpi/world.hpp"
#include "runtime/plan/settings.hpp"

namespace hocket::runtime {

std::string warn(MPI_Comm comm, int source, const std::string& text) {
  char line[1024] = "";
  text.copy(line, sizeof line - 1);
  run_collective(PMPI_Ibcast, line, sizeof line, MPI_CHAR, source, comm);
  const int known = heard(line) ? 1 : 0;
  int known_to_any = 0;
  run_collective(PMPI_Iallreduce, &known, &known_to_any, 1, MPI_INT, MPI_MAX, comm);
  if (known_to_any) return line;
  if (rank_in(comm) == 0) say(line);
  wait_for_all(comm);  // The condition behind the warning may end the job.
  return line;
}

void tell_config_warnings(MPI_Comm comm, std::span<const std::uint64_t> digests) {
  const std::vector<std::string>& own = settings().config_warnings;
  const int rank = rank_in(comm);
  // Ranks usually have the same environment, so one rank per distinct digest reports its warnings.
  std::set<std::uint64_t> told{0};
  for (int source = 0; source < static_cast<int>(digests.size()); ++source) {
    if (!told.insert(digests[static_cast<std::size_t>(source)]).second) continue;
    int lines = static_cast<int>(own.size());
    run_collective(PMPI_Ibcast, &lines, 1, MPI_INT, source, comm);
    for (int i = 0; i < lines; ++i) warn(comm, source, rank == source ? own[static_cast<std::size_t>(i)] : "");
  }
}

bool all_ok(MPI_Comm comm, std::string& problem, const std::string& consequence) {
  const std::optional<int> first = first_where(!problem.empty(), comm);
  if (!first) return true;
  problem = warn(comm, *first, problem + "; " + consequence);
  return false;
}

namespace {

std::atomic<int> live = 0;  ///< private communicators of this process

/// Open MPI 5 hangs at times when threads make communicators at once (ompi_comm_nextcid), with or without Hocket.
void warn_of_threads() {
#ifdef OPEN_MPI
  int provided = MPI_THREAD_SINGLE, is_main = 1;
  if (PMPI_Query_thread(&provided) != MPI_SUCCESS || provided != MPI_THREAD_MULTIPLE) return;
  if (PMPI_Is_thread_main(&is_main) != MPI_SUCCESS || is_main) return;
  say_once(
      "a thread other than the main one makes its first scheduled exchange on a communicator. Open MPI may hang when "
      "several do so at once; let one thread make the first exchange on each communicator");
#endif
}

}  // namespace

/// Not a duplicate: that would copy the program's attributes.
#ifdef MPICH_VERSION
/// Ranks agree by messages here, in MPI_Comm_split by reductions that keep processors: see reduce().
PrivateComm::PrivateComm(MPI_Comm parent) {
  constexpr int tag_of_private = 27182;  // a program's thread may create a communicator of the same ranks meanwhile
  MPI_Group group = MPI_GROUP_NULL;
  check(PMPI_Comm_group(parent, &group));
  const int code = wait_in_mpi(PMPI_Comm_create_group, parent, group, tag_of_private, &comm_);
  check(PMPI_Group_free(&group));
  check(code);
  begin();
}
#else
PrivateComm::PrivateComm(MPI_Comm parent) : PrivateComm(parent, 0) {}
#endif

PrivateComm::PrivateComm(MPI_Comm parent, int colour) {
  check(wait_in_mpi(PMPI_Comm_split, parent, colour, 0, &comm_));
  begin();
}

void PrivateComm::begin() {
  if (comm_ == MPI_COMM_NULL) return;
  check(PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
  rank_ = rank_in(comm_);
  size_ = size_of(comm_);
}

PrivateComm::~PrivateComm() {
  int finalized = 0;
  PMPI_Finalized(&finalized);
  if (comm_ != MPI_COMM_NULL && !finalized) PMPI_Comm_free(&comm_);
}

PrivateComms::Lease::~Lease() {
  if (!pool_) return;
  const std::lock_guard lock(pool_->mutex_);
  pool_->comms_[place_].leased = false;
}

std::optional<PrivateComms::Lease> PrivateComms::lease(MPI_Comm parent) {
  std::vector<unsigned char> free_here;  // and whether there may be one more
  {
    const std::lock_guard lock(mutex_);
    for (const Own& own : comms_) free_here.push_back(own.leased ? 0 : 1);
  }
  free_here.push_back(live < most_live ? 1 : 0);
  std::vector<unsigned char> free_everywhere(free_here.size());
  run_collective(PMPI_Iallreduce, free_here.data(), free_everywhere.data(), static_cast<int>(free_here.size()),
                 MPI_UNSIGNED_CHAR, MPI_MIN, parent);
  const auto found = std::find(free_everywhere.begin(), free_everywhere.end(), 1);
  if (found == free_everywhere.end()) return std::nullopt;
  const auto place = static_cast<std::size_t>(found - free_everywhere.begin());
  std::optional<PrivateComm> fresh;
  if (place + 1 == free_everywhere.size()) {
    fresh.emplace(parent);
    ++live;
    if (launched_rank() == 0) warn_of_threads();
  }
  const std::lock_guard lock(mutex_);
  if (fresh) comms_.push_back({std::move(*fresh), false});
  comms_[place].leased = true;
  return Lease(shared_from_this(), place, comms_[place].comm.get());
}

PrivateComms::~PrivateComms() { live -= static_cast<int>(comms_.size()); }

}  // namespace hocket::runtime
