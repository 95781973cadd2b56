#include "runtime/exchange/tags.hpp"

#include "core/error.hpp"
#include "runtime/mpi/mpi_call.hpp"

namespace hocket::runtime {

/// An odd number of lengths: sizes that are taken for each other by mistake differ by powers of two.
Tags::Tags(std::size_t largest) : largest_(largest), lengths_((largest / 2 / (2 * positions) - 1) | 1) {}

Tags Tags::of(MPI_Comm comm) {
  constexpr std::size_t least_promised = 32767;
  int* largest = nullptr;
  int found = 0;
  check(PMPI_Comm_get_attr(comm, MPI_TAG_UB, static_cast<void*>(&largest), &found));
  return Tags(found != 0 ? static_cast<std::size_t>(*largest) : least_promised);
}

void check_tags(const Planned& planned, MPI_Comm comm) {
  if (planned.program.sends.size() > Tags::of(comm).tokens())
    throw InputError("this MPI library has too few message tags for the plan");
}

}  // namespace hocket::runtime
