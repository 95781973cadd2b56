#pragma once
/// A self-describing encoding of one rank's messages for the ranks of one host (a "row").
///
/// A byte gives the width of a number: 0, 1, 2 or 4 bytes; at 0 the row is over and holds nothing. Then for each rank
/// the end of its message, counted from the first message; then the messages. A rank finds its own without reading
/// those before, and a row without messages takes a byte.
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/buffers/messages.hpp"

namespace hocket::runtime {

/// Bytes of a row of `data` bytes for so many ranks; less than 2³² bytes.
[[nodiscard]] std::size_t row_bytes(std::size_t ranks, std::size_t data);
/// The most that a row for so many ranks takes beside its messages.
[[nodiscard]] constexpr std::size_t most_row_overhead(std::size_t ranks) { return 1 + sizeof(std::uint32_t) * ranks; }

/// Puts down what comes before the messages, which are of `lengths` bytes. Returns where the first belongs.
std::byte* begin_row(std::byte* at, std::span<const std::size_t> lengths);

/// A row that has come in, in memory of `room` bytes from `at` on.
class Row {
 public:
  Row(std::byte* at, std::size_t room, std::size_t ranks);
  /// Total size in bytes; larger than the room if the received data is not a valid row for that many ranks.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// For the rank at this place. Only where bytes() are within the room.
  [[nodiscard]] Span message(std::size_t place) const;

 private:
  [[nodiscard]] std::size_t end_of(std::size_t place) const;

  std::byte* at_;
  std::size_t width_ = 0, head_ = 1, bytes_ = 1;
};

}  // namespace hocket::runtime
