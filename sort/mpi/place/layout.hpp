#pragma once
/// The distribution of an array's elements over ranks, and memory for many elements.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <utility>
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

/// Memory of this process, in huge pages where the system has them: elements that go to thousands of places need an
/// address translation each. Not initialised.
class PrivateMemory {
 public:
  PrivateMemory() = default;
  /// Throws std::bad_alloc.
  explicit PrivateMemory(std::size_t bytes);
  PrivateMemory(PrivateMemory&& other) noexcept { *this = std::move(other); }
  PrivateMemory& operator=(PrivateMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(dropped_, other.dropped_);
    return *this;
  }
  ~PrivateMemory();

  /// Forgets the first bytes; they are given back with the rest.
  void drop_front(std::size_t bytes) {
    if (bytes == 0) return;
    data_ += bytes;
    bytes_ -= bytes;
    dropped_ += bytes;
  }

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;  ///< null: no bytes
  std::size_t bytes_ = 0, dropped_ = 0;
};

}  // namespace hocket::sort
