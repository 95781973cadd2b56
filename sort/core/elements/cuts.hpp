#pragma once
/// Positions of a whole array, divided into buckets: parts of ranks, or regions that fit into a cache.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sort/core/elements/width.hpp"

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

/// The destination of a region's elements and of their offsets in it.
struct RegionStream {
  std::byte* data = nullptr;  ///< nullptr: elements of this region are left out
  std::uint32_t* offsets = nullptr;
};

/// Like divide(), but collects elements into whole cache lines and writes these past the caches. Streams begin at
/// multiples of `stream_alignment` bytes.
class RegionWriter {
 public:
  static constexpr std::size_t stream_alignment = 64;

  /// One stream per bucket of `cuts`, which must live as long.
  RegionWriter(const Cuts& cuts, std::size_t width, std::vector<RegionStream> streams);

  void add(const std::byte* elements, std::span<const std::int64_t> positions);
  /// Writes the elements that are still buffered. Nothing may be added afterwards.
  void finish();

 private:
  template <class Width>
  void add_all(Width width, const std::byte* elements, std::span<const std::int64_t> positions);

  const Cuts& cuts_;
  std::size_t width_;
  std::size_t group_;  ///< elements of a region that are written together, a power of two; 1: not collected
  std::vector<RegionStream> streams_;
  std::vector<std::uint64_t> filled_;  ///< elements of each region so far
  elements::LineBuffers collected_;
  std::byte* collected_data_ = nullptr;
  std::uint32_t* collected_offsets_ = nullptr;
};

}  // namespace hocket
