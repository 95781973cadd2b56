#include "runtime/two_level/host_team.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <limits>
#include <numeric>

#include "core/error.hpp"

namespace hocket::runtime {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw InputError("the ranks of a host cannot share memory: " + what + ": " + std::strerror(errno));
}

/// Counters wrap around.
bool has_reached(std::uint32_t counter, std::uint32_t wanted) {
  return static_cast<std::int32_t>(counter - wanted) >= 0;
}

/// futex(2) between processes: std::atomic::wait works only within one.
long futex(std::atomic<std::uint32_t>& word, int what, std::uint32_t value, const timespec* longest) {
  static_assert(sizeof word == sizeof(std::uint32_t) && std::atomic<std::uint32_t>::is_always_lock_free);
  return syscall(SYS_futex, &word, what, value, longest, nullptr, 0);
}

void wake_all(std::atomic<std::uint32_t>& word) { futex(word, FUTEX_WAKE, std::numeric_limits<int>::max(), nullptr); }

void sleep_while(std::atomic<std::uint32_t>& word, std::uint32_t value, std::chrono::microseconds longest) {
  const timespec time{0, static_cast<long>(std::chrono::nanoseconds(longest).count())};
  futex(word, FUTEX_WAIT, value, &time);
}

std::uint64_t random_token() {
  std::uint64_t token = 0;
  if (getrandom(&token, sizeof token, 0) != sizeof token) fail("getrandom");
  return token | 1;  // never what fresh memory holds
}

}  // namespace

HostMemory::HostMemory(std::size_t ranks, std::size_t bytes) : ranks_(ranks), bytes_(bytes) {
  const std::uint64_t token = random_token();
  const int descriptor = memfd_create("hocket", MFD_CLOEXEC);
  if (descriptor < 0) fail("memfd_create");
  handle_ = {getpid(), descriptor, token};
  try {
    map();
  } catch (...) {
    seal();
    throw;
  }
  header_->token.store(handle_.token, std::memory_order_release);
}

HostMemory::HostMemory(const Handle& handle, std::size_t ranks, std::size_t bytes) : ranks_(ranks), bytes_(bytes) {
  const std::string path = "/proc/" + std::to_string(handle.process) + "/fd/" + std::to_string(handle.descriptor);
  const std::string what = "opening what one of them has made";  // the same text on all hosts
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) fail(what);
  handle_ = {handle.process, descriptor, handle.token};
  try {
    if (lseek(descriptor, 0, SEEK_END) < static_cast<off_t>(mapped(bytes))) {
      errno = ESTALE;
      fail(what);
    }
    map();
  } catch (...) {
    seal();
    throw;
  }
  seal();
  if (header_->token.load(std::memory_order_acquire) != handle.token) {
    munmap(header_, mapped(bytes_));
    errno = ESTALE;
    fail(what);
  }
}

HostMemory::~HostMemory() {
  seal();
  munmap(header_, mapped(bytes_));
}

void HostMemory::seal() {
  if (handle_.descriptor >= 0) close(static_cast<int>(handle_.descriptor));
  handle_.descriptor = -1;
}

void HostMemory::map() {
  const int descriptor = static_cast<int>(handle_.descriptor);
  const std::size_t bytes = mapped(bytes_);
  if (handle_.process == getpid() && ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) fail("ftruncate");
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (at == MAP_FAILED) fail("mmap");
  header_ = static_cast<Header*>(at);
  data_ = static_cast<std::byte*>(at) + sizeof(Header);
}

void HostMemory::arrive() {
  const auto all = static_cast<std::uint32_t>(++places_ * ranks_);
  if (header_->arrivals.fetch_add(1, std::memory_order_acq_rel) + 1 == all) wake_all(header_->arrivals);
}

bool HostMemory::all_here() const {
  const auto all = static_cast<std::uint32_t>(places_ * ranks_);
  return has_reached(header_->arrivals.load(std::memory_order_acquire), all);
}

bool HostMemory::give(std::uint32_t call, std::uint32_t digest, std::uint64_t bytes) {
  std::atomic<std::uint64_t>& given = header_->given[call % 2];
  const std::uint64_t own = std::uint64_t{call} << 32 | digest;
  std::uint64_t seen = given.load(std::memory_order_acquire);
  while (seen >> 32 != call) {
    if (!given.compare_exchange_weak(seen, own, std::memory_order_acq_rel)) continue;
    header_->given_bytes[call % 2] = bytes;
    return true;
  }
  if (seen != own) spoil(call);
  return seen == own;
}

void HostMemory::complete(std::uint32_t call) {
  header_->last_completed.store(call, std::memory_order_release);
  wake_all(header_->last_completed);
}

bool HostMemory::completed(std::uint32_t call) const {
  return has_reached(header_->last_completed.load(std::memory_order_acquire), call);
}

void HostMemory::await_all(std::chrono::microseconds longest) const {
  const std::uint32_t seen = header_->arrivals.load(std::memory_order_acquire);
  if (!has_reached(seen, static_cast<std::uint32_t>(places_ * ranks_))) sleep_while(header_->arrivals, seen, longest);
}

void HostMemory::await_completion(std::uint32_t call, std::chrono::microseconds longest) const {
  const std::uint32_t seen = header_->last_completed.load(std::memory_order_acquire);
  if (!has_reached(seen, call)) sleep_while(header_->last_completed, seen, longest);
}

namespace {

std::size_t width_of(std::size_t data) {
  if (data == 0) return 0;
  if (data <= std::numeric_limits<std::uint8_t>::max()) return 1;
  return data <= std::numeric_limits<std::uint16_t>::max() ? 2 : 4;
}

template <class Number>
std::byte* put(std::byte* at, std::span<const std::size_t> lengths) {
  Number end = 0;
  for (const std::size_t length : lengths) {
    end = static_cast<Number>(end + length);
    std::memcpy(at, &end, sizeof end);
    at += sizeof end;
  }
  return at;
}

template <class Number>
std::size_t get(const std::byte* at) {
  Number number = 0;
  std::memcpy(&number, at, sizeof number);
  return number;
}

}  // namespace

std::size_t row_bytes(std::size_t ranks, std::size_t data) { return 1 + width_of(data) * ranks + data; }

std::byte* begin_row(std::byte* at, std::span<const std::size_t> lengths) {
  const std::size_t width = width_of(std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}));
  *at++ = static_cast<std::byte>(width);
  if (width == 0) return at;
  if (width == 1) return put<std::uint8_t>(at, lengths);
  return width == 2 ? put<std::uint16_t>(at, lengths) : put<std::uint32_t>(at, lengths);
}

Row::Row(std::byte* at, std::size_t room, std::size_t ranks) : at_(at) {
  if (room > 0) width_ = static_cast<std::size_t>(*at);
  head_ = bytes_ = 1 + width_ * ranks;
  if (width_ > 4 || width_ == 3)
    bytes_ = std::numeric_limits<std::size_t>::max();
  else if (head_ <= room && ranks > 0)
    bytes_ += end_of(ranks - 1);
}

std::size_t Row::end_of(std::size_t place) const {
  const std::byte* const at = at_ + 1 + width_ * place;
  if (width_ == 0) return 0;
  if (width_ == 1) return get<std::uint8_t>(at);
  return width_ == 2 ? get<std::uint16_t>(at) : get<std::uint32_t>(at);
}

Span Row::message(std::size_t place) const {
  const std::size_t begin = place > 0 ? end_of(place - 1) : 0, end = end_of(place);
  if (begin > end || head_ + end > bytes_) return {};
  return {at_ + head_ + begin, end - begin};
}

Hosts hosts_of(const Numbering& numbering, std::size_t rank) {
  std::vector<std::uint32_t> node_of(numbering.comm_rank.size());
  std::size_t next = 0;
  for (std::uint32_t node = 0; node < numbering.ranks_per_node.size(); ++node)
    for (std::uint32_t place = 0; place < numbering.ranks_per_node[node]; ++place)
      node_of[static_cast<std::size_t>(numbering.comm_rank[next++])] = node;
  Hosts hosts;
  static_cast<HostGroups&>(hosts) = group_by_host(node_of);
  hosts.host = hosts.host_of[rank];
  hosts.local = hosts.local_of[rank];
  hosts.together = node_of.size();
  return hosts;
}

std::vector<Carriage> carriages_of(const Hosts& hosts) {
  std::vector<Carriage> carried;
  if (hosts.local >= hosts.fewest) return carried;
  for (std::size_t distance = 1 + hosts.local; distance < hosts.count(); distance += hosts.fewest) {
    const std::size_t to = (hosts.host + distance) % hosts.count();
    const std::size_t from = (hosts.host + hosts.count() - distance) % hosts.count();
    carried.push_back({to, from, hosts.ranks[to][hosts.local], hosts.ranks[from][hosts.local]});
  }
  return carried;
}

Numbering leaders_of(const Numbering& numbering, const Hosts& hosts) {
  Numbering leaders;
  for (const std::uint32_t ranks : numbering.ranks_per_node) leaders.ranks_per_node.push_back(std::min(ranks, 1U));
  for (std::size_t host = 0; host < hosts.count(); ++host)
    leaders.comm_rank.push_back(static_cast<int>(hosts.leader(host)));
  leaders.network_rank = hosts.host_of;
  return leaders;
}

bool is_two_level(const Collective& collective) {
  return !collective.rooted && collective.pattern != Pattern::irregular &&
         collective.pattern != Pattern::reduce_scatter;
}

std::size_t HostTeam::needed(const Collective& collective, std::size_t bytes) const {
  if (collective.pattern == Pattern::irregular) return VectorPlaces::needed(hosts, bytes);
  constexpr std::size_t alignment = 64 * 4;                             // a cache line before each part
  const std::size_t marks = 2 * hosts.count() * sizeof(std::uint64_t);  // at the ends of aggregates, out and in
  return vectors_held(hosts, collective.pattern) * hosts.together * bytes + marks + (hosts.most + 4) * alignment;
}

std::size_t HostTeam::aggregate_bytes(const Collective& collective, std::size_t bytes) const {
  if (collective.pattern == Pattern::all_to_all || collective.pattern == Pattern::irregular)
    return hosts.most * hosts.most * bytes;
  if (collective.pattern == Pattern::all_gather) return hosts.most * bytes;
  return bytes * hosts.together / hosts.count();
}

}  // namespace hocket::runtime
