/// hocket_memory.h: what waits and exchanges cost.
#include <chrono>
#include <memory>

#include "hocket_memory.h"
#include "runtime/c_api/api.hpp"
#include "runtime/progress/agree.hpp"
#include "sort/mpi/exchange/exchange_blocks.hpp"
#include "sort/mpi/place/host_shared_context.hpp"

namespace hocket::sort {
namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 30;

void check_arguments(int what, std::int64_t bytes, int repeat, const double* seconds) {
  need(seconds, "seconds");
  if (what < HOCKET_MEET || what > HOCKET_EXCHANGE) throw ApiError{HOCKET_ERR_ARGUMENT, "no such measurement exists"};
  if (bytes < 0 || bytes > most_bytes || repeat < 0)
    throw ApiError{HOCKET_ERR_ARGUMENT, "bytes (to 2^30) or repeat are out of range"};
}

template <class Work>
void time_each(HostSharedContext& place, int repeat, double* seconds, Work work) {
  using Clock = std::chrono::steady_clock;
  for (int i = 0; i < repeat; ++i) {
    place.meet();
    const Clock::time_point begin = Clock::now();
    work();
    seconds[i] = std::chrono::duration<double>(Clock::now() - begin).count();
  }
}

void time_exchange(HostSharedContext& place, std::size_t bytes, int repeat, double* seconds) {
  BlockCounts blocks(static_cast<std::size_t>(place.size()), bytes);
  blocks[static_cast<std::size_t>(place.rank())] = 0;
  const std::size_t total = bytes * (blocks.size() - 1);
  std::unique_ptr<std::byte[]> from, to;
  collective_try(place.comm(), HOCKET_ERR_MEMORY, [&] {
    from = std::make_unique<std::byte[]>(total);
    to = std::make_unique<std::byte[]>(total);
  });
  time_each(place, repeat, seconds, [&] { exchange_blocks(place, 1, from.get(), blocks, to.get(), blocks); });
}

}  // namespace
}  // namespace hocket::sort

using namespace hocket::sort;

HOCKET_API int hocket_measure(MPI_Comm comm, int what, int64_t bytes, int repeat, double seconds[]) {
  return c_boundary([&] {
    collective_try(comm, HOCKET_ERR_ARGUMENT, [&] { check_arguments(what, bytes, repeat, seconds); });
    HostSharedContext& place = HostSharedContext::of(comm);
    int sum = 0;
    switch (what) {
      case HOCKET_MEET:
        return time_each(place, repeat, seconds, [&] { place.meet_host(); });
      case HOCKET_REDUCE:
        return time_each(place, repeat, seconds, [&] { reduce(&what, &sum, 1, MPI_INT, MPI_SUM, place.comm()); });
      default:
        return time_exchange(place, static_cast<std::size_t>(bytes), repeat, seconds);
    }
  });
}
