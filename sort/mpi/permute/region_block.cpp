#include "sort/mpi/permute/region_block.hpp"

#include <algorithm>

namespace hocket::sort {
namespace {

constexpr std::size_t region_slot = 0;  ///< slot for HostSharedContext::block()

/// Rounds up a number of elements or bytes so that streams stay aligned.
constexpr std::uint64_t aligned(std::uint64_t n) {
  constexpr std::uint64_t step = RegionWriter::stream_alignment;
  return (n + step - 1) / step * step;
}

}  // namespace

RegionBlock::RegionBlock(HostSharedContext& place, std::size_t width, std::span<const std::uint64_t> counts)
    : width_(width), regions_(counts.size()), own_(place.host_rank()) {
  std::vector<Row> rows;
  std::uint64_t end = 0;
  for (const std::uint64_t count : counts) {
    rows.push_back({end, count});
    end += aligned(count);
  }
  rows.push_back({end, 0});
  block_ = &place.block(region_slot, aligned(rows.size() * sizeof(Row)) + end * (width + sizeof(std::uint32_t)));
  std::ranges::copy(rows, reinterpret_cast<Row*>(block_->part(own_)));
}

RegionBlock::Part RegionBlock::part(int host_rank) const {
  std::byte* const begin = block_->part(host_rank);
  const Row* const rows = reinterpret_cast<const Row*>(begin);
  std::byte* const data = begin + aligned((regions_ + 1) * sizeof(Row));
  return {rows, data, reinterpret_cast<std::uint32_t*>(data + rows[regions_].begin * width_)};
}

std::vector<RegionStream> RegionBlock::streams() const {
  const Part own = part(own_);
  std::vector<RegionStream> streams;
  for (std::size_t region = 0; region < regions_; ++region) {
    const std::uint64_t begin = own.rows[region].begin;
    streams.push_back({own.data + begin * width_, own.offsets + begin});
  }
  return streams;
}

Piece RegionBlock::piece(int host_rank, std::size_t region) const {
  const Part from = part(host_rank);
  const Row& row = from.rows[region];
  return {from.data + row.begin * width_, {from.offsets + row.begin, row.count}};
}

}  // namespace hocket::sort
