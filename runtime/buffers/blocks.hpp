#pragma once
/// The messages of one side of a call as plain bytes, whatever their datatypes.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/schedule/ranges.hpp"
#include "runtime/mpi/datatypes.hpp"

namespace hocket::runtime {

// Messages as memory: where the bytes of a message are taken from or put to.

struct Span {
  std::byte* at = nullptr;
  std::size_t length = 0;
};

/// A list of messages; each is the concatenation of its spans.
class Messages {
 public:
  /// Adds a span to the message being described. Adjacent spans are merged.
  void add(std::byte* at, std::size_t length);
  void end_message();

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] std::size_t bytes(std::size_t message) const { return bytes_[message]; }
  [[nodiscard]] std::span<const Span> spans(std::size_t message) const {
    return {spans_.data() + begin_[message], spans_.data() + begin_[message + 1]};
  }

 private:
  std::vector<std::size_t> begin_{0};
  std::vector<Span> spans_;
  std::vector<std::size_t> bytes_;
};

/// A place in a message.
class Cursor {
 public:
  Cursor() = default;
  explicit Cursor(std::span<const Span> spans) : left_(spans) {}
  /// Moves over the next `bytes` bytes and puts down where they are.
  void take(std::size_t bytes, std::vector<Span>& spans);

 private:
  std::span<const Span> left_;
  std::size_t within_ = 0;  ///< offset in the first span left
};

/// A span as a range of addresses.
inline void hold(Ranges& held, const Span& span) {
  const auto begin = reinterpret_cast<std::uintptr_t>(span.at);
  held.add(begin, begin + span.length);
}
[[nodiscard]] inline bool holds(const Ranges& held, const Span& span) {
  const auto begin = reinterpret_cast<std::uintptr_t>(span.at);
  return held.covers(begin, begin + span.length);
}

/// For each address: how many messages that bring something for it are still to come.
class Arrivals {
 public:
  void expect(const Span& span) { add(span, 1); }
  void arrived(const Span& span) { add(span, -1); }
  /// True if no byte of the span waits for more than `missing` messages.
  [[nodiscard]] bool lack_at_most(const Span& span, int missing) const;

 private:
  using Steps = std::map<std::uintptr_t, int>;

  void add(const Span& span, int change);
  Steps::iterator cut(std::uintptr_t at);
  void join(Steps::iterator step);

  Steps missing_from_{{0, 0}};  ///< count for each address up to the next key
};

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
[[nodiscard]] inline Block block_of(const void* at, MPI_Count count, MPI_Datatype type) {
  return {static_cast<std::byte*>(const_cast<void*>(at)), count, type};
}

/// Blocks that lie anywhere. Those whose bytes lie back to back are used where they are, others are packed and
/// unpacked; what follows an equal one has the same bytes.
class PlacedBlocks {
 public:
  enum class Copy : bool { where_needed, always };
  PlacedBlocks(std::vector<Block> blocks, MPI_Comm comm, Copy copy = Copy::where_needed);
  /// The memory of each block.
  [[nodiscard]] const std::vector<Span>& blocks() const { return bytes_; }
  /// The memory of the first block.
  [[nodiscard]] std::byte* data() const { return bytes_.front().at; }
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

/// The bytes of `count` elements, which are only read.
[[nodiscard]] inline PlacedBlocks packed(const void* at, MPI_Count count, MPI_Datatype type, MPI_Comm comm) {
  PlacedBlocks bytes({block_of(at, count, type)}, comm);
  bytes.pack(0);
  return bytes;
}

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
