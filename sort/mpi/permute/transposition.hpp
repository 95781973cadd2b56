#pragma once
/// Transposes of distributed matrices.
#include <cstddef>
#include <cstdint>

#include "sort/mpi/place/host_shared_context.hpp"
#include "sort/mpi/place/layout.hpp"

namespace hocket::sort {

/// Ranks hold whole rows. The source has as many columns as the target has rows.
struct Transposition {
  std::size_t width;
  Layout rows;     ///< distribution of the source's rows
  Layout columns;  ///< distribution of the source's columns, the rows of the target
  const std::byte* source;
  std::byte* own;  ///< this rank's part of the target
};

/// Blocks are cut out, exchanged, and transposed where they arrive.
void transpose_packed(HostSharedContext& place, const Transposition& matrix);
/// Within a host blocks are transposed out of each other's memory.
void transpose_chained(HostSharedContext& place, const Transposition& matrix);

}  // namespace hocket::sort
