#include "sort/mpi/place/layout.hpp"

#include <sys/mman.h>

#include "runtime/progress/waiting.hpp"

namespace hocket::sort {

using namespace hocket::runtime;

Layout::Layout(const std::vector<std::uint64_t>& counts) {
  begin_.reserve(counts.size() + 1);
  for (const std::uint64_t count : counts) begin_.push_back(begin_.back() + count);
}

Layout Layout::gather(MPI_Comm comm, std::uint64_t own) {
  int size = 0;
  check(PMPI_Comm_size(comm, &size));
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(size));
  run_collective(PMPI_Iallgather, &own, 1, MPI_UINT64_T, counts.data(), 1, MPI_UINT64_T, comm);
  return Layout(counts);
}

Layout Layout::balanced(std::uint64_t total, int ranks) {
  const auto parts = static_cast<std::uint64_t>(ranks);
  std::vector<std::uint64_t> counts(parts, total / parts);
  std::fill_n(counts.begin(), total % parts, total / parts + 1);
  return Layout(counts);
}

int Layout::rank_of(std::uint64_t position) const {
  // The last rank that begins at or before it: empty ranks begin where the next one does.
  return static_cast<int>(std::upper_bound(begin_.begin(), begin_.end(), position) - begin_.begin()) - 1;
}

PrivateMemory::PrivateMemory(std::size_t bytes) : bytes_(bytes) {
  constexpr std::size_t huge_page = std::size_t{1} << 21;
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
