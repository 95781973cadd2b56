#include "sort/mpi/place/collective_try.hpp"

#include <climits>
#include <cstdint>

#include "runtime/mpi/mpi_call.hpp"
#include "runtime/progress/waiting.hpp"

namespace hocket::sort {

void same_everywhere(HostSharedContext& place, const std::vector<Common>& arguments) {
  const std::size_t n = arguments.size();
  std::vector<std::uint64_t> own, all(n * static_cast<std::size_t>(place.size()));
  for (const Common& argument : arguments) own.push_back(argument.value);
  run_collective(PMPI_Iallgather, own.data(), static_cast<int>(n), MPI_UINT64_T, all.data(), static_cast<int>(n),
                 MPI_UINT64_T, place.comm());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == all[i % n]) continue;
    const std::string name = arguments[i % n].name;
    throw ApiError{HOCKET_ERR_ARGUMENT, "ranks differ in " + name + ": rank " + std::to_string(i / n) + " gives " +
                                            std::to_string(all[i]) + ", rank 0 " + std::to_string(all[i % n])};
  }
}

void check_elements(const char* name, std::size_t width, std::int64_t count, const void* memory) {
  if (count < 0) throw InputError(std::to_string(count) + " elements of " + name);
  if (count > 0) need(memory, name);
  if (static_cast<std::uint64_t>(count) > SIZE_MAX / 2 / width)
    throw InputError(std::to_string(count) + " elements of " + name + " of " + std::to_string(width) +
                     " bytes are more than memory can have");
}

void check_width(std::size_t width) {
  if (width == 0 || width > INT_MAX)
    throw InputError("elements of " + std::to_string(width) + " bytes; their width is from 1 to " +
                     std::to_string(INT_MAX));
}

void refuse_position(const char* name, std::int64_t position, std::size_t element, const char* array,
                     std::uint64_t total) {
  throw InputError(std::string(name) + " " + std::to_string(position) + " of element " + std::to_string(element) +
                   " is out of range: the " + array + " has " + std::to_string(total) + " elements");
}

}  // namespace hocket::sort
