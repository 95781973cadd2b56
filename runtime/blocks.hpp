#pragma once
/// The blocks of a collective call as plain bytes, whatever the datatype: dense types are used where
/// they lie, others are packed and unpacked.
#include <mpi.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "messages.hpp"
#include "packing.hpp"
#include "placed_blocks.hpp"

namespace hocket::runtime {

/// Send side: block i of `n`, `bytes` bytes each, at data() + i·bytes.
class SendBlocks {
 public:
  SendBlocks(const void* buffer, int count, MPI_Datatype type, int n, MPI_Comm comm);
  [[nodiscard]] const std::byte* data() const { return data_; }

 private:
  std::vector<std::byte> copy_;
  const std::byte* data_;
};

/// Receive side; finish() puts what arrived where the datatype wants it.
class ReceiveBlocks {
 public:
  ReceiveBlocks(void* buffer, int count, MPI_Datatype type, int n, MPI_Comm comm);
  [[nodiscard]] std::byte* data() { return data_; }
  void finish();

 private:
  void* buffer_;
  int count_;
  MPI_Datatype type_;
  int n_;
  MPI_Comm comm_;
  std::vector<std::byte> copy_;
  std::byte* data_;
};

/// One contribution per rank, where the caller of an all-gather wants it: block i has counts[i]
/// elements and begins displacements[i] extents into the buffer.
class GatherBlocks {
 public:
  GatherBlocks(void* buffer, const std::vector<int>& counts, const std::vector<MPI_Aint>& displacements,
               MPI_Datatype type, MPI_Comm comm);
  [[nodiscard]] const std::vector<Span>& blocks() const { return placed_.blocks(); }
  /// Puts the contribution of `rank` into its block: from the send buffer of the call, or
  /// (MPI_IN_PLACE) from where it lies. Throws MPI_ERR_TRUNCATE if it is not of the right size.
  void contribute(std::size_t rank, const void* buffer, int count, MPI_Datatype type);
  void finish();

 private:
  PlacedBlocks placed_;
  MPI_Comm comm_;
  std::size_t there_;  ///< a block that needs no unpacking
};

}  // namespace hocket::runtime
