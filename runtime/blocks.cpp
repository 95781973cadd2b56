#include "blocks.hpp"

#include <cstring>

#include "mpi_call.hpp"

namespace hocket::runtime {
namespace {

MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  check(PMPI_Type_get_extent(type, &lower, &extent));
  return extent;
}

std::byte* block_at(void* buffer, int i, int count, MPI_Datatype type) {
  return static_cast<std::byte*>(buffer) + static_cast<MPI_Aint>(i) * count * extent_of(type);
}

std::vector<Block> blocks_at(void* buffer, const std::vector<int>& counts, const std::vector<MPI_Aint>& displacements,
                             MPI_Datatype type) {
  const MPI_Aint extent = extent_of(type);
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < counts.size(); ++i)
    blocks.push_back({moved(buffer, displacements[i] * extent), counts[i], type});
  return blocks;
}

}  // namespace

SendBlocks::SendBlocks(const void* buffer, int count, MPI_Datatype type, int n, MPI_Comm comm)
    : data_(static_cast<const std::byte*>(buffer)) {
  if (dense(type)) return;
  const std::size_t bytes = bytes_of(count, type);
  copy_.resize(bytes * static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    pack(block_at(const_cast<void*>(buffer), i, count, type), count, type,
         copy_.data() + bytes * static_cast<std::size_t>(i), comm);
  data_ = copy_.data();
}

ReceiveBlocks::ReceiveBlocks(void* buffer, int count, MPI_Datatype type, int n, MPI_Comm comm)
    : buffer_(buffer), count_(count), type_(type), n_(n), comm_(comm), data_(static_cast<std::byte*>(buffer)) {
  if (dense(type)) return;
  copy_.resize(bytes_of(count, type) * static_cast<std::size_t>(n));
  data_ = copy_.data();
}

void ReceiveBlocks::finish() {
  if (copy_.empty()) return;
  const std::size_t bytes = bytes_of(count_, type_);
  for (int i = 0; i < n_; ++i)
    unpack(copy_.data() + bytes * static_cast<std::size_t>(i), block_at(buffer_, i, count_, type_), count_, type_,
           comm_);
}

GatherBlocks::GatherBlocks(void* buffer, const std::vector<int>& counts, const std::vector<MPI_Aint>& displacements,
                           MPI_Datatype type, MPI_Comm comm)
    : placed_(blocks_at(buffer, counts, displacements, type), comm), comm_(comm), there_(counts.size()) {}

void GatherBlocks::contribute(std::size_t rank, const void* buffer, int count, MPI_Datatype type) {
  const Span& block = blocks()[rank];
  if (buffer == MPI_IN_PLACE) {
    placed_.pack(rank);
    there_ = rank;
    return;
  }
  if ((count > 0 ? bytes_of(count, type) : 0) != block.length) throw MpiFailure{MPI_ERR_TRUNCATE};
  if (block.length == 0) return;
  if (dense(type))
    std::memcpy(block.at, buffer, block.length);
  else
    pack(buffer, count, type, block.at, comm_);
}

void GatherBlocks::finish() {
  for (std::size_t i = 0; i < blocks().size(); ++i)
    if (i != there_) placed_.unpack(i);
}

}  // namespace hocket::runtime
