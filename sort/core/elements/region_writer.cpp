#include "sort/core/elements/region_writer.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "width.hpp"

namespace hocket {
namespace {

constexpr std::size_t line = 64;

/// Whole cache lines, aligned on both sides.
void write_lines(const std::byte* from, std::byte* to, std::size_t bytes) {
#ifdef __SSE2__
  for (std::size_t i = 0; i < bytes; i += sizeof(__m128i))
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_load_si128(reinterpret_cast<const __m128i*>(from + i)));
#else
  std::memcpy(to, from, bytes);
#endif
}

/// The number of elements that fill whole cache lines, both of elements and of offsets; 1 for widths that gain nothing.
std::size_t group_of(std::size_t width) {
  if (width > line || (width & (width - 1)) != 0) return 1;
  return std::max(line / sizeof(std::uint32_t), line / width);
}

}  // namespace

void RegionWriter::Free::operator()(std::byte* memory) const { operator delete(memory, std::align_val_t{line}); }

RegionWriter::RegionWriter(const Cuts& cuts, std::size_t width, std::vector<RegionStream> streams)
    : cuts_(cuts), width_(width), group_(group_of(width)), streams_(std::move(streams)), filled_(streams_.size(), 0) {
  if (group_ == 1) return;
  const std::size_t data_bytes = streams_.size() * group_ * width_;
  const std::size_t bytes = data_bytes + streams_.size() * group_ * sizeof(std::uint32_t);
  collected_.reset(static_cast<std::byte*>(operator new(bytes, std::align_val_t{line})));
  collected_data_ = collected_.get();
  collected_offsets_ = reinterpret_cast<std::uint32_t*>(collected_.get() + data_bytes);
}

template <class Width>
void RegionWriter::add_all(Width width, const std::byte* elements, std::span<const std::int64_t> positions) {
  const std::size_t group = group_, last = group - 1;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const auto position = static_cast<std::uint64_t>(positions[i]);
    const std::size_t region = cuts_.of(position);
    const RegionStream& stream = streams_[region];
    if (stream.data == nullptr) continue;
    const std::uint64_t n = filled_[region]++;
    const std::byte* const element = elements + i * width.value();
    const auto offset = static_cast<std::uint32_t>(position - cuts_.begin(region));
    if (group == 1) {
      elements::copy_element(width, element, stream.data + n * width.value());
      stream.offsets[n] = offset;
      continue;
    }
    const std::size_t within = n & last;
    std::byte* const data = collected_data_ + region * group * width.value();
    std::uint32_t* const offsets = collected_offsets_ + region * group;
    elements::copy_element(width, element, data + within * width.value());
    offsets[within] = offset;
    if (within == last) {
      write_lines(data, stream.data + (n - last) * width.value(), group * width.value());
      write_lines(reinterpret_cast<const std::byte*>(offsets), reinterpret_cast<std::byte*>(stream.offsets + n - last),
                  group * sizeof *offsets);
    }
  }
}

void RegionWriter::add(const std::byte* elements, std::span<const std::int64_t> positions) {
  elements::with_width(width_, [&](auto width) { add_all(width, elements, positions); });
}

void RegionWriter::finish() {
  if (group_ == 1) return;
  for (std::size_t region = 0; region < streams_.size(); ++region) {
    const std::size_t left = filled_[region] & (group_ - 1);
    if (left == 0) continue;
    const std::uint64_t begin = filled_[region] - left;
    std::memcpy(streams_[region].data + begin * width_, collected_data_ + region * group_ * width_, left * width_);
    std::memcpy(streams_[region].offsets + begin, collected_offsets_ + region * group_, left * sizeof(std::uint32_t));
  }
#ifdef __SSE2__
  _mm_sfence();  // lines written past the caches are seen before what is written from now on
#endif
}

}  // namespace hocket
