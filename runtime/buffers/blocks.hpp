#pragma once
/// The messages of one side of a call as plain bytes, whatever their datatypes.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/buffers/messages.hpp"
#include "runtime/mpi/datatypes.hpp"

namespace hocket::runtime {

/// MPI_BOTTOM may be a null pointer.
[[nodiscard]] inline std::byte* moved(void* at, MPI_Aint bytes) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(at) + static_cast<std::uintptr_t>(bytes));
}

/// `count` elements of `type`, the first of them at `at`. Without elements, address and type mean nothing.
struct Block {
  std::byte* at = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  bool operator==(const Block&) const = default;
};

/// Blocks that lie anywhere. Those whose bytes lie back to back are used where they are, others are packed and
/// unpacked; what follows an equal one has the same bytes.
class PlacedBlocks {
 public:
  enum class Copy : bool { where_needed, always };
  PlacedBlocks(std::vector<Block> blocks, MPI_Comm comm, Copy copy = Copy::where_needed);
  /// The memory of each block.
  [[nodiscard]] const std::vector<Span>& blocks() const { return bytes_; }
  void pack(std::size_t block);    ///< packs the elements into contiguous bytes, where needed
  void unpack(std::size_t block);  ///< unpacks contiguous bytes into the elements, where needed

 private:
  struct Place {
    Block block;
    std::byte* run = nullptr;  ///< the bytes if they are contiguous in the program's memory; null: they are not
    bool copied = false;
  };
  std::vector<Place> places_;
  MPI_Comm comm_;
  std::vector<std::byte> copy_;
  std::vector<Span> bytes_;
};

/// The blocks of a collective call as plain bytes, whatever the datatype: elements that lie back to back are used
/// where they lie, others are packed and unpacked.
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
