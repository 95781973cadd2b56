#pragma once
/// Redistributes elements from the parts that a sort yields to those that are wanted. Elements already on their rank do
/// not move.
#include <cstddef>

#include "sort/mpi/place/host_shared_context.hpp"
#include "sort/mpi/place/layout.hpp"
#include "sort/mpi/place/private_memory.hpp"

namespace hocket::sort {

/// Memory of one rank for its part of a sorted array as it falls, and as it is wanted.
class SortedPart {
 public:
  /// Throws std::bad_alloc.
  SortedPart(int rank, std::size_t width, const Layout& falls, const Layout& wanted);

  /// The memory of the part as it falls.
  [[nodiscard]] std::byte* data() const { return memory_.data() + (falls_.begin(rank_) - first_) * width_; }
  /// Collective. Exchanges what is on the wrong rank, by a block of the shared context. Returns the part as it is
  /// wanted.
  [[nodiscard]] PrivateMemory rebalance(HostSharedContext& place, std::size_t slot) &&;

 private:
  int rank_;
  std::size_t width_;
  Layout falls_, wanted_;
  std::uint64_t first_;  ///< position of the first element that there is room for
  PrivateMemory memory_;
};

}  // namespace hocket::sort
