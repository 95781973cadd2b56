#pragma once
/// The distribution of an array's elements over ranks.
#include <mpi.h>

#include <cstdint>
#include <vector>

namespace hocket::sort {

/// Rank r holds positions begin(r) to begin(r + 1) of the whole.
class Layout {
 public:
  Layout() = default;
  explicit Layout(const std::vector<std::uint64_t>& counts);
  /// Collective: as many as each rank says.
  [[nodiscard]] static Layout gather(MPI_Comm comm, std::uint64_t own);
  /// In parts of equal size; where that does not come out even, the first ranks have one more.
  [[nodiscard]] static Layout balanced(std::uint64_t total, int ranks);

  [[nodiscard]] int ranks() const { return static_cast<int>(begin_.size()) - 1; }
  [[nodiscard]] std::uint64_t total() const { return begin_.back(); }
  [[nodiscard]] std::uint64_t begin(int rank) const { return begin_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::uint64_t count(int rank) const { return begin(rank + 1) - begin(rank); }
  /// The owner of a position below total().
  [[nodiscard]] int rank_of(std::uint64_t position) const;
  [[nodiscard]] const std::vector<std::uint64_t>& begins() const { return begin_; }
  bool operator==(const Layout&) const = default;

 private:
  std::vector<std::uint64_t> begin_{0};
};

}  // namespace hocket::sort
