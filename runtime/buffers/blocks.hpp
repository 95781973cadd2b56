#pragma once
/// The blocks of a collective call as plain bytes, whatever the datatype: elements that lie back to back are used
/// where they lie, others are packed and unpacked.
#include <mpi.h>

#include <cstddef>
#include <vector>

#include "runtime/buffers/messages.hpp"
#include "runtime/buffers/placed_blocks.hpp"
#include "runtime/mpi/packing.hpp"

namespace hocket::runtime {

/// Send side: the bytes of `count` elements, at data().
class SendBlocks {
 public:
  SendBlocks(const void* buffer, MPI_Count count, MPI_Datatype type, MPI_Comm comm);
  [[nodiscard]] const std::byte* data() const { return data_; }

 private:
  std::vector<std::byte> copy_;
  const std::byte* data_;
};

/// Receive side; finish() puts what arrived where the datatype wants it.
class ReceiveBlocks {
 public:
  ReceiveBlocks(void* buffer, MPI_Count count, MPI_Datatype type, MPI_Comm comm);
  [[nodiscard]] std::byte* data() { return data_; }
  void finish();

 private:
  void* buffer_;
  MPI_Count count_;
  MPI_Datatype type_;
  MPI_Comm comm_;
  std::vector<std::byte> copy_;
  std::byte* data_;
};

/// One contribution per rank, where the caller of an all-gather wants it.
class GatherBlocks {
 public:
  GatherBlocks(std::vector<Block> contributions, MPI_Comm comm);
  [[nodiscard]] const std::vector<Span>& blocks() const { return placed_.blocks(); }
  /// Puts the contribution of `rank` into its block: from the send buffer of the call, or
  /// (MPI_IN_PLACE) from where it lies. Returns its bytes; the block takes no more of them than it has room for.
  std::size_t contribute(std::size_t rank, const void* buffer, MPI_Count count, MPI_Datatype type);
  void finish();

 private:
  PlacedBlocks placed_;
  MPI_Comm comm_;
  std::size_t there_;  ///< a block that needs no unpacking
};

}  // namespace hocket::runtime
