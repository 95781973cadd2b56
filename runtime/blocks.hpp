#pragma once
/// The blocks of a collective call as plain bytes, whatever the datatype: dense types are used where
/// they lie, others are packed and unpacked.
#include <mpi.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "messages.hpp"

namespace hocket::runtime {

/// Bytes that `count` elements hold; the same on both sides of every message.
[[nodiscard]] std::size_t bytes_of(MPI_Aint count, MPI_Datatype type);

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

/// Blocks of one buffer that lie anywhere in it: block i has counts[i] elements and begins
/// displacements[i] extents into the buffer.
class PlacedBlocks {
 public:
  enum class Copy : bool { where_needed, always };
  PlacedBlocks(void* buffer, std::vector<int> counts, std::vector<MPI_Aint> displacements, MPI_Datatype type,
               MPI_Comm comm, Copy copy = Copy::where_needed);
  /// Where the bytes of each block are; in the buffer itself unless they must be copied.
  [[nodiscard]] const std::vector<Span>& blocks() const { return blocks_; }
  void pack(std::size_t block);    ///< from the buffer
  void unpack(std::size_t block);  ///< to the buffer

 private:
  [[nodiscard]] std::byte* place(std::size_t block) const;

  std::byte* buffer_;
  std::vector<int> counts_;
  std::vector<MPI_Aint> displacements_;
  MPI_Datatype type_;
  MPI_Comm comm_;
  MPI_Aint extent_;
  bool dense_, copied_;
  std::vector<std::byte> copy_;
  std::vector<Span> blocks_;
};

/// One contribution per rank, where the caller of an all-gather wants it: block i has counts[i]
/// elements and begins displacements[i] extents into the buffer.
class GatherBlocks {
 public:
  GatherBlocks(void* buffer, std::vector<int> counts, std::vector<MPI_Aint> displacements, MPI_Datatype type,
               MPI_Comm comm)
      : placed_(buffer, std::move(counts), std::move(displacements), type, comm),
        comm_(comm),
        there_(placed_.blocks().size()) {}
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
