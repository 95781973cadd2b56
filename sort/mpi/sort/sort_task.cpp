#include "sort/mpi/sort/sort_task.hpp"

#include <algorithm>

#include "sort/core/elements/local_sort.hpp"
#include "sort/core/elements/move.hpp"

namespace hocket::sort {

double imbalance_of(const Layout& layout) {
  if (layout.total() == 0) return 1;
  std::uint64_t most = 0;
  for (int rank = 0; rank < layout.ranks(); ++rank) most = std::max(most, layout.count(rank));
  return static_cast<double>(most) * layout.ranks() / static_cast<double>(layout.total());
}

void LocalSort::operator()(std::byte* records, std::size_t n, std::byte* scratch) const {
  constexpr std::size_t few = 1024;  // not worth a call of another language
  if (by_library() && n > few && options_.sort_keys(records, static_cast<std::int64_t>(n), options_.context) == 1)
    return;
  sort_records(type_, records, n, scratch);
}

SortedRecords sort_alone(SortTask task) {
  const std::size_t count = task.source.total(), bytes = count * task.type.width;
  const PrivateMemory scratch(bytes);
  PrivateMemory sorted = std::move(task.packed);
  if (sorted.bytes() == 0) {
    sorted = PrivateMemory(bytes);
    copy(task.records, sorted.data(), bytes);
  }
  task.sort_locally(sorted.data(), count, scratch.data());
  return {std::move(sorted), std::move(task.source), 1};
}

}  // namespace hocket::sort
