#include "blocks.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "mpi_call.hpp"

namespace hocket::runtime {
namespace {

/// True when the elements lie back to back in memory in the order in which they are sent.
bool dense(MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  MPI_Count size = 0;
  check(PMPI_Type_get_extent(type, &lower, &extent));
  check(PMPI_Type_size_x(type, &size));
  if (lower != 0 || extent != size) return false;
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  check(PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner));
  if (combiner == MPI_COMBINER_NAMED) return true;
  if (combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP) return false;
  std::vector<int> integer(static_cast<std::size_t>(integers) + 1);
  std::vector<MPI_Aint> address(static_cast<std::size_t>(addresses) + 1);
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  check(PMPI_Type_get_contents(type, integers, addresses, types, integer.data(), address.data(), &inner));
  const bool is_dense = dense(inner);
  int inner_combiner = 0;
  check(PMPI_Type_get_envelope(inner, &integers, &addresses, &types, &inner_combiner));
  if (inner_combiner != MPI_COMBINER_NAMED) check(PMPI_Type_free(&inner));
  return is_dense;
}

MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  check(PMPI_Type_get_extent(type, &lower, &extent));
  return extent;
}

std::byte* block_at(void* buffer, int i, int count, MPI_Datatype type) {
  return static_cast<std::byte*>(buffer) + static_cast<MPI_Aint>(i) * count * extent_of(type);
}

/// Calls `part(elements, their number, bytes, their number)` for runs that MPI's int arguments can describe.
template <class Part>
void in_parts(std::byte* elements, int count, MPI_Datatype type, std::byte* bytes, Part part) {
  constexpr std::size_t most = std::size_t{1} << 30;
  const std::size_t size = bytes_of(1, type);
  if (size > most) throw MpiFailure{MPI_ERR_COUNT};
  if (size == 0) return;
  const MPI_Aint extent = extent_of(type);
  for (int n = 0; count > 0; count -= n) {
    n = static_cast<int>(std::min(static_cast<std::size_t>(count), most / size));
    part(elements, n, bytes, static_cast<int>(size * static_cast<std::size_t>(n)));
    elements += n * extent;
    bytes += size * static_cast<std::size_t>(n);
  }
}

/// Both MPI families pack a homogeneous job's data as the bare bytes of the type map, in order.
void pack(const void* elements, int count, MPI_Datatype type, std::byte* bytes, MPI_Comm comm) {
  in_parts(static_cast<std::byte*>(const_cast<void*>(elements)), count, type, bytes,
           [&](const std::byte* from, int n, std::byte* to, int room) {
             int position = 0;
             check(PMPI_Pack(from, n, type, to, room, &position, comm));
           });
}

void unpack(std::byte* bytes, void* elements, int count, MPI_Datatype type, MPI_Comm comm) {
  in_parts(static_cast<std::byte*>(elements), count, type, bytes,
           [&](std::byte* to, int n, const std::byte* from, int size) {
             int position = 0;
             check(PMPI_Unpack(from, size, &position, to, n, type, comm));
           });
}

}  // namespace

std::size_t bytes_of(MPI_Aint count, MPI_Datatype type) {
  MPI_Count size = 0;
  check(PMPI_Type_size_x(type, &size));
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
}

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

PlacedBlocks::PlacedBlocks(void* buffer, std::vector<int> counts, std::vector<MPI_Aint> displacements,
                           MPI_Datatype type, MPI_Comm comm, Copy copy)
    : buffer_(static_cast<std::byte*>(buffer)),
      counts_(std::move(counts)),
      displacements_(std::move(displacements)),
      type_(type),
      comm_(comm),
      extent_(extent_of(type)),
      dense_(dense(type)),
      copied_(!dense_ || copy == Copy::always) {
  std::size_t total = 0;
  for (const int count : counts_) total += bytes_of(count, type);
  if (copied_) copy_.resize(total);
  std::byte* next = copy_.data();
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const std::size_t length = bytes_of(counts_[i], type);
    blocks_.push_back({length == 0 ? nullptr : copied_ ? next : place(i), length});
    if (copied_) next += length;
  }
}

std::byte* PlacedBlocks::place(std::size_t block) const { return buffer_ + displacements_[block] * extent_; }

void PlacedBlocks::pack(std::size_t block) {
  const Span& bytes = blocks_[block];
  if (!copied_ || bytes.length == 0) return;
  if (dense_)
    std::memcpy(bytes.at, place(block), bytes.length);
  else
    runtime::pack(place(block), counts_[block], type_, bytes.at, comm_);
}

void PlacedBlocks::unpack(std::size_t block) {
  const Span& bytes = blocks_[block];
  if (!copied_ || bytes.length == 0) return;
  if (dense_)
    std::memcpy(place(block), bytes.at, bytes.length);
  else
    runtime::unpack(bytes.at, place(block), counts_[block], type_, comm_);
}

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
