#include "scratch.hpp"

#include <sys/mman.h>

#include <new>

namespace hocket::runtime {

Scratch::Scratch(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  madvise(memory, bytes, MADV_HUGEPAGE);  // a wish
#endif
  memory_ = static_cast<std::byte*>(memory);
}

Scratch::~Scratch() {
  if (memory_ != nullptr) munmap(memory_, bytes_);
}

}  // namespace hocket::runtime
