#pragma once
/// Positions of a whole array, divided into buckets: parts of ranks, or regions that fit into a cache.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hocket {

class Cuts {
 public:
  /// Bucket b has the positions from begins[b] to begins[b + 1]; buckets may be empty.
  explicit Cuts(std::span<const std::uint64_t> begins);

  /// Parts cut at multiples of a power of two, so that no bucket has more than `most` positions (or half of that,
  /// rounded down to a power of two) and there are not many more than `buckets` of them, if those conditions agree:
  /// the number of buckets weighs more.
  [[nodiscard]] static Cuts regions(std::span<const std::uint64_t> begins, std::uint64_t most, std::uint64_t buckets);

  [[nodiscard]] std::size_t size() const { return begins_.size() - 1; }
  [[nodiscard]] std::uint64_t begin(std::size_t bucket) const { return begins_[bucket]; }
  [[nodiscard]] std::uint64_t count(std::size_t bucket) const { return begins_[bucket + 1] - begins_[bucket]; }
  [[nodiscard]] std::uint64_t total() const { return begins_.back(); }

  /// The bucket of a position below total(): one lookup in a table that stays in the cache.
  [[nodiscard]] std::size_t of(std::uint64_t position) const {
    std::size_t bucket = first_[position >> shift_];
    while (position >= begins_[bucket + 1]) ++bucket;  // rarely: another bucket begins between two entries
    return bucket;
  }

 private:
  Cuts(std::vector<std::uint64_t> begins, unsigned shift);

  std::vector<std::uint64_t> begins_;
  unsigned shift_;
  std::vector<std::uint32_t> first_;  ///< bucket of every multiple of 2^shift
};

/// counts[b] += positions in bucket b. Returns how many positions are good: the next one, if there is one, is
/// out of range, and it and those behind it are not counted.
std::size_t count_positions(const Cuts& cuts, std::span<const std::int64_t> positions, std::span<std::uint64_t> counts);

/// Appends every element at data[b] and its offset in bucket b at offsets[b], where b is the bucket of its position;
/// both move on. Buckets of more than 2^32 positions need the long offsets.
void divide(const Cuts& cuts, std::size_t width, const std::byte* elements, std::span<const std::int64_t> positions,
            std::span<std::byte*> data, std::span<std::uint32_t*> offsets);
void divide(const Cuts& cuts, std::size_t width, const std::byte* elements, std::span<const std::int64_t> positions,
            std::span<std::byte*> data, std::span<std::uint64_t*> offsets);
/// Only the offsets.
void divide(const Cuts& cuts, std::span<const std::int64_t> positions, std::span<std::uint64_t*> offsets);

/// The other way round: to[i] = the next element of the bucket of positions[i], from data[b], which moves on.
void collect(const Cuts& cuts, std::size_t width, std::span<const std::int64_t> positions,
             std::span<const std::byte*> data, std::byte* to);

/// to[i] = the element at positions[i], where data[b] has the elements of bucket b in order; those of buckets without
/// data are left out. Lines are fetched ahead.
void gather(const Cuts& cuts, std::size_t width, std::span<const std::byte* const> data,
            std::span<const std::int64_t> positions, std::byte* to);

}  // namespace hocket
