#pragma once
/// The ranks of each host act together: who they are, and where lies what they share.
#include <mpi.h>
#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/demand/demand.hpp"
#include "core/two_level/exchange.hpp"
#include "runtime/buffers/blocks.hpp"
#include "runtime/plan/placement.hpp"

namespace hocket::runtime {

/// Memory without a name: it lives as long as somebody has it, and nothing stays when ranks are killed. It needs no
/// /dev/shm, which containers often do not have, or only a little of. Others open it through /proc, which takes the
/// same user and the same process namespace.
class HostMemory {
 public:
  /// The data by which other ranks of the host open this memory.
  struct Handle {
    std::int64_t process = 0;
    std::int64_t descriptor = -1;
    std::uint64_t token = 0;  ///< written at its beginning: whoever finds another one has opened something else
  };

  /// For `ranks` ranks, `bytes` bytes beside what they tell each other. It takes memory where it is written to. Throws
  /// InputError where there is none.
  HostMemory(std::size_t ranks, std::size_t bytes);
  /// Maps memory made by another rank of this host. Throws InputError where it cannot be opened.
  HostMemory(const Handle& handle, std::size_t ranks, std::size_t bytes);
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory();

  [[nodiscard]] Handle handle() const { return handle_; }
  /// All have opened it: from here on nobody else can.
  void seal();

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// Numbers the calls that use it, from 1 on. All ranks of the host make the same ones.
  [[nodiscard]] std::uint32_t next_call() { return ++calls_; }
  /// This rank has come to where all ranks of the host must come before any of them goes on.
  void arrive();
  [[nodiscard]] bool all_here() const;
  /// Publishes the digest of this rank's arguments before it arrives; the call fails unless all ranks give the same.
  /// Returns false if this digest differs from that of the first rank.
  bool give(std::uint32_t call, std::uint32_t digest, std::uint64_t bytes);
  /// The `bytes` that the first rank gave. Valid once all have arrived.
  [[nodiscard]] std::uint64_t given_bytes(std::uint32_t call) const { return header_->given_bytes[call % 2]; }
  /// All ranks of the host are to know, before the last of them arrives or the leader completes the call.
  void spoil(std::uint32_t call) { header_->spoilt[call % 2].store(call, std::memory_order_release); }
  [[nodiscard]] bool spoilt(std::uint32_t call) const {
    return header_->spoilt[call % 2].load(std::memory_order_acquire) == call;
  }
  /// The leader has finished a call.
  void complete(std::uint32_t call);
  [[nodiscard]] bool completed(std::uint32_t call) const;
  /// Sleep until all are here, or the call is completed; for `longest`, less than a second, at most.
  void await_all(std::chrono::microseconds longest) const;
  void await_completion(std::uint32_t call, std::chrono::microseconds longest) const;

 private:
  struct Header {
    std::atomic<std::uint64_t> token;
    alignas(64) std::atomic<std::uint32_t> arrivals;  ///< total over all ranks and barriers
    alignas(64) std::atomic<std::uint32_t> last_completed;
    // Two calls may be under way.
    alignas(64) std::atomic<std::uint64_t> given[2];  ///< the number of the call, and what the first rank gave
    std::uint64_t given_bytes[2];
    std::atomic<std::uint32_t> spoilt[2];  ///< number of the last call that was
  };

  [[nodiscard]] static std::size_t mapped(std::size_t bytes) { return sizeof(Header) + bytes; }
  void map();

  Handle handle_;
  std::size_t ranks_, bytes_;
  std::uint32_t calls_ = 0, places_ = 0;  ///< calls so far, and places where all had to come; they may wrap around
  Header* header_ = nullptr;
  std::byte* data_ = nullptr;
};

/// The hosts of a communicator's ranks.
struct Hosts : HostGroups {
  std::size_t host = 0, local = 0;  ///< this rank's host, and its index in ranks[host]
  std::size_t together = 0;         ///< ranks in all

  [[nodiscard]] const std::vector<Rank>& here() const { return ranks[host]; }
  [[nodiscard]] bool leads() const { return local == 0; }
};

/// One rank's share of inter-host traffic where all ranks act as leaders: it sends an aggregate to `to_host`, received
/// there by rank `to`, and receives one from `from_host`, sent there by rank `from`.
struct Carriage {
  std::size_t to_host, from_host;
  Rank to, from;
};

/// This rank's shares, in the order of execution. The first `fewest` ranks of every host take part; aggregates between
/// hosts at the same distance in network order are carried by ranks with the same local index.
[[nodiscard]] std::vector<Carriage> carriages_of(const Hosts& hosts);

[[nodiscard]] Hosts hosts_of(const Numbering& numbering, std::size_t rank);

/// One rank for every host: its leader. `numbering`: of the ranks of `hosts`.
[[nodiscard]] Numbering leaders_of(const Numbering& numbering, const Hosts& hosts);

/// The ranks of each host act together: one of them, the leader, carries for all.
struct HostTeam {
  Hosts hosts;
  Numbering leaders;
  std::unique_ptr<HostMemory> memory;
  MPI_Comm between_leaders = MPI_COMM_NULL;  ///< the runtime's alone; on other ranks nothing

  /// Bytes that a call with messages of `bytes` bytes needs on the fullest host; it grows with `bytes`.
  [[nodiscard]] std::size_t needed(const Collective& collective, std::size_t bytes) const;
  /// Bytes of the aggregate between two fullest hosts (all-to-all), of a fullest host's contribution (all-gather), or
  /// of one host's part of a reduction.
  [[nodiscard]] std::size_t aggregate_bytes(const Collective& collective, std::size_t bytes) const;
  [[nodiscard]] bool fits(const Collective& collective, std::size_t bytes) const {
    return needed(collective, bytes) <= memory->bytes() / 2;  // two calls may be there at once
  }
  /// True if several ranks of each host can act as leaders, which needs data that differs per destination host.
  [[nodiscard]] bool can_all_lead(const Collective& collective) const {
    return collective.pattern == Pattern::all_to_all && hosts.fewest > 1;
  }
};

/// True if a two-level (aggregated) operation implements `collective`.
[[nodiscard]] bool is_two_level(const Collective& collective);

/// Bytes of a row of `data` bytes for so many ranks; less than 2³² bytes.
[[nodiscard]] std::size_t row_bytes(std::size_t ranks, std::size_t data);
/// The most that a row for so many ranks takes beside its messages.
[[nodiscard]] constexpr std::size_t most_row_overhead(std::size_t ranks) { return 1 + sizeof(std::uint32_t) * ranks; }

/// Puts down what comes before the messages, which are of `lengths` bytes. Returns where the first belongs.
std::byte* begin_row(std::byte* at, std::span<const std::size_t> lengths);

/// A self-describing encoding of one rank's messages for the ranks of one host (a "row").
///
/// A byte gives the width of a number: 0, 1, 2 or 4 bytes; at 0 the row is over and holds nothing. Then for each rank
/// the end of its message, counted from the first message; then the messages. A rank finds its own without reading
/// those before, and a row without messages takes a byte.
///
/// One that has come in, in memory of `room` bytes from `at` on.
class Row {
 public:
  Row(std::byte* at, std::size_t room, std::size_t ranks);
  /// Total size in bytes; larger than the room if the received data is not a valid row for that many ranks.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// For the rank at this place. Only where bytes() are within the room.
  [[nodiscard]] Span message(std::size_t place) const;

 private:
  [[nodiscard]] std::size_t end_of(std::size_t place) const;

  std::byte* at_;
  std::size_t width_ = 0, head_ = 1, bytes_ = 1;
};

/// The layout of a host's shared memory in a two-level call with messages of different sizes.
/// Each rank has room for a row for every host, however long its messages are up to a limit: so no rank needs to know
/// what others send before it puts down its own.
class VectorPlaces {
 public:
  /// Bytes that messages of at most `longest` bytes between any two ranks need on the fullest host.
  [[nodiscard]] static std::size_t needed(const Hosts& hosts, std::size_t longest) {
    const std::size_t ranks = hosts.together, most = hosts.most;
    const std::size_t tables = numbers(hosts) * (most + 1) * sizeof(std::uint64_t) +
                               ranks * most * sizeof(std::uint32_t) + (most + 4) * alignment;
    return tables + most * room_of_rank(hosts, longest) + ranks * (most_row_overhead(most) + most * longest);
  }
  /// The longest message that `bytes` bytes have room for; 0: none.
  [[nodiscard]] static std::size_t longest(const Hosts& hosts, std::size_t bytes) {
    const std::size_t pairs = hosts.together * hosts.most;
    const std::size_t fixed = needed(hosts, 0) + hosts.most * alignment;  // rooms end in whole lines
    constexpr std::size_t most_of_a_host = std::size_t{1} << 30;          // counts of the MPI library are int
    return fixed >= bytes ? 0 : std::min((bytes - fixed) / 2, most_of_a_host) / pairs;
  }

  VectorPlaces(const Hosts& hosts, std::byte* area, std::size_t longest)
      : hosts_(hosts), area_(area), room_(room_of_rank(hosts, longest)) {}

  /// Offsets of the incoming aggregates, one per host, and the end of the last one.
  [[nodiscard]] std::span<std::uint64_t> arrivals() const {
    return {reinterpret_cast<std::uint64_t*>(area_), numbers(hosts_)};
  }
  /// Offsets from rows() of one local rank's rows, one per destination host, and the end of the last one.
  [[nodiscard]] std::span<std::uint64_t> rows_at(std::size_t local) const {
    return {reinterpret_cast<std::uint64_t*>(area_) + (local + 1) * numbers(hosts_), numbers(hosts_)};
  }
  /// Bytes that a rank of this host expects in aggregates from each rank of the communicator.
  [[nodiscard]] std::span<std::uint32_t> expected(std::size_t local) const {
    std::byte* const tables = area_ + (here() + 1) * numbers(hosts_) * sizeof(std::uint64_t);
    return {reinterpret_cast<std::uint32_t*>(tables) + local * hosts_.together, hosts_.together};
  }
  [[nodiscard]] std::byte* rows(std::size_t local) const { return rows_of_all() + local * room_; }
  /// The space for incoming aggregates.
  [[nodiscard]] std::byte* incoming() const { return rows_of_all() + here() * room_; }

 private:
  static constexpr std::size_t alignment = 64;

  [[nodiscard]] static std::size_t aligned(std::size_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  }
  [[nodiscard]] static std::size_t numbers(const Hosts& hosts) { return hosts.count() + 1; }
  [[nodiscard]] static std::size_t room_of_rank(const Hosts& hosts, std::size_t longest) {
    return aligned(hosts.count() + hosts.together * (sizeof(std::uint32_t) + longest));
  }
  [[nodiscard]] std::size_t here() const { return hosts_.here().size(); }
  [[nodiscard]] std::byte* rows_of_all() const {
    const std::size_t tables =
        (here() + 1) * numbers(hosts_) * sizeof(std::uint64_t) + here() * hosts_.together * sizeof(std::uint32_t);
    return area_ + aligned(tables);
  }

  const Hosts& hosts_;
  std::byte* area_;
  std::size_t room_;  ///< bytes for one rank's rows
};

}  // namespace hocket::runtime
