#pragma once
/// All calls in which a rank's messages may differ in size, as one kind: who they go to and come from, where
/// they lie, and of what type they are.
#include <mpi.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/network/routing.hpp"
#include "runtime/buffers/blocks.hpp"
#include "runtime/mpi/datatypes.hpp"
#include "runtime/mpi/neighbours.hpp"

namespace hocket::runtime {

class Team;

/// A rank's row and column of the traffic matrix: bytes sent to and received from each peer.
struct Volume {
  Rank peer = 0;
  std::uint64_t bytes = 0;
  bool operator==(const Volume&) const = default;
};

/// Lists sorted by peer, without empty messages and without messages to the rank itself.
struct PeerBytes {
  std::vector<Volume> sends, receives;
  bool operator==(const PeerBytes&) const = default;
};

/// Adds up what goes to the same peer; message i, of bytes[i] bytes, to peers[i]. Negative peers get
/// nothing. `kept`: what `own` sends to itself.
[[nodiscard]] std::vector<Volume> sum_by_peer(std::span<const int> peers, std::span<const std::uint64_t> bytes,
                                              Rank own, std::uint64_t& kept);

[[nodiscard]] std::uint64_t digest(const PeerBytes& peer_bytes);

/// Counts or displacements, one per message: a view of the program's array (of int or, for large counts, of 64-bit
/// integers), or an arithmetic sequence without an array.
class Numbers {
 public:
  template <std::integral T>
  explicit Numbers(const T* array) : array_(array), wide_(sizeof(T) == sizeof(std::int64_t)) {}
  /// 0, step, 2·step, ...
  static Numbers multiples_of(std::int64_t step) { return {0, step}; }
  static Numbers all(std::int64_t value) { return {value, 0}; }

  /// False of an array that the program should have given.
  [[nodiscard]] bool given() const { return array_ != nullptr || without_; }
  [[nodiscard]] std::int64_t operator[](std::size_t i) const {
    if (without_) return first_ + step_ * static_cast<std::int64_t>(i);
    return wide_ ? element<std::int64_t>(i) : element<int>(i);
  }
  [[nodiscard]] bool all_positive(std::size_t n) const {
    for (std::size_t i = 0; i < n; ++i)
      if ((*this)[i] <= 0) return false;
    return true;
  }
  /// Equal if both view the same array or are the same sequence.
  bool operator==(const Numbers&) const = default;

 private:
  Numbers(std::int64_t first, std::int64_t step) : without_(true), first_(first), step_(step) {}
  /// MPI_Count and MPI_Aint may be other types of the same size.
  template <class T>
  [[nodiscard]] T element(std::size_t i) const {
    T value;
    std::memcpy(&value, static_cast<const std::byte*>(array_) + i * sizeof value, sizeof value);
    return value;
  }

  const void* array_ = nullptr;
  bool wide_ = false, without_ = false;
  std::int64_t first_ = 0, step_ = 0;
};

/// One datatype for all messages, or an array with one for each.
class Types {
 public:
  explicit Types(MPI_Datatype one) : one_(one) {}
  explicit Types(const MPI_Datatype* each) : each_(each), differ_(true) {}

  [[nodiscard]] bool given() const { return differ_ ? each_ != nullptr : one_ != MPI_DATATYPE_NULL; }
  [[nodiscard]] bool differ() const { return differ_; }
  [[nodiscard]] MPI_Datatype operator[](std::size_t i) const { return differ_ ? each_[i] : one_; }
  bool operator==(const Types&) const = default;

 private:
  MPI_Datatype one_ = MPI_DATATYPE_NULL;
  const MPI_Datatype* each_ = nullptr;
  bool differ_ = false;
};

/// Message i has counts[i] elements of types[i], and goes to (or comes from) rank peers[i] of the communicator. It
/// begins displacements[i] extents into the buffer; bytes where each message has a type. MPI_PROC_NULL: there is
/// none. What a rank has several messages for goes there in this order.
struct VectorSide {
  void* buffer;
  Numbers counts, displacements;
  Types types;
  std::span<const int> peers = {};
  bool shared = false;  ///< all peers get one message

  /// The bytes of each message. Nothing if the arguments are erroneous, as far as this rank can tell, or such
  /// that only the MPI library can serve them.
  [[nodiscard]] std::optional<std::vector<std::uint64_t>> message_bytes() const;
  /// One of displacements[i], in bytes.
  [[nodiscard]] MPI_Aint unit() const;
  [[nodiscard]] Block block(std::size_t message, MPI_Aint unit) const;
  [[nodiscard]] PlacedBlocks blocks(MPI_Comm comm, PlacedBlocks::Copy copy = PlacedBlocks::Copy::where_needed) const;
};

/// A message for each peer, from all over the buffer; `types`: one, or an array. MPI only reads from a side that sends.
template <class Count, class Place, class Type>
VectorSide several(const void* buffer, const Count* counts, const Place* displacements, Type types) {
  return {const_cast<void*>(buffer), Numbers(counts), Numbers(displacements), Types(types)};
}

/// Messages of one size that follow each other.
inline VectorSide equal(const void* buffer, MPI_Count count, MPI_Datatype type) {
  return {const_cast<void*>(buffer), Numbers::all(count), Numbers::multiples_of(count), Types(type)};
}

/// One message for all peers.
inline VectorSide same(const void* buffer, MPI_Count count, MPI_Datatype type) {
  return {const_cast<void*>(buffer), Numbers::all(count), Numbers::all(0), Types(type), {}, true};
}

/// Copies of arguments that the program may free or change while a call is under way. Every kind of call says by hold()
/// which of its own these are.
class HeldArguments {
 public:
  HeldArguments() = default;
  HeldArguments(const HeldArguments&) = delete;
  HeldArguments& operator=(const HeldArguments&) = delete;

  [[nodiscard]] MPI_Datatype type(MPI_Datatype of) { return types_.try_emplace(of, of).first->second.get(); }
  [[nodiscard]] Numbers numbers(const Numbers& of, std::size_t n);
  [[nodiscard]] VectorSide side(VectorSide of);

 private:
  std::map<MPI_Datatype, HeldType> types_;  ///< keyed by the program's handle
  std::list<std::vector<std::int64_t>> numbers_;
  std::list<std::vector<MPI_Datatype>> lists_of_types_;
  std::list<std::vector<int>> peers_;
};

struct VectorCall {
  VectorSide send, receive;
  MPI_Comm comm = MPI_COMM_NULL;
  bool in_place = false;  ///< send and receive buffers coincide

  /// The neighbours must outlive it. MPI_IN_PLACE, where it is allowed, sends what the receive side describes.
  VectorCall(const VectorSide& sends, const VectorSide& receives, const Neighbours& neighbours, MPI_Comm communicator);

  /// Nothing if the MPI library is to serve the call.
  [[nodiscard]] std::optional<PeerBytes> peer_bytes() const;
  void hold(HeldArguments& held, const Team&) {
    send = held.side(send);
    receive = held.side(receive);
  }
};

}  // namespace hocket::runtime
