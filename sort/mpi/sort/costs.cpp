/// The memory profile of all ranks, and what hocket_measure() times.
#include <sys/stat.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "runtime/agreement/agreement.hpp"
#include "runtime/c_api/api.hpp"
#include "runtime/mpi/attached.hpp"
#include "sort/mpi/exchange/exchange_blocks.hpp"
#include "sort/mpi/sort/sort.hpp"

namespace hocket::sort {

using namespace hocket::runtime;

namespace {

constexpr std::size_t most_profile_bytes = std::size_t{1} << 20;

/// The path of the cached profile, the same as in python/hocket/costs/model.py; empty if there is none.
std::string cached_file() {
  std::string base;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
    base = cache;
  else if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    base = std::string(home) + "/.cache";
  utsname machine{};
  if (base.empty() || uname(&machine) != 0) return "";
  return base + "/hocket/memory-" + machine.nodename + ".txt";
}

struct Found {
  std::string text;     ///< text of a valid profile; empty: none
  std::string problem;  ///< the reason why a file cannot be used
};

Found read_profile() {
  const char* named = std::getenv("HOCKET_MEMORY");
  const bool asked = named != nullptr && *named != '\0';
  const std::string path = asked ? named : cached_file();
  struct stat status{};
  if (path.empty() || (!asked && stat(path.c_str(), &status) != 0)) return {};
  const auto problem = [&](const std::string& what) { return Found{"", "memory profile " + path + ": " + what}; };
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return problem("there is no such file");
  std::ifstream file(path, std::ios::binary);
  std::string text(most_profile_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.empty()) return problem("it cannot be read, or is empty");
  try {
    (void)MemoryProfile::parse(text);
  } catch (const InputError& error) {
    return problem(error.what());
  }
  return {std::move(text), ""};
}

/// Rank 0 has read, all others hear of it.
std::string same_on_all(MPI_Comm comm, std::string text) {
  std::uint64_t length = text.size();
  check(wait_in_mpi(PMPI_Bcast, &length, 1, MPI_UINT64_T, 0, comm));
  text.resize(length);
  check(wait_in_mpi(PMPI_Bcast, text.data(), static_cast<int>(length), MPI_CHAR, 0, comm));
  return text;
}

}  // namespace

const MemoryProfile& memory_profile(MPI_Comm comm) {
  if (const MemoryProfile* const kept = Attached<MemoryProfile>::find(comm)) return *kept;
  int rank = 0;
  check(PMPI_Comm_rank(comm, &rank));
  Found own;
  if (rank == 0) own = read_profile();
  (void)all_ok(comm, own.problem, "using figures of another machine");
  const std::string text = same_on_all(comm, std::move(own.text));
  return Attached<MemoryProfile>::attach(
      comm, std::make_unique<MemoryProfile>(text.empty() ? MemoryProfile::built_in() : MemoryProfile::parse(text)));
}

// Costs of waiting for other ranks and of exchanging blocks with them, as permuting and sorting do it: `hocket
// calibrate memory` asks for it.

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
