/// Costs of waiting for other ranks and of exchanging blocks with them, as permuting and sorting do it: `hocket
/// calibrate memory` asks for it.
#include <chrono>
#include <memory>

#include "hocket.h"
#include "runtime/c_api/api.hpp"
#include "runtime/progress/waiting.hpp"
#include "sort/mpi/exchange/exchange_blocks.hpp"
#include "sort/mpi/place/host_shared_context.hpp"

namespace hocket::sort {
namespace {

/// meet: the ranks of a host wait for each other; reduce: the sum of one number over all ranks; exchange: every rank
/// sends `bytes` to every other.
enum { measure_meet, measure_reduce, measure_exchange };

constexpr std::int64_t most_bytes = std::int64_t{1} << 30;

void check_arguments(int what, std::int64_t bytes, int repeat, const double* seconds) {
  need(seconds, "seconds");
  if (what < measure_meet || what > measure_exchange) throw ApiError{HOCKET_ERR_ARGUMENT, "no such measurement exists"};
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

/// Does it `repeat` times; seconds[i] is what the i-th time took this rank. Collective.
extern "C" HOCKET_API int hocket_measure(MPI_Comm comm, int what, int64_t bytes, int repeat, double seconds[]) {
  return c_boundary([&] {
    collective_try(comm, HOCKET_ERR_ARGUMENT, [&] { check_arguments(what, bytes, repeat, seconds); });
    HostSharedContext& place = HostSharedContext::of(comm);
    int sum = 0;
    switch (what) {
      case measure_meet:
        return time_each(place, repeat, seconds, [&] { place.meet_host(); });
      case measure_reduce:
        return time_each(place, repeat, seconds, [&] { reduce(&what, &sum, 1, MPI_INT, MPI_SUM, place.comm()); });
      default:
        return time_exchange(place, static_cast<std::size_t>(bytes), repeat, seconds);
    }
  });
}
