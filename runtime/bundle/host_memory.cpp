#include "runtime/bundle/host_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <string>

#include "hocket/error.hpp"

namespace hocket::runtime {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw InputError("the ranks of a host cannot share memory: " + what + ": " + std::strerror(errno));
}

std::uint64_t random_token() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device() | 1;  // never what fresh memory holds
}

}  // namespace

HostMemory::HostMemory(std::size_t ranks, std::size_t bytes) : ranks_(ranks), bytes_(bytes) {
  const int descriptor = memfd_create("hocket", MFD_CLOEXEC);
  if (descriptor < 0) fail("memfd_create");
  handle_ = {getpid(), descriptor, random_token()};
  try {
    map();
  } catch (...) {
    seal();
    throw;
  }
  lines_[token_line].value.store(handle_.token, std::memory_order_release);
}

HostMemory::HostMemory(const Handle& handle, std::size_t ranks, std::size_t bytes) : ranks_(ranks), bytes_(bytes) {
  const std::string path = "/proc/" + std::to_string(handle.process) + "/fd/" + std::to_string(handle.descriptor);
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) fail(path);
  handle_ = {handle.process, descriptor, handle.token};
  try {
    if (lseek(descriptor, 0, SEEK_END) < static_cast<off_t>((first_rank_line + ranks) * sizeof(Line) + bytes)) {
      errno = ESTALE;
      fail(path);
    }
    map();
  } catch (...) {
    seal();
    throw;
  }
  seal();
  if (lines_[token_line].value.load(std::memory_order_acquire) != handle.token) {
    munmap(lines_, mapped_);
    errno = ESTALE;
    fail(path + " is something else");
  }
}

HostMemory::~HostMemory() {
  seal();
  munmap(lines_, mapped_);
}

void HostMemory::seal() {
  if (handle_.descriptor >= 0) close(static_cast<int>(handle_.descriptor));
  handle_.descriptor = -1;
}

void HostMemory::map() {
  const std::size_t before = (first_rank_line + ranks_) * sizeof(Line);
  mapped_ = before + bytes_;
  const int descriptor = static_cast<int>(handle_.descriptor);
  if (handle_.process == getpid() && ftruncate(descriptor, static_cast<off_t>(mapped_)) != 0) fail("ftruncate");
  void* const at = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (at == MAP_FAILED) fail("mmap");
  lines_ = static_cast<Line*>(at);
  data_ = static_cast<std::byte*>(at) + before;
}

void HostMemory::arrive(std::size_t local, std::uint64_t stage) {
  lines_[first_rank_line + local].value.store(stage, std::memory_order_release);
}

bool HostMemory::all_at(std::uint64_t stage) const {
  for (std::size_t local = 0; local < ranks_; ++local)
    if (lines_[first_rank_line + local].value.load(std::memory_order_acquire) < stage) return false;
  return true;
}

void HostMemory::complete(std::uint64_t call) { lines_[completed_line].value.store(call, std::memory_order_release); }

bool HostMemory::completed(std::uint64_t call) const {
  return lines_[completed_line].value.load(std::memory_order_acquire) >= call;
}

}  // namespace hocket::runtime
