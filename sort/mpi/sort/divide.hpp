#pragma once
/// Dividing a rank's elements by splitters.
#include <span>

#include "sort/core/elements/partition.hpp"
#include "sort/mpi/exchange/exchange_blocks.hpp"
#include "sort/mpi/place/private_memory.hpp"
#include "sort/mpi/sort/sort_task.hpp"

namespace hocket::sort {

/// The part of each element, and the number of elements per part.
struct Parts {
  PrivateMemory of_element;  ///< std::uint16_t
  BlockCounts counts;

  [[nodiscard]] std::span<const std::uint16_t> parts(std::uint64_t count) const {
    return {reinterpret_cast<const std::uint16_t*>(of_element.data()), count};
  }
};

/// Divides unsorted records.
[[nodiscard]] Parts divide(RecordType type, const std::byte* records, std::uint64_t count, int rank,
                           std::span<const Splitter> splitters);

/// Divides records that this rank has sorted, so that parts are contiguous. A splitter's index refers to that order.
[[nodiscard]] BlockCounts divide_sorted(RecordType type, const std::byte* sorted, std::uint64_t count, int rank,
                                        std::span<const Splitter> splitters);

}  // namespace hocket::sort
