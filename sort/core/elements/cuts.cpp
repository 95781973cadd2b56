#include "sort/core/elements/cuts.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "sort/core/elements/width.hpp"

namespace hocket {
namespace {

constexpr std::uint64_t most_entries = 4096;  // 16 KiB: half a first-level cache

/// The smallest shift that leaves no more than `most` multiples of its power of two.
unsigned shift_for(std::uint64_t total, std::uint64_t most) {
  unsigned shift = 0;
  while ((total >> shift) > most) ++shift;
  return shift;
}

template <class Offset>
void divide_by(const Cuts& cuts, std::size_t width_in_bytes, const std::byte* elements,
               std::span<const std::int64_t> positions, std::span<std::byte*> data, std::span<Offset*> offsets) {
  elements::with_width(width_in_bytes, [&](auto width) {
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const auto position = static_cast<std::uint64_t>(positions[i]);
      const std::size_t bucket = cuts.of(position);
      elements::copy_element(width, elements + i * width.value(), data[bucket]);
      data[bucket] += width.value();
      *offsets[bucket]++ = static_cast<Offset>(position - cuts.begin(bucket));
    }
  });
}

}  // namespace

Cuts::Cuts(std::vector<std::uint64_t> begins, unsigned shift) : begins_(std::move(begins)), shift_(shift) {
  if (begins_.size() < 2) begins_.assign(2, 0);
  std::size_t bucket = 0;
  for (std::uint64_t at = 0; at < total(); at += std::uint64_t{1} << shift_) {
    while (at >= begins_[bucket + 1]) ++bucket;
    first_.push_back(static_cast<std::uint32_t>(bucket));
  }
}

Cuts::Cuts(std::span<const std::uint64_t> begins)
    : Cuts({begins.begin(), begins.end()}, shift_for(begins.back(), most_entries)) {}

Cuts Cuts::regions(std::span<const std::uint64_t> begins, std::uint64_t most, std::uint64_t buckets) {
  const std::uint64_t total = begins.back();
  const auto wanted = static_cast<unsigned>(std::bit_width(std::max<std::uint64_t>(most, 1)) - 1);
  const unsigned shift = std::max(wanted, shift_for(total, buckets));
  std::vector<std::uint64_t> cuts(begins.begin(), begins.end());
  for (std::uint64_t at = 0; at < total; at += std::uint64_t{1} << shift) cuts.push_back(at);
  std::ranges::sort(cuts);
  const auto repeated = std::ranges::unique(cuts);
  cuts.erase(repeated.begin(), repeated.end());
  return {std::move(cuts), std::min(shift, 63U)};
}

std::size_t count_positions(const Cuts& cuts, std::span<const std::int64_t> positions,
                            std::span<std::uint64_t> counts) {
  const std::uint64_t total = cuts.total();
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const auto position = static_cast<std::uint64_t>(positions[i]);
    if (position >= total) return i;  // negative ones too
    ++counts[cuts.of(position)];
  }
  return positions.size();
}

void divide(const Cuts& cuts, std::size_t width, const std::byte* elements, std::span<const std::int64_t> positions,
            std::span<std::byte*> data, std::span<std::uint32_t*> offsets) {
  divide_by(cuts, width, elements, positions, data, offsets);
}

void divide(const Cuts& cuts, std::size_t width, const std::byte* elements, std::span<const std::int64_t> positions,
            std::span<std::byte*> data, std::span<std::uint64_t*> offsets) {
  divide_by(cuts, width, elements, positions, data, offsets);
}

void divide(const Cuts& cuts, std::span<const std::int64_t> positions, std::span<std::uint64_t*> offsets) {
  for (const std::int64_t signed_position : positions) {
    const auto position = static_cast<std::uint64_t>(signed_position);
    const std::size_t bucket = cuts.of(position);
    *offsets[bucket]++ = position - cuts.begin(bucket);
  }
}

void collect(const Cuts& cuts, std::size_t width_in_bytes, std::span<const std::int64_t> positions,
             std::span<const std::byte*> data, std::byte* to) {
  elements::with_width(width_in_bytes, [&](auto width) {
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const std::byte*& next = data[cuts.of(static_cast<std::uint64_t>(positions[i]))];
      elements::copy_element(width, next, to + i * width.value());
      next += width.value();
    }
  });
}

void gather(const Cuts& cuts, std::size_t width_in_bytes, std::span<const std::byte* const> data,
            std::span<const std::int64_t> positions, std::byte* to) {
  constexpr std::size_t ahead = 32;  // elements: memory's latency over the time that one takes
  elements::with_width(width_in_bytes, [&](auto width) {
    const auto place = [&](std::size_t i) -> const std::byte* {
      const auto position = static_cast<std::uint64_t>(positions[i]);
      const std::size_t bucket = cuts.of(position);
      if (data[bucket] == nullptr) return nullptr;
      return data[bucket] + (position - cuts.begin(bucket)) * width.value();
    };
    for (std::size_t i = 0; i < positions.size(); ++i) {
      __builtin_prefetch(place(std::min(i + ahead, positions.size() - 1)));
      if (const std::byte* const from = place(i)) elements::copy_element(width, from, to + i * width.value());
    }
  });
}

constexpr std::size_t line = elements::LineBuffers::line;

/// The number of elements that fill whole cache lines, both of elements and of offsets; 1 for widths that gain nothing.
static std::size_t group_of(std::size_t width) {
  if (width > line || (width & (width - 1)) != 0) return 1;
  return std::max(line / sizeof(std::uint32_t), line / width);
}

RegionWriter::RegionWriter(const Cuts& cuts, std::size_t width, std::vector<RegionStream> streams)
    : cuts_(cuts), width_(width), group_(group_of(width)), streams_(std::move(streams)), filled_(streams_.size(), 0) {
  if (group_ == 1) return;
  const std::size_t data_bytes = streams_.size() * group_ * width_;
  const std::size_t bytes = data_bytes + streams_.size() * group_ * sizeof(std::uint32_t);
  collected_ = elements::LineBuffers(bytes);
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
      elements::stream(stream.data + (n - last) * width.value(), data, group * width.value());
      elements::stream(reinterpret_cast<std::byte*>(stream.offsets + n - last),
                       reinterpret_cast<const std::byte*>(offsets), group * sizeof *offsets);
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
  elements::end_of_streams();
}

}  // namespace hocket
