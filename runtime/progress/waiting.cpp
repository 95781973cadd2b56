#include "runtime/progress/waiting.hpp"

#include <cstddef>
#include <cstring>

namespace hocket::runtime {

void reduce(const void* own, void* all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int size = 0;
  check(PMPI_Type_size(type, &size));
  ++hocket_agreements;
  hocket_agreed_bytes += static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
  run_collective(PMPI_Iallreduce, own, all, count, type, op, comm);
}

void gather_all(const void* own, void* all, int bytes, MPI_Comm comm) {
  const int rank = rank_in(comm), size = size_of(comm);
  const auto length = static_cast<std::size_t>(bytes);
  auto* const places = static_cast<std::byte*>(all);
  std::fill_n(places, static_cast<std::size_t>(size) * length, std::byte{0});
  std::memcpy(places + static_cast<std::size_t>(rank) * length, own, length);
  run_collective(PMPI_Iallreduce, MPI_IN_PLACE, all, size * bytes, MPI_BYTE, MPI_BOR, comm);
}

std::optional<int> first_where(bool here, MPI_Comm comm) {
  const int size = size_of(comm), own = here ? rank_in(comm) : size;
  int first = size;
  reduce(&own, &first, 1, MPI_INT, MPI_MIN, comm);
  return first < size ? std::optional(first) : std::nullopt;
}

void wait_for_all(MPI_Comm comm) { run_collective(PMPI_Ibarrier, comm); }

}  // namespace hocket::runtime
