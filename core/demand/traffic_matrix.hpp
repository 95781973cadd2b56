#pragma once
/// A sparse traffic matrix: for each sender its receivers and how many bytes each gets.
#include <cstdint>
#include <span>
#include <vector>

#include "core/network/routing.hpp"

namespace hocket {

struct Message {
  Rank src = 0, dst = 0;
  std::uint64_t bytes = 0;
  bool operator==(const Message&) const = default;
};

/// Rows by sender, compressed: row i is [begin[i], begin[i + 1]) of `target` and `bytes`. Targets ascend
/// within a row; no message is empty and nobody sends to itself. This is the compressed matrix CCOM of
/// Wang, Lin and Ranka (section 3.3): nobody needs the n × n matrix.
class TrafficMatrix {
 public:
  TrafficMatrix() = default;
  /// From messages in any order; empty ones and those of a rank to itself are dropped. Throws InputError
  /// for ranks that do not exist, a message given twice, and more than 2⁶³ − 1 bytes in all.
  TrafficMatrix(std::uint32_t ranks, std::vector<Message> messages);

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(begin_.size() - 1); }
  [[nodiscard]] std::uint64_t messages() const { return target_.size(); }
  [[nodiscard]] std::uint64_t total_bytes() const { return total_; }
  [[nodiscard]] std::uint64_t largest() const { return largest_; }
  /// The ranks to which `src` sends, and how much; two spans of the same length.
  [[nodiscard]] std::span<const Rank> targets(Rank src) const {
    return {target_.data() + begin_[src], target_.data() + begin_[src + 1]};
  }
  [[nodiscard]] std::span<const std::uint64_t> bytes(Rank src) const {
    return {bytes_.data() + begin_[src], bytes_.data() + begin_[src + 1]};
  }
  /// Number of the first message of `src`, counted through all rows.
  [[nodiscard]] std::uint64_t first(Rank src) const { return begin_[src]; }
  /// Bytes of the message src -> dst, 0 if there is none. Logarithmic in the row.
  [[nodiscard]] std::uint64_t size(Rank src, Rank dst) const;
  /// Calls visit(src, dst, bytes) for every message, row by row.
  template <class Visit>
  void each(Visit visit) const {
    for (Rank src = 0; src < ranks(); ++src)
      for (std::uint64_t i = begin_[src]; i < begin_[src + 1]; ++i) visit(src, target_[i], bytes_[i]);
  }
  /// The messages, row by row.
  [[nodiscard]] std::vector<Message> list() const;

  bool operator==(const TrafficMatrix&) const = default;

 private:
  std::vector<std::uint64_t> begin_{0};
  std::vector<Rank> target_;
  std::vector<std::uint64_t> bytes_;
  std::uint64_t total_ = 0, largest_ = 0;
};

}  // namespace hocket
