#pragma once
/// A sort as all ranks have agreed on it.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hocket_sort.h"
#include "sort/core/elements/record.hpp"
#include "sort/mpi/place/layout.hpp"
#include "sort/mpi/place/private_memory.hpp"

namespace hocket::sort {

/// The sort of one rank's own elements.
class LocalSort {
 public:
  /// Uses the program's sort function if it has given one and there is no payload.
  LocalSort(RecordType type, const hocket_sort_options& options) : type_(type), options_(options) {}

  [[nodiscard]] bool by_library() const { return options_.sort_keys != nullptr && type_.width == key_bytes(type_.key); }
  /// `scratch` has room for as many.
  void operator()(std::byte* records, std::size_t n, std::byte* scratch) const;

 private:
  RecordType type_;
  hocket_sort_options options_;
};

struct SortTask {
  RecordType type;  ///< the records that move through the sort
  LocalSort sort_locally;
  Layout source;
  std::optional<Layout> target;  ///< empty: as it falls
  const std::byte* records;      ///< this rank's records
  PrivateMemory packed;          ///< owner of `records` unless these are the program's own; the sort may consume it

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
[[nodiscard]] SortedRecords sort_alone(SortTask task);

}  // namespace hocket::sort
