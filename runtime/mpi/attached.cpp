#include "runtime/mpi/attached.hpp"

#include "runtime/mpi/world.hpp"

namespace hocket::runtime {
namespace {

std::atomic<int> sessions = 0;
std::atomic<std::uint32_t> times = 0;

}  // namespace

std::uint32_t mpi_times() { return times; }

void session_begins() {
  if (sessions++ == 0 && !in_world()) ++times;  // it may be over since MPI_Finalize
}

void session_is_over() {
  if (--sessions == 0 && !in_world()) ++times;
}

}  // namespace hocket::runtime
