#pragma once
/// The messages that still wait, in compressed rows that shrink.
#include <cstdint>
#include <span>
#include <vector>

#include "core/algorithms/shared/random.hpp"
#include "core/demand/traffic_matrix.hpp"

namespace hocket::algorithms {

/// The matrix CCOM of Wang, Lin and Ranka (section 3.3): row i holds the receivers that rank i has still to
/// serve, in random order, because the analysis of their algorithm takes destinations as random.
class CompressedRows {
 public:
  struct Entry {
    Rank dst;
    std::uint32_t message;      ///< counted through all rows of the matrix
    std::uint32_t blocker = 0;  ///< the channel that refused it last, where links are looked at
  };

  CompressedRows(const TrafficMatrix& matrix, Random& random) {
    entries_.reserve(matrix.messages());
    matrix.each([&](Rank, Rank dst, std::uint64_t) {
      entries_.push_back({.dst = dst, .message = static_cast<std::uint32_t>(entries_.size())});
    });
    for (Rank src = 0; src < matrix.ranks(); ++src) {
      begin_.push_back(matrix.first(src));
      left_.push_back(static_cast<std::uint32_t>(matrix.targets(src).size()));
      random.shuffle(row(src));
    }
  }

  [[nodiscard]] std::span<Entry> row(Rank src) { return {entries_.data() + begin_[src], left_[src]}; }
  /// Takes an entry out of its row; the last one moves to its place.
  void remove(Rank src, std::uint32_t place) {
    const auto entries = row(src);
    entries[place] = entries.back();
    --left_[src];
  }

 private:
  std::vector<std::uint64_t> begin_;
  std::vector<std::uint32_t> left_;  ///< per row: how many (the vector prt)
  std::vector<Entry> entries_;
};

}  // namespace hocket::algorithms
