#include "workplace.hpp"

#include <sys/statvfs.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>

#include "agreement.hpp"
#include "api.hpp"
#include "attached.hpp"
#include "entry.hpp"
#include "mpi_call.hpp"
#include "requests.hpp"
#include "settings.hpp"

namespace hocket::runtime {
namespace {

constexpr std::size_t cache_line = 64;

MPI_Comm split(MPI_Comm comm, int color) {
  int rank = 0;
  MPI_Comm made = MPI_COMM_NULL;
  check(PMPI_Comm_rank(comm, &rank));
  check(PMPI_Comm_split(comm, color, rank, &made));
  check(PMPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN));
  return made;
}

/// The ranks of `comm` that share memory with this one: those of its host, cut into groups of settings().shared_ranks.
MPI_Comm sharing(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm host = MPI_COMM_NULL;
  check(PMPI_Comm_rank(comm, &rank));
  check(PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host));
  check(PMPI_Comm_rank(host, &rank));
  const int most = settings().shared_ranks;
  MPI_Comm group = split(host, most > 0 ? rank / most : 0);
  check(PMPI_Comm_free(&host));
  return group;
}

/// What tmpfs has left, in bytes; what lies beyond ends a program with SIGBUS when it is touched. MPICH and Open MPI
/// have their shared windows there.
std::uint64_t shared_memory_left() {
  struct statvfs status{};
  if (statvfs("/dev/shm", &status) != 0) return UINT64_MAX;
  return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
}

}  // namespace

SharedBlock::SharedBlock(MPI_Comm host, std::size_t bytes)
    : bytes_((bytes + cache_line - 1) / cache_line * cache_line) {
  int size = 0;
  void* own = nullptr;
  check(PMPI_Comm_size(host, &size));
  check(PMPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes_), 1, MPI_INFO_NULL, host, &own, &window_));
  check(PMPI_Win_lock_all(MPI_MODE_NOCHECK, window_));
  for (int rank = 0; rank < size; ++rank) {
    MPI_Aint length = 0;
    int unit = 0;
    void* part = nullptr;
    check(PMPI_Win_shared_query(window_, rank, &length, &unit, static_cast<void*>(&part)));
    parts_.push_back(static_cast<std::byte*>(part));
  }
}

SharedBlock::~SharedBlock() {
  int finalized = 0;
  PMPI_Finalized(&finalized);
  if (finalized || window_ == MPI_WIN_NULL) return;
  PMPI_Win_unlock_all(window_);
  PMPI_Win_free(&window_);
}

void SharedBlock::sync() const { check(PMPI_Win_sync(window_)); }

Workplace& Workplace::of(MPI_Comm comm) {
  if (!plain_intracommunicator(comm))
    throw ApiError{HOCKET_ERR_ARGUMENT, "the communicator is none, or one between two groups"};
  if (Workplace* const place = Attached<Workplace>::find(comm)) return *place;
  Requests::instance().let_go();
  return Attached<Workplace>::attach(comm, std::unique_ptr<Workplace>(new Workplace(comm)));
}

Workplace::Workplace(MPI_Comm comm) : comm_(split(comm, 0)), host_(sharing(comm_)) {
  check(PMPI_Comm_rank(comm_, &rank_));
  check(PMPI_Comm_size(comm_, &size_));
  check(PMPI_Comm_rank(host_, &host_rank_));
  int host_size = 0;
  check(PMPI_Comm_size(host_, &host_size));
  check(PMPI_Allreduce(&host_size, &largest_host_size_, 1, MPI_INT, MPI_MAX, comm_));
  members_.resize(static_cast<std::size_t>(host_size));
  check(PMPI_Allgather(&rank_, 1, MPI_INT, members_.data(), 1, MPI_INT, host_));
  host_rank_of_.assign(static_cast<std::size_t>(size_), -1);
  for (int member = 0; member < host_size; ++member)
    host_rank_of_[static_cast<std::size_t>(members_[static_cast<std::size_t>(member)])] = member;
  int plans = settings().plan_paths.empty() ? 0 : 1;
  check(PMPI_Allreduce(MPI_IN_PLACE, &plans, 1, MPI_INT, MPI_MIN, comm_));
  has_plans_ = plans != 0;
}

Workplace::~Workplace() {
  int finalized = 0;
  PMPI_Finalized(&finalized);
  if (finalized) return;
  blocks_.clear();
  PMPI_Comm_free(&host_);
  PMPI_Comm_free(&comm_);
}

SharedBlock& Workplace::block(std::size_t slot, std::size_t bytes) {
  if (blocks_.size() <= slot) blocks_.resize(slot + 1);
  std::unique_ptr<SharedBlock>& place = blocks_[slot];
  const int grow = place == nullptr || place->bytes() < bytes ? 1 : 0;
  int any_grows = 0;
  reduce(&grow, &any_grows, 1, MPI_INT, MPI_MAX, comm_);
  if (any_grows) {
    together(comm_, HOCKET_ERR_MEMORY, [&] { make_anew(place, bytes); });
  }
  return *place;
}

void Workplace::make_anew(std::unique_ptr<SharedBlock>& place, std::size_t bytes) {
  int grows = place == nullptr || place->bytes() < bytes ? 1 : 0;
  check(PMPI_Allreduce(MPI_IN_PLACE, &grows, 1, MPI_INT, MPI_MAX, host_));
  if (!grows) return;
  if (place != nullptr) bytes = std::max(bytes, place->bytes());
  place.reset();
  place = share(bytes);
}

std::unique_ptr<SharedBlock> Workplace::share(std::size_t bytes) const {
  std::uint64_t together_bytes = bytes;
  check(PMPI_Allreduce(MPI_IN_PLACE, &together_bytes, 1, MPI_UINT64_T, MPI_SUM, host_));
  std::uint64_t left = shared_memory_left();
  check(PMPI_Allreduce(MPI_IN_PLACE, &left, 1, MPI_UINT64_T, MPI_MIN, host_));
  if (together_bytes > left)
    throw ApiError{HOCKET_ERR_MEMORY, "the ranks of a host need " + std::to_string(together_bytes >> 20) +
                                          " MiB of shared memory, but /dev/shm has " + std::to_string(left >> 20) +
                                          " MiB left"};
  return std::make_unique<SharedBlock>(host_, bytes);
}

void Workplace::meet_host() { meet(host_); }
void Workplace::meet() { meet(comm_); }

void Workplace::meet(MPI_Comm comm) {
  const auto sync = [&] {
    for (const auto& block : blocks_)
      if (block) block->sync();
    std::atomic_thread_fence(std::memory_order_seq_cst);
  };
  sync();
  MPI_Request request = MPI_REQUEST_NULL;
  check(PMPI_Ibarrier(comm, &request));
  wait_until_done(request);
  sync();
}

}  // namespace hocket::runtime
