#include "runtime/two_level/host_memory.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <limits>
#include <string>

#include "core/error.hpp"

namespace hocket::runtime {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw InputError("the ranks of a host cannot share memory: " + what + ": " + std::strerror(errno));
}

/// Counters wrap around.
bool has_reached(std::uint32_t counter, std::uint32_t wanted) {
  return static_cast<std::int32_t>(counter - wanted) >= 0;
}

/// futex(2) between processes: std::atomic::wait works only within one.
long futex(std::atomic<std::uint32_t>& word, int what, std::uint32_t value, const timespec* longest) {
  static_assert(sizeof word == sizeof(std::uint32_t) && std::atomic<std::uint32_t>::is_always_lock_free);
  return syscall(SYS_futex, &word, what, value, longest, nullptr, 0);
}

void wake_all(std::atomic<std::uint32_t>& word) { futex(word, FUTEX_WAKE, std::numeric_limits<int>::max(), nullptr); }

void sleep_while(std::atomic<std::uint32_t>& word, std::uint32_t value, std::chrono::microseconds longest) {
  const timespec time{0, static_cast<long>(std::chrono::nanoseconds(longest).count())};
  futex(word, FUTEX_WAIT, value, &time);
}

std::uint64_t random_token() {
  std::uint64_t token = 0;
  if (getrandom(&token, sizeof token, 0) != sizeof token) fail("getrandom");
  return token | 1;  // never what fresh memory holds
}

}  // namespace

HostMemory::HostMemory(std::size_t ranks, std::size_t bytes) : ranks_(ranks), bytes_(bytes) {
  const std::uint64_t token = random_token();
  const int descriptor = memfd_create("hocket", MFD_CLOEXEC);
  if (descriptor < 0) fail("memfd_create");
  handle_ = {getpid(), descriptor, token};
  try {
    map();
  } catch (...) {
    seal();
    throw;
  }
  header_->token.store(handle_.token, std::memory_order_release);
}

HostMemory::HostMemory(const Handle& handle, std::size_t ranks, std::size_t bytes) : ranks_(ranks), bytes_(bytes) {
  const std::string path = "/proc/" + std::to_string(handle.process) + "/fd/" + std::to_string(handle.descriptor);
  const std::string what = "opening what one of them has made";  // the same text on all hosts
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) fail(what);
  handle_ = {handle.process, descriptor, handle.token};
  try {
    if (lseek(descriptor, 0, SEEK_END) < static_cast<off_t>(mapped(bytes))) {
      errno = ESTALE;
      fail(what);
    }
    map();
  } catch (...) {
    seal();
    throw;
  }
  seal();
  if (header_->token.load(std::memory_order_acquire) != handle.token) {
    munmap(header_, mapped(bytes_));
    errno = ESTALE;
    fail(what);
  }
}

HostMemory::~HostMemory() {
  seal();
  munmap(header_, mapped(bytes_));
}

void HostMemory::seal() {
  if (handle_.descriptor >= 0) close(static_cast<int>(handle_.descriptor));
  handle_.descriptor = -1;
}

void HostMemory::map() {
  const int descriptor = static_cast<int>(handle_.descriptor);
  const std::size_t bytes = mapped(bytes_);
  if (handle_.process == getpid() && ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) fail("ftruncate");
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (at == MAP_FAILED) fail("mmap");
  header_ = static_cast<Header*>(at);
  data_ = static_cast<std::byte*>(at) + sizeof(Header);
}

void HostMemory::arrive() {
  const auto all = static_cast<std::uint32_t>(++places_ * ranks_);
  if (header_->arrivals.fetch_add(1, std::memory_order_acq_rel) + 1 == all) wake_all(header_->arrivals);
}

bool HostMemory::all_here() const {
  const auto all = static_cast<std::uint32_t>(places_ * ranks_);
  return has_reached(header_->arrivals.load(std::memory_order_acquire), all);
}

bool HostMemory::give(std::uint32_t call, std::uint32_t digest, std::uint64_t bytes) {
  std::atomic<std::uint64_t>& given = header_->given[call % 2];
  const std::uint64_t own = std::uint64_t{call} << 32 | digest;
  std::uint64_t seen = given.load(std::memory_order_acquire);
  while (seen >> 32 != call) {
    if (!given.compare_exchange_weak(seen, own, std::memory_order_acq_rel)) continue;
    header_->given_bytes[call % 2] = bytes;
    return true;
  }
  if (seen != own) spoil(call);
  return seen == own;
}

void HostMemory::complete(std::uint32_t call) {
  header_->last_completed.store(call, std::memory_order_release);
  wake_all(header_->last_completed);
}

bool HostMemory::completed(std::uint32_t call) const {
  return has_reached(header_->last_completed.load(std::memory_order_acquire), call);
}

void HostMemory::await_all(std::chrono::microseconds longest) const {
  const std::uint32_t seen = header_->arrivals.load(std::memory_order_acquire);
  if (!has_reached(seen, static_cast<std::uint32_t>(places_ * ranks_))) sleep_while(header_->arrivals, seen, longest);
}

void HostMemory::await_completion(std::uint32_t call, std::chrono::microseconds longest) const {
  const std::uint32_t seen = header_->last_completed.load(std::memory_order_acquire);
  if (!has_reached(seen, call)) sleep_while(header_->last_completed, seen, longest);
}

}  // namespace hocket::runtime
