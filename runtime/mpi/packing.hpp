#pragma once
/// Elements of any datatype as plain bytes.
#include <mpi.h>

#include <cstddef>

namespace hocket::runtime {

/// Bytes that `count` elements hold; the same on both sides of every message.
[[nodiscard]] std::size_t bytes_of(MPI_Count count, MPI_Datatype type);

/// True for types predefined by MPI, which cannot be freed.
[[nodiscard]] bool is_predefined(MPI_Datatype type);

/// False of types that the program has made and not committed, as far as MPI tells.
[[nodiscard]] bool committed(MPI_Datatype type);

/// The memory layout of a datatype's elements.
struct Layout {
  std::size_t size = 0;     ///< bytes that one holds
  MPI_Aint extent = 0;      ///< bytes from one element to the next
  MPI_Aint true_lower = 0;  ///< offset of its first byte
  bool run = false;         ///< its bytes lie back to back, in the order in which they are sent

  /// True if `count` elements are one contiguous run from true_lower on.
  [[nodiscard]] bool runs(MPI_Count count) const {
    return run && (count == 1 || extent == static_cast<MPI_Aint>(size));
  }
};

[[nodiscard]] Layout layout_of(MPI_Datatype type);

/// Both MPI families pack a homogeneous job's data as the bare bytes of the type map, in order.
void pack(const void* elements, MPI_Count count, MPI_Datatype type, std::byte* bytes, MPI_Comm comm);
void unpack(const std::byte* bytes, void* elements, MPI_Count count, MPI_Datatype type, MPI_Comm comm);

}  // namespace hocket::runtime
