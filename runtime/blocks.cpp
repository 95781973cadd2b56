#include "blocks.hpp"

#include <cstring>

#include "mpi_call.hpp"

namespace hocket::runtime {
namespace {

/// True when the elements lie back to back in memory in the order in which they are sent.
bool dense(MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  int size = 0;
  check(PMPI_Type_get_extent(type, &lower, &extent));
  check(PMPI_Type_size(type, &size));
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

std::byte* block_at(void* buffer, int i, int count, MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  check(PMPI_Type_get_extent(type, &lower, &extent));
  return static_cast<std::byte*>(buffer) + static_cast<MPI_Aint>(i) * count * extent;
}

/// Both MPI families pack a homogeneous job's data as the bare bytes of the type map, in order.
int pack_limit(std::size_t bytes) {
  if (bytes > 0x7fffffff) throw MpiFailure{MPI_ERR_COUNT};
  return static_cast<int>(bytes);
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
  for (int i = 0; i < n; ++i) {
    int position = 0;
    check(PMPI_Pack(block_at(const_cast<void*>(buffer), i, count, type), count, type,
                    copy_.data() + bytes * static_cast<std::size_t>(i), pack_limit(bytes), &position, comm));
  }
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
  for (int i = 0; i < n_; ++i) {
    int position = 0;
    check(PMPI_Unpack(copy_.data() + bytes * static_cast<std::size_t>(i), pack_limit(bytes), &position,
                      block_at(buffer_, i, count_, type_), count_, type_, comm_));
  }
}

}  // namespace hocket::runtime
