#pragma once
/// Exchanges in two levels: the ranks of a host put what they have into its memory, the leaders carry it between hosts
/// by a schedule, and every rank takes what is its own.
///
/// The runtime's aggregates take their places from the layouts here, so that what the verifier proves is what runs; the
/// rest is told in docs/decisions/0068-two-levels-run-as-laid-out.md.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
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
  std::vector<std::size_t> by_leader;   ///< hosts by the rank of their leader: in this order aggregates lie in memory
  std::size_t most = 0, fewest = 0;     ///< ranks on the fullest host, and on the emptiest one

  [[nodiscard]] std::size_t count() const { return ranks.size(); }
  [[nodiscard]] Rank leader(std::size_t host) const { return ranks[host].front(); }
  /// Blocks of an aggregate between two hosts.
  [[nodiscard]] std::uint64_t blocks(std::size_t src, std::size_t dst) const {
    return ranks[src].size() * ranks[dst].size();
  }
  /// True if all hosts have the same number of ranks.
  [[nodiscard]] bool equal() const { return most == fewest; }
};

/// `host_of`: a number for each rank, equal on one host. Hosts come by number, their ranks by rank.
[[nodiscard]] HostGroups group_by_host(std::span<const std::uint32_t> host_of);

/// The ranks of a network as it numbers them.
[[nodiscard]] HostGroups groups_of(const Network& network);

/// A copy of the network with one rank on every host: rank h is host h of groups_of(). Where balanced routes depend on
/// how many ranks hosts have, it gets the whole's as forwarding tables, so that a plan file keeps them.
[[nodiscard]] Network one_rank_a_host(const Network& network);

// Layouts of a host's memory: offsets in bytes from the beginning of a call's. `tail`: bytes behind each aggregate for
// what its host tells beside; schedules have none, since the length of a message tells.

/// Layout of an all-to-all or an irregular exchange. An aggregate (two-level message) is all that the ranks of one host
/// have for those of another: a row for each rank that sends, in it a block for each rank that gets. Those that go out
/// come first, then those that come in. What a host has for its own ranks is one of those that go out, and is read
/// there.
class AggregateLayout {
 public:
  /// `bytes(src, dst)`: of the aggregate from one host to another, with its tail.
  template <class Bytes>
  AggregateLayout(const HostGroups& groups, std::size_t here, Bytes bytes) : here_(here), begin_(groups.count()) {
    for (const std::size_t there : groups.by_leader) {
      begin_[there] = {out_, in_};
      out_ += bytes(here, there);
      in_ += bytes(there, here);
    }
  }

  [[nodiscard]] std::uint64_t going_out(std::size_t there) const { return begin_[there].first; }
  [[nodiscard]] std::uint64_t coming_in(std::size_t there) const {
    return there == here_ ? going_out(here_) : incoming() + begin_[there].second;
  }
  /// Begin of all that come in.
  [[nodiscard]] std::uint64_t incoming() const { return out_; }
  /// Bytes of all aggregates.
  [[nodiscard]] std::uint64_t memory() const { return out_ + in_; }
  /// Number of a block in its aggregate, by the places of sender and receiver on their hosts; so many may receive.
  [[nodiscard]] static std::uint64_t block(std::size_t sender, std::size_t receiver, std::size_t receivers) {
    return sender * receivers + receiver;
  }

 private:
  std::size_t here_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> begin_;  ///< per host: among those out to it, those in from it
  std::uint64_t out_ = 0, in_ = 0;                              ///< bytes in all
};

/// Layout of an all-gather: the contributions of all ranks in the order of the leaders of their hosts, those of a host
/// in the order of its ranks. It is the same on all hosts.
struct GatherLayout {
  struct Range {
    std::uint64_t begin = 0, bytes = 0;
  };

  /// `bytes(rank)`: of its contribution.
  template <class Bytes>
  GatherLayout(const HostGroups& groups, Bytes bytes, std::uint64_t tail = 0)
      : of_rank(groups.host_of.size()), of_host(groups.count()) {
    for (const std::size_t host : groups.by_leader) {
      of_host[host].begin = memory;
      for (const Rank rank : groups.ranks[host]) {
        of_rank[rank] = memory;
        memory += bytes(rank);
      }
      memory += tail;
      of_host[host].bytes = memory - of_host[host].begin;
    }
  }

  std::vector<std::uint64_t> of_rank;  ///< begin of the rank's contribution
  std::vector<Range> of_host;          ///< contributions of the host's ranks, and their tail
  std::uint64_t memory = 0;
};

/// Layout of an all-reduce: a vector for each rank of the host, then their sum, each starting on a cache line.
struct SumLayout {
  static constexpr std::uint64_t line = 64;

  /// `count`: elements of a vector, of `element` bytes.
  SumLayout(std::uint64_t count, std::uint64_t element)
      : count(count), element(element), stride((bytes() + line - 1) / line * line) {}
  [[nodiscard]] std::uint64_t bytes() const { return count * element; }
  /// Offset of a rank's vector by the rank's place on its host; the place after the last rank's is that of the sum.
  [[nodiscard]] std::uint64_t vector_of(std::size_t local) const { return local * stride; }
  [[nodiscard]] std::uint64_t memory(std::size_t ranks) const { return (ranks + 1) * stride; }
  /// Begin of a part of a vector: of `parts` ranks each adds up one, of `parts` hosts each has one as its block.
  [[nodiscard]] std::uint64_t part(std::size_t i, std::size_t parts) const {
    return part_begin(count, i, parts) * element;
  }

  std::uint64_t count, element, stride;
};

/// Vectors that the memory of the fullest host holds: of all that a rank sends, of what all contribute, or of a
/// reduction. 0 of irregular exchanges, whose messages must be known.
[[nodiscard]] std::uint64_t vectors_held(const HostGroups& groups, Pattern pattern);

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
