#pragma once
/// Dividing elements into many regions, as fast as memory takes whole cache lines.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sort/core/elements/cuts.hpp"

namespace hocket {

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
  struct Free {
    void operator()(std::byte* memory) const;
  };

  template <class Width>
  void add_all(Width width, const std::byte* elements, std::span<const std::int64_t> positions);

  const Cuts& cuts_;
  std::size_t width_;
  std::size_t group_;  ///< elements of a region that are written together, a power of two; 1: not collected
  std::vector<RegionStream> streams_;
  std::vector<std::uint64_t> filled_;  ///< elements of each region so far
  std::unique_ptr<std::byte, Free> collected_;
  std::byte* collected_data_ = nullptr;
  std::uint32_t* collected_offsets_ = nullptr;
};

}  // namespace hocket
