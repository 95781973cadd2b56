#include "sort/mpi/place/host_shared_context.hpp"

#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <map>

#include "runtime/beside/beside.hpp"
#include "runtime/mpi/attached.hpp"
#include "runtime/mpi/world.hpp"
#include "runtime/progress/waiting.hpp"
#include "sort/core/elements/move.hpp"

namespace hocket::sort {
namespace {

constexpr std::size_t cache_line = 64;

/// The ranks of `comm` that share memory with this one: those of its host, cut into groups of
/// HOCKET_TEST_SHARED_RANKS, which tests set to stand for several hosts.
PrivateComm sharing(const PrivateComm& comm) {
  int rank = 0;
  MPI_Comm host = MPI_COMM_NULL;
  check(wait_in_mpi(PMPI_Comm_split_type, comm.get(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &host));
  check(PMPI_Comm_rank(host, &rank));
  const char* const wanted = std::getenv("HOCKET_TEST_SHARED_RANKS");
  const long most = wanted != nullptr ? std::strtol(wanted, nullptr, 10) : 0;
  PrivateComm group(host, most > 0 ? static_cast<int>(rank / most) : 0);
  check(PMPI_Comm_free(&host));
  return group;
}

/// Free bytes in /dev/shm, where MPICH and Open MPI keep shared windows. Touching memory beyond these ends the program
/// with SIGBUS.
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
  check(wait_in_mpi(PMPI_Win_allocate_shared, static_cast<MPI_Aint>(bytes_), 1, MPI_INFO_NULL, host, &own, &window_));
  check(wait_in_mpi(PMPI_Win_lock_all, MPI_MODE_NOCHECK, window_));
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

void SharedBlock::touch(MPI_Comm host) const {
#if defined(MADV_POPULATE_WRITE) && defined(MADV_POPULATE_READ)
  int own = 0;
  check(PMPI_Comm_rank(host, &own));
  const auto populate = [&](std::size_t rank, int how) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(parts_[rank]);
    const std::uintptr_t begin = at / page * page;
    if (bytes_ > 0) madvise(reinterpret_cast<void*>(begin), at - begin + bytes_, how);  // a wish: touching will do
  };
  populate(static_cast<std::size_t>(own), MADV_POPULATE_WRITE);
  run_collective(PMPI_Ibarrier, host);
  for (std::size_t rank = 0; rank < parts_.size(); ++rank)
    if (rank != static_cast<std::size_t>(own)) populate(rank, MADV_POPULATE_READ);
#else
  (void)host;
#endif
}

void SharedBlock::sync() const { check(PMPI_Win_sync(window_)); }

HostSharedContext& HostSharedContext::of(MPI_Comm comm) {
  need_intracommunicator(comm);
  if (HostSharedContext* const place = Attached<HostSharedContext>::find(comm)) return *place;
  return Attached<HostSharedContext>::attach(comm, std::unique_ptr<HostSharedContext>(new HostSharedContext(comm)));
}

HostSharedContext::HostSharedContext(MPI_Comm comm) : comm_(comm), host_(sharing(comm_)) {
  const int host_size = host_.size(), rank = comm_.rank();
  check(wait_in_mpi(PMPI_Allreduce, &host_size, &largest_host_size_, 1, MPI_INT, MPI_MAX, comm_.get()));
  members_.resize(static_cast<std::size_t>(host_size));
  check(wait_in_mpi(PMPI_Allgather, &rank, 1, MPI_INT, members_.data(), 1, MPI_INT, host_.get()));
  host_rank_of_.assign(static_cast<std::size_t>(size()), -1);
  for (int member = 0; member < host_size; ++member)
    host_rank_of_[static_cast<std::size_t>(members_[static_cast<std::size_t>(member)])] = member;
  int plans = settings().plan_paths.empty() ? 0 : 1;
  check(wait_in_mpi(PMPI_Allreduce, MPI_IN_PLACE, &plans, 1, MPI_INT, MPI_MIN, comm_.get()));
  has_plans_ = plans != 0;
}

bool HostSharedContext::could_collide() const {
  bool could = false;
  if (!has_plans_) return could;
  const int code = hocket_beside_could_collide(comm(), &could);
  if (code != HOCKET_SUCCESS) throw ApiError{code, hocket_error_string(code)};
  return could;
}

SharedBlock& HostSharedContext::block(std::size_t slot, std::size_t bytes) {
  if (blocks_.size() <= slot) blocks_.resize(slot + 1);
  std::unique_ptr<SharedBlock>& place = blocks_[slot];
  const int grow = place == nullptr || place->bytes() < bytes ? 1 : 0;
  int any_grows = 0;
  reduce(&grow, &any_grows, 1, MPI_INT, MPI_MAX, comm());
  if (any_grows) {
    if (!fresh_) fresh_.emplace();
    const auto begin = std::chrono::steady_clock::now();
    collective_try(comm(), HOCKET_ERR_MEMORY, [&] { make_anew(place, bytes); });
    fresh_->seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  return *place;
}

void HostSharedContext::make_anew(std::unique_ptr<SharedBlock>& place, std::size_t bytes) {
  int grows = place == nullptr || place->bytes() < bytes ? 1 : 0;
  check(wait_in_mpi(PMPI_Allreduce, MPI_IN_PLACE, &grows, 1, MPI_INT, MPI_MAX, host_.get()));
  if (!grows) return;
  if (place != nullptr) bytes = std::max(bytes, place->bytes());
  place.reset();
  place = share(bytes);
  place->touch(host_.get());
  fresh_->bytes += place->bytes();
}

std::unique_ptr<SharedBlock> HostSharedContext::share(std::size_t bytes) const {
  std::uint64_t together_bytes = bytes;
  check(wait_in_mpi(PMPI_Allreduce, MPI_IN_PLACE, &together_bytes, 1, MPI_UINT64_T, MPI_SUM, host_.get()));
  std::uint64_t left = shared_memory_left();
  check(wait_in_mpi(PMPI_Allreduce, MPI_IN_PLACE, &left, 1, MPI_UINT64_T, MPI_MIN, host_.get()));
  if (together_bytes > left)
    throw ApiError{HOCKET_ERR_MEMORY, "the ranks of a host need " + std::to_string(together_bytes >> 20) +
                                          " MiB of shared memory, but /dev/shm has " + std::to_string(left >> 20) +
                                          " MiB left"};
  return std::make_unique<SharedBlock>(host(), bytes);
}

void HostSharedContext::meet_host() { meet(host()); }
void HostSharedContext::meet() { meet(comm()); }

void HostSharedContext::meet(MPI_Comm comm) {
  const auto sync = [&] {
    for (const auto& block : blocks_)
      if (block) block->sync();
    std::atomic_thread_fence(std::memory_order_seq_cst);
  };
  sync();
  run_collective(PMPI_Ibarrier, comm);
  sync();
}

void same_everywhere(HostSharedContext& place, const std::vector<Common>& arguments) {
  const std::size_t n = arguments.size();
  std::vector<std::uint64_t> own, all(n * static_cast<std::size_t>(place.size()));
  for (const Common& argument : arguments) own.push_back(argument.value);
  run_collective(PMPI_Iallgather, own.data(), static_cast<int>(n), MPI_UINT64_T, all.data(), static_cast<int>(n),
                 MPI_UINT64_T, place.comm());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == all[i % n]) continue;
    const std::string name = arguments[i % n].name;
    throw ApiError{HOCKET_ERR_ARGUMENT, "ranks differ in " + name + ": rank " + std::to_string(i / n) + " gives " +
                                            std::to_string(all[i]) + ", rank 0 " + std::to_string(all[i % n])};
  }
}

void check_elements(const char* name, std::size_t width, std::int64_t count, const void* memory) {
  if (count < 0) throw InputError(std::to_string(count) + " elements of " + name);
  if (count > 0) need(memory, name);
  if (static_cast<std::uint64_t>(count) > SIZE_MAX / 2 / width)
    throw InputError(std::to_string(count) + " elements of " + name + " of " + std::to_string(width) +
                     " bytes are more than memory can have");
}

void check_width(std::size_t width) {
  if (width == 0 || width > INT_MAX)
    throw InputError("elements of " + std::to_string(width) + " bytes; their width is from 1 to " +
                     std::to_string(INT_MAX));
}

void refuse_position(const char* name, std::int64_t position, std::size_t element, const char* array,
                     std::uint64_t total) {
  throw InputError(std::string(name) + " " + std::to_string(position) + " of element " + std::to_string(element) +
                   " is out of range: the " + array + " has " + std::to_string(total) + " elements");
}

namespace {

constexpr std::uint64_t nobody = 0;  ///< no allocation has this number
constexpr std::size_t copy_slot = 1;

struct Allocation {
  std::unique_ptr<SharedBlock> block;
  std::size_t bytes;       ///< bytes of this rank
  int host_rank;           ///< this rank among those of the host
  std::vector<int> ranks;  ///< ranks of the host in MPI_COMM_WORLD
};

/// The allocations of this process, by number; all ranks of an allocation use the same number.
struct Allocations {
  std::mutex mutex;
  std::map<std::uint64_t, Allocation> by_number;
  std::uint64_t last = nobody;

  static Allocations& instance() {
    static Allocations all;  // never destroyed: windows cannot be freed after MPI_Finalize
    return all;
  }

  /// The number of the allocation in which this rank's memory has these bytes; nobody: none.
  std::uint64_t find(const void* memory, std::size_t bytes) {
    const std::lock_guard lock(mutex);
    const auto at = reinterpret_cast<std::uintptr_t>(memory);
    for (const auto& [number, allocation] : by_number) {
      const auto begin = reinterpret_cast<std::uintptr_t>(allocation.block->part(allocation.host_rank));
      if (at >= begin && bytes <= allocation.bytes && at - begin <= allocation.bytes - bytes && memory != nullptr)
        return number;
    }
    return nobody;
  }
};

std::uint64_t largest(HostSharedContext& place, std::uint64_t own) {
  std::uint64_t all = 0;
  reduce(&own, &all, 1, MPI_UINT64_T, MPI_MAX, place.comm());
  return all;
}

/// The number of the allocation that holds a rank's memory, and the offset in it; `empty`: the rank has no bytes there.
struct HostAllocation {
  std::uint64_t number, offset, empty;
};

std::vector<HostAllocation> of_host(HostSharedContext& place, const HostAllocation& own) {
  std::vector<HostAllocation> all(static_cast<std::size_t>(place.host_size()));
  run_collective(PMPI_Iallgather, &own, 3, MPI_UINT64_T, all.data(), 3, MPI_UINT64_T, place.host());
  return all;
}

/// The addresses of the memory that the ranks of the host have found; empty if it is not one allocation.
std::vector<const std::byte*> same_allocation(HostSharedContext& place, const std::vector<HostAllocation>& found) {
  std::uint64_t number = nobody;
  for (const HostAllocation& one : found)
    if (!one.empty) number = one.number;
  for (const HostAllocation& one : found)
    if (!one.empty && one.number != number) return {};
  Allocations& allocations = Allocations::instance();
  const std::lock_guard lock(allocations.mutex);
  const auto allocation = allocations.by_number.find(number);
  if (allocation == allocations.by_number.end() || allocation->second.ranks != world_ranks(place.host())) return {};
  std::vector<const std::byte*> parts;
  for (std::size_t rank = 0; rank < found.size(); ++rank)
    parts.push_back(allocation->second.block->part(static_cast<int>(rank)) + found[rank].offset);
  return parts;
}

}  // namespace

std::byte* allocate_shared(HostSharedContext& place, std::size_t bytes) {
  if (largest(place, bytes) == 0) return nullptr;
  Allocations& allocations = Allocations::instance();
  const std::uint64_t number = largest(place, allocations.last) + 1;
  Allocation fresh{nullptr, bytes, place.host_rank(), world_ranks(place.host())};
  collective_try(place, [&] { fresh.block = place.share(bytes); });
  std::byte* const own = fresh.block->part(place.host_rank());
  const std::lock_guard lock(allocations.mutex);
  allocations.last = number;
  allocations.by_number.emplace(number, std::move(fresh));
  return bytes == 0 ? nullptr : own;
}

void release_shared(HostSharedContext& place, const void* memory) {
  Allocations& allocations = Allocations::instance();
  const std::uint64_t own = allocations.find(memory, 0);
  const std::uint64_t number = largest(place, own);
  collective_try(place, [&] {
    if (memory != nullptr && own == nobody) throw InputError("memory to release is not of hocket_alloc()");
    if (memory != nullptr && own != number) throw InputError("memory to release is of another hocket_alloc()");
    const std::lock_guard lock(allocations.mutex);
    if (number != nobody && !allocations.by_number.contains(number))
      throw InputError("this rank had no part in the hocket_alloc() of the memory to release");
  });
  if (number == nobody) return;
  std::unique_ptr<SharedBlock> block;
  {
    const std::lock_guard lock(allocations.mutex);
    block = std::move(allocations.by_number.at(number).block);
    allocations.by_number.erase(number);
  }
}

std::vector<const std::byte*> find_shared(HostSharedContext& place, const void* memory, std::size_t bytes) {
  HostAllocation own{nobody, 0, bytes == 0 ? 1U : 0U};
  Allocations& allocations = Allocations::instance();
  own.number = allocations.find(memory, bytes);
  if (own.number != nobody && !own.empty) {
    const std::lock_guard lock(allocations.mutex);
    const Allocation& allocation = allocations.by_number.at(own.number);
    own.offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(memory) -
                                            allocation.block->part(allocation.host_rank));
  }
  std::vector<const std::byte*> parts = same_allocation(place, of_host(place, own));
  const int missing = parts.empty() ? 1 : 0;
  int any_missing = 0;
  reduce(&missing, &any_missing, 1, MPI_INT, MPI_MAX, place.comm());
  if (any_missing) parts.clear();
  return parts;
}

std::vector<const std::byte*> shared_or_copied(HostSharedContext& place, const void* memory, std::size_t bytes) {
  std::vector<const std::byte*> parts = find_shared(place, memory, bytes);
  if (!parts.empty()) return parts;
  const SharedBlock& block = place.block(copy_slot, bytes);
  hocket::copy(static_cast<const std::byte*>(memory), block.part(place.host_rank()), bytes);
  for (int rank = 0; rank < place.host_size(); ++rank) parts.push_back(block.part(rank));
  return parts;
}

}  // namespace hocket::sort
