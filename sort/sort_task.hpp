#pragma once
/// A sort as all ranks have agreed on it.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hocket/elements/record.hpp"
#include "layout.hpp"
#include "private_memory.hpp"

namespace hocket::runtime {

struct SortTask {
  RecordType type;  ///< of what moves
  Layout source;
  std::optional<Layout> target;  ///< empty: as it falls
  const std::byte* records;      ///< of this rank
  PrivateMemory packed;          ///< where they are, if they are not the program's own; the sort may use it up

  [[nodiscard]] std::uint64_t count(int rank) const { return source.count(rank); }
};

struct SortedRecords {
  PrivateMemory records;
  Layout layout;
  double imbalance;  ///< most elements on a rank over the mean, before a last exchange
};

/// Most elements on a rank over the mean; 1 where there are none.
[[nodiscard]] double imbalance_of(const Layout& layout);

/// The sort of a rank that is alone.
[[nodiscard]] PrivateMemory sort_alone(SortTask task);

}  // namespace hocket::runtime
