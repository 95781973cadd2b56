#include "sort/mpi/place/private_memory.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace hocket::sort {
namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21;

}  // namespace

PrivateMemory::PrivateMemory(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  if (bytes > PTRDIFF_MAX) throw std::bad_alloc();
  void* const made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) throw std::bad_alloc();
  if (bytes >= huge_page) madvise(made, bytes, MADV_HUGEPAGE);  // a wish: small pages will do
  data_ = static_cast<std::byte*>(made);
}

PrivateMemory::~PrivateMemory() {
  if (data_ != nullptr) munmap(data_ - dropped_, bytes_ + dropped_);
}

}  // namespace hocket::sort
