#pragma once
/// Exchanges in two levels: the ranks of a host put what they have into its memory, the leaders carry it between hosts
/// by a schedule, and every rank takes what is its own.
///
/// This is what the runtime's aggregates do (runtime/two_level/), copy by copy: what the verifier proves of it is what
/// runs.
///
/// Layout of two-level messages in the shared memory of a host.
///
/// An aggregate (two-level message) is all that the ranks of one host have for those of another: a row for each rank
/// that sends, in it a block for each rank that gets. Those that go out come first, then those that come in, both in
/// the order of the leaders of their peers. What a host has for its own ranks is one of those that go out, and is read
/// there.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/demand/demand.hpp"
#include "core/model/memory_profile.hpp"
#include "core/model/simulate.hpp"
#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/waits.hpp"

namespace hocket {

struct HostGroups {
  /// Per host with ranks, in the order of the network: its ranks. The first is its leader.
  std::vector<std::vector<Rank>> ranks;
  std::vector<std::uint32_t> host_of;   ///< per rank
  std::vector<std::uint32_t> local_of;  ///< per rank: its place among the ranks of its host

  [[nodiscard]] std::size_t count() const { return ranks.size(); }
  [[nodiscard]] Rank leader(std::size_t host) const { return ranks[host].front(); }
  /// Ranks on the fullest host.
  [[nodiscard]] std::size_t most() const;
  /// True if all hosts have the same number of ranks.
  [[nodiscard]] bool equal() const { return most() * count() == host_of.size(); }
  /// Hosts by the rank of their leader: in this order aggregates lie in memory.
  [[nodiscard]] std::vector<std::size_t> by_leader() const;
};

/// `host_of`: a number for each rank, equal on one host. Hosts come by number, their ranks by rank.
[[nodiscard]] HostGroups group_by_host(std::span<const std::uint32_t> host_of);

/// The ranks of a network as it numbers them.
[[nodiscard]] HostGroups groups_of(const Network& network);

/// A copy of the network with one rank on every host: rank h is host h of groups_of(). Where balanced routes depend on
/// how many ranks hosts have, it gets the whole's as forwarding tables, so that a plan file keeps them.
[[nodiscard]] Network one_rank_a_host(const Network& network);

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

/// A rank's copy between its buffers and the memory of its host. `piece` names the bytes: of a message, of a
/// contribution (target: everyone), or of a rank's vector in a reduction (origin: whose, target: everyone).
struct LocalCopy {
  Rank rank = 0;
  std::uint64_t at = 0;  ///< offset in the memory of the rank's host
  Piece piece;
  bool operator==(const LocalCopy&) const = default;
};

/// A part of the vector that a rank adds up for its host: `length` bytes each from `from`, into `to`.
struct LocalSum {
  Rank rank = 0;
  std::uint64_t to = 0, length = 0;
  std::vector<std::uint64_t> from;
  bool operator==(const LocalSum&) const = default;
};

/// One range of bytes that a message moves from the memory of one host into that of another.
struct Carry {
  std::uint64_t from = 0, to = 0, length = 0;
  bool operator==(const Carry&) const = default;
};

struct TwoLevelExchange {
  Demand demand;                      ///< between ranks
  HostGroups groups;                  ///< the ranks by host
  std::vector<std::uint64_t> memory;  ///< bytes of each host
  std::vector<LocalCopy> puts;
  std::vector<LocalSum> sums;                 ///< reductions
  Demand between;                             ///< between hosts, one rank each
  Schedule schedule{0, 0};                    ///< schedule of `between`
  std::vector<std::uint64_t> carry_begin{0};  ///< transfer i moves [carry_begin[i], carry_begin[i + 1]) of `carries`
  std::vector<Carry> carries;
  std::vector<LocalCopy> takes;

  [[nodiscard]] std::span<const Carry> of_transfer(std::uint64_t transfer) const {
    return {carries.data() + carry_begin[transfer], carries.data() + carry_begin[transfer + 1]};
  }
};

/// Empty if exchanges of this demand can be made in two levels, else the reason why not.
[[nodiscard]] std::string_view why_not_two_level(const HostGroups& groups, const Demand& demand);

/// The demand between hosts, summed over their ranks: irregular where two-level messages differ in size. An
/// all-reduce's vector is cut into a block for each host. Throws InputError if the demand has no two-level form.
[[nodiscard]] Demand demand_between(const HostGroups& groups, const Demand& demand);

/// The demand for which a schedule is made: for an all-to-all always an equal all-to-all, even if hosts differ in
/// ranks, as the order of its messages does not depend on sizes; otherwise demand_between().
[[nodiscard]] Demand scheduled_between(const HostGroups& groups, const Demand& demand);

/// `schedule`: of demand_between() or scheduled_between(); of direct messages each takes the bytes of its aggregate.
/// What a host passes on lies behind its own aggregates. Throws InputError for what does not fit.
[[nodiscard]] TwoLevelExchange aggregate(HostGroups groups, Demand demand, const Schedule& schedule);

/// Seconds.
struct TwoLevelTime {
  double put = 0;      ///< until all ranks of the slowest host have put in what they have, and added it up
  double between = 0;  ///< the schedule, simulated
  double take = 0;     ///< until the slowest rank has taken what is its own
  [[nodiscard]] double seconds() const { return put + between + take; }
};

/// Copies cost what runs of their length cost in shared memory (Work::pull), with as many ranks at it as there are,
/// each on a core: ranks beyond the cores of `memory` count as so many. Ranks of a host meet twice. `costs` are those
/// of the messages of leaders; of `waits` is the window. None if the simulation takes more than `steps`.
[[nodiscard]] std::optional<TwoLevelTime> two_level_seconds(const Network& between, const TwoLevelExchange& exchange,
                                                            const Waits& waits, const ModelParameters& costs,
                                                            const MemoryProfile& memory, std::uint64_t steps);

}  // namespace hocket
