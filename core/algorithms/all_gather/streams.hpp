#pragma once
/// All-gather as streams: chunks that travel along fixed edges between ranks (rings, and rings within
/// rings).
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/algorithms/registry.hpp"
#include "core/demand/demand.hpp"
#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/verify.hpp"

namespace hocket::algorithms {

/// Places [begin, end) in the order of a ring.
struct Places {
  std::uint32_t begin = 0, end = 0;
  [[nodiscard]] std::uint32_t size() const { return end - begin; }
  [[nodiscard]] bool contains(std::uint32_t place) const { return begin <= place && place < end; }
  bool operator==(const Places&) const = default;
};

/// An edge carries the chunks whose origins have a place in `outer` and none in `inner`.
struct StreamEdge {
  Rank src = 0, dst = 0;
  std::uint32_t rail = 0;
  Places outer, inner;
};

/// The ranks' contributions in bytes. `unequal`: the largest one exceeds the mean by more than a tenth.
struct Contributions {
  explicit Contributions(const Demand& demand) {
    for (Rank rank = 0; rank < demand.ranks; ++rank) {
      const auto bytes = static_cast<double>(demand.contribution(rank));
      all += bytes;
      largest = std::max(largest, bytes);
    }
    unequal = largest > 1.1 * all / demand.ranks;
  }
  double all = 0, largest = 0;
  bool unequal = false;
};

struct Chunk {
  Rank origin = 0;
  std::uint32_t rail = 0;
  std::uint64_t offset = 0, length = 0;
};

struct Streams {
  std::vector<std::vector<std::uint32_t>> place;  ///< per rail and rank: its place in the rail's ring
  std::vector<StreamEdge> edges;
  std::vector<Chunk> chunks;

  [[nodiscard]] bool carries(const StreamEdge& edge, const Chunk& chunk) const {
    const std::uint32_t at = place[chunk.rail][chunk.origin];
    return edge.rail == chunk.rail && edge.outer.contains(at) && !edge.inner.contains(at);
  }
};

/// Adds a rail: the ring that visits the ranks in `order`. Each of `closed` (nested or disjoint, of
/// two or more places) is a ring of its own: what its members hold goes round inside over an edge from
/// its last to its first member, so that only what others hold enters it, and enters it once.
void add_ring(Streams& streams, std::span<const Rank> order, std::span<const Places> closed);

/// Splits every contribution over `rails` rails in equal parts; and where contributions differ, into
/// chunks, so that a large one flows through the rings in a pipeline instead of hop by hop. `rate`:
/// bytes/s, for the per-message cost that a chunk must be worth. `finer`: parts to make of each besides, if it
/// is large enough.
[[nodiscard]] std::vector<Chunk> split_contributions(const Demand& demand, std::uint32_t rails, double rate,
                                                     const AlgorithmOptions& costs, std::uint32_t finer = 1);

/// Splits every contribution over `rails` rails, and the part of each rail into even chunks of at most `longest` bytes
/// (1 or more).
[[nodiscard]] std::vector<Chunk> cut_contributions(const Demand& demand, std::uint32_t rails, double longest);

/// Speed of a copy between ranks of one host, in host speeds.
inline constexpr double memory_speed = 8;

/// Cost of the streams if every rail carries its share of every contribution.
struct StreamLoad {
  double seconds = 0;  ///< busy time of the busiest channel or (one-port) port
  double mean = 0;     ///< fourth powers over all of them: falls when one of several busiest is relieved
  double sent = 0;     ///< bytes of the busiest sender
  auto operator<=>(const StreamLoad&) const = default;
};
[[nodiscard]] StreamLoad stream_load(const Network& network, const Demand& demand, const Streams& streams,
                                     PortModel ports);

/// The first ring that "switch-ring" looks at, which is at the bound where each host has one rank and no link is slower
/// than the fastest host's.
[[nodiscard]] std::vector<Rank> one_ring(const Network& network, const Demand& demand);

/// The rails of the algorithm "rails", and their load.
[[nodiscard]] Streams host_rails(const Network& network, const Demand& demand, StreamLoad& load);

/// List scheduling in the order of time: a chunk goes over an edge when it has arrived and ports and
/// channels have room, over the edge with the most loaded channel first. Its phase is the first one
/// after all it follows. A send takes its per-message cost and its bytes on the slowest channel. Deterministic;
/// near-linear in sends × route length. `seconds`: when the last send is over.
[[nodiscard]] Schedule schedule_streams(const Network& network, const Demand& demand, const Streams& streams,
                                        PortModel ports, const AlgorithmOptions& costs, double* seconds = nullptr);

}  // namespace hocket::algorithms
