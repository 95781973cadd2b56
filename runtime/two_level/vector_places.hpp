#pragma once
/// The layout of a host's shared memory in a two-level call with messages of different sizes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/two_level/hosts.hpp"
#include "runtime/two_level/rows.hpp"

namespace hocket::runtime {

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
