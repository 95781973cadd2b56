#pragma once
/// Elements in shared memory, by the region of the target that they go to.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sort/core/elements/region_writer.hpp"
#include "sort/mpi/place/host_shared_context.hpp"

namespace hocket::sort {

/// Elements for one region, and where in it they go.
struct Piece {
  const std::byte* data;
  std::span<const std::uint32_t> offsets;
};

class RegionBlock {
 public:
  /// Collective. `counts`: elements of this rank for each region.
  RegionBlock(HostSharedContext& place, std::size_t width, std::span<const std::uint64_t> counts);

  /// The destinations of this rank's elements, one per region.
  [[nodiscard]] std::vector<RegionStream> streams() const;
  /// The elements that a rank of the host has for a region. Call this only between two HostSharedContext::meet_host().
  [[nodiscard]] Piece piece(int host_rank, std::size_t region) const;

 private:
  /// At the beginning of every rank's part, one for each region and one for their end.
  struct Row {
    std::uint64_t begin, count;  ///< elements
  };
  /// A rank's part: rows, elements, offsets.
  struct Part {
    const Row* rows;
    std::byte* data;
    std::uint32_t* offsets;
  };
  [[nodiscard]] Part part(int host_rank) const;

  std::size_t width_, regions_;
  int own_;
  const SharedBlock* block_;
};

}  // namespace hocket::sort
