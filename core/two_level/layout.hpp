#pragma once
/// Layout of two-level messages in the shared memory of a host.
///
/// An aggregate (two-level message) is all that the ranks of one host have for those of another: a row for each rank
/// that sends, in it a block for each rank that gets. Those that go out come first, then those that come in, both in
/// the order of the leaders of their peers. What a host has for its own ranks is one of those that go out, and is read
/// there.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/demand/demand.hpp"
#include "core/two_level/host_groups.hpp"

namespace hocket {

/// Memory layout of an all-to-all or an irregular exchange; offsets in bytes from the beginning of a call's memory.
class TwoLevelLayout {
 public:
  TwoLevelLayout(const HostGroups& groups, const Demand& demand);

  /// Bytes from one rank to another, or to itself.
  [[nodiscard]] std::uint64_t block(Rank src, Rank dst) const {
    return demand_->by_matrix() ? demand_->matrix.size(src, dst) : demand_->bytes;
  }
  /// Bytes from one host to another.
  [[nodiscard]] std::uint64_t bytes(std::size_t src, std::size_t dst) const { return bytes_[src * hosts_ + dst]; }
  [[nodiscard]] std::uint64_t going_out(std::size_t here, std::size_t there) const {
    return out_[here * hosts_ + there];
  }
  [[nodiscard]] std::uint64_t coming_in(std::size_t here, std::size_t there) const {
    return here == there ? going_out(here, here) : in_[here * hosts_ + there];
  }
  /// Bytes of all aggregates of a host.
  [[nodiscard]] std::uint64_t memory(std::size_t host) const { return memory_[host]; }

 private:
  const Demand* demand_;
  std::size_t hosts_;
  std::vector<std::uint64_t> bytes_, out_, in_, memory_;
};

/// Memory layout of an all-gather: the contributions of all ranks in the order of the leaders of their hosts, those of
/// a host in the order of its ranks. It is the same on all hosts.
struct GatherLayout {
  GatherLayout(const HostGroups& groups, const Demand& demand);

  std::vector<std::uint64_t> of_rank;     ///< begin of the rank's contribution
  std::vector<std::uint64_t> of_host;     ///< begin of the contributions of the host's ranks
  std::vector<std::uint64_t> host_bytes;  ///< bytes of all its contributions
  std::uint64_t memory = 0;
};

/// Memory layout of an all-reduce: a vector for each rank of the host, then their sum, each starting on a cache line.
struct SumLayout {
  static constexpr std::uint64_t line = 64;

  /// `bytes`: of the vector.
  explicit SumLayout(std::uint64_t bytes) : stride((bytes + line - 1) / line * line) {}
  /// Offset of a rank's vector by the rank's place on its host; the place after the last rank's is that of the sum.
  [[nodiscard]] std::uint64_t vector_of(std::size_t local) const { return local * stride; }
  [[nodiscard]] std::uint64_t memory(std::size_t ranks) const { return (ranks + 1) * stride; }

  std::uint64_t stride;
};

/// The first of `count` elements in part `part` of `parts`, which are as equal as can be.
[[nodiscard]] constexpr std::uint64_t part_begin(std::uint64_t count, std::uint64_t part, std::uint64_t parts) {
  return count * part / parts;
}

}  // namespace hocket
