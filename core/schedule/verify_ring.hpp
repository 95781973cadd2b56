#pragma once
/// Proof of a schedule that goes round one ring, without writing it down.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/demand/demand.hpp"
#include "core/network/network.hpp"

namespace hocket {

/// A wait at the turn of an all-reduce: the edge of the all-gather that begins at place `waiting` of the ring shares a
/// channel with the edge of the reduce-scatter that ends at place `releasing`. `capacity`: the least of such a channel.
struct TurnWait {
  std::uint32_t waiting, releasing, capacity;
  friend bool operator==(const TurnWait&, const TurnWait&) = default;
};

/// Result of a check of every edge of a ring.
struct RingCertificate {
  std::uint64_t edges = 0;
  std::uint64_t channels = 0;         ///< channels on their routes
  std::uint64_t collisions = 0;       ///< channels of a route that another edge uses
  std::uint64_t missing = 0;          ///< ranks that the ring does not visit, or visits twice
  std::uint64_t unordered = 0;        ///< channels that both halves of an all-reduce use, without a wait between
  std::vector<std::string> findings;  ///< the first of them

  [[nodiscard]] bool contention_free() const { return collisions == 0 && unordered == 0; }
  [[nodiscard]] bool complete() const { return missing == 0; }
  [[nodiscard]] bool ok() const { return contention_free() && complete(); }
};

/// An all-gather in which every rank hands a block to the next in `order` in each phase, its own first and then what
/// has come in, a reduce-scatter that does the same backwards, or an all-reduce that does both. All phases of a half
/// use the same edges, so one look at each proves all transfers; at the turn `waits`, sorted, must keep them apart.
/// Linear in the routes. Throws InputError for ranks that there are not, and for other patterns.
[[nodiscard]] RingCertificate verify_ring(const Network& network, std::span<const Rank> order, Pattern pattern,
                                          std::span<const TurnWait> waits = {});

}  // namespace hocket
