#include "runtime/buffers/blocks.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace hocket::runtime {

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
