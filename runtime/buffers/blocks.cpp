#include "runtime/buffers/blocks.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace hocket::runtime {

PlacedBlocks::PlacedBlocks(std::vector<Block> blocks, MPI_Comm comm, Copy copy) : comm_(comm) {
  Layout layout;
  MPI_Datatype known = MPI_DATATYPE_NULL;
  std::size_t room = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Block& block = blocks[i];
    Place place{block};
    std::size_t length = 0;
    if (block.count > 0) {
      if (block.type != known) layout = layout_of(known = block.type);
      length = layout.size * static_cast<std::size_t>(block.count);
      if (layout.runs(block.count)) place.run = moved(block.at, layout.true_lower);
      const bool again = i > 0 && block == blocks[i - 1];
      place.copied = length > 0 && !again && (place.run == nullptr || copy == Copy::always);
      if (place.copied) room += length;
    }
    places_.push_back(place);
    bytes_.push_back({place.run, length});
  }
  copy_.resize(room);
  std::byte* next = copy_.data();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].copied) {
      bytes_[i].at = next;
      next += bytes_[i].length;
    } else if (i > 0 && bytes_[i].length > 0 && places_[i].block == places_[i - 1].block) {
      bytes_[i].at = bytes_[i - 1].at;
    }
  }
}

void PlacedBlocks::pack(std::size_t block) {
  const auto& [of, run, copied] = places_[block];
  if (!copied) return;
  if (run != nullptr)
    std::memcpy(bytes_[block].at, run, bytes_[block].length);
  else
    runtime::pack(of.at, of.count, of.type, bytes_[block].at, comm_);
}

void PlacedBlocks::unpack(std::size_t block) {
  const auto& [of, run, copied] = places_[block];
  if (!copied) return;
  if (run != nullptr)
    std::memcpy(run, bytes_[block].at, bytes_[block].length);
  else
    runtime::unpack(bytes_[block].at, of.at, of.count, of.type, comm_);
}

SendBlocks::SendBlocks(const void* buffer, MPI_Count count, MPI_Datatype type, MPI_Comm comm) {
  const Layout layout = layout_of(type);
  if (layout.runs(count)) {
    data_ = moved(const_cast<void*>(buffer), layout.true_lower);  // only read
    return;
  }
  copy_.resize(layout.size * static_cast<std::size_t>(count));
  pack(buffer, count, type, copy_.data(), comm);
  data_ = copy_.data();
}

ReceiveBlocks::ReceiveBlocks(void* buffer, MPI_Count count, MPI_Datatype type, MPI_Comm comm)
    : buffer_(buffer), count_(count), type_(type), comm_(comm) {
  const Layout layout = layout_of(type);
  if (layout.runs(count)) {
    data_ = moved(buffer, layout.true_lower);
    return;
  }
  copy_.resize(layout.size * static_cast<std::size_t>(count));
  data_ = copy_.data();
}

void ReceiveBlocks::finish() {
  if (!copy_.empty()) unpack(copy_.data(), buffer_, count_, type_, comm_);
}

GatherBlocks::GatherBlocks(std::vector<Block> contributions, MPI_Comm comm)
    : placed_(std::move(contributions), comm), comm_(comm), there_(placed_.blocks().size()) {}

std::size_t GatherBlocks::contribute(std::size_t rank, const void* buffer, MPI_Count count, MPI_Datatype type) {
  const Span& block = blocks()[rank];
  if (buffer == MPI_IN_PLACE) {
    placed_.pack(rank);
    there_ = rank;
    return block.length;
  }
  if (count == 0) return 0;
  const Layout layout = layout_of(type);
  const std::size_t bytes = layout.size * static_cast<std::size_t>(count);
  if (bytes == block.length && !layout.runs(count)) {
    pack(buffer, count, type, block.at, comm_);
  } else {
    const SendBlocks elements(buffer, count, type, comm_);
    std::memmove(block.at, elements.data(), std::min(bytes, block.length));
  }
  return bytes;
}

void GatherBlocks::finish() {
  for (std::size_t i = 0; i < blocks().size(); ++i)
    if (i != there_) placed_.unpack(i);
}

}  // namespace hocket::runtime
