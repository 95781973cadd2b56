#pragma once
/// Proof of a schedule that goes round one ring, without writing it down.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hocket/demand/demand.hpp"
#include "hocket/network/network.hpp"

namespace hocket {

/// What a look at every edge of a ring finds.
struct RingCertificate {
  std::uint64_t edges = 0;
  std::uint64_t channels = 0;         ///< of their routes
  std::uint64_t collisions = 0;       ///< channels of a route that another edge uses
  std::uint64_t missing = 0;          ///< ranks that the ring does not visit, or visits twice
  std::vector<std::string> findings;  ///< the first of them

  [[nodiscard]] bool contention_free() const { return collisions == 0; }
  [[nodiscard]] bool complete() const { return missing == 0; }
  [[nodiscard]] bool ok() const { return contention_free() && complete(); }
};

/// An all-gather in which every rank hands a block to the next in `order` in each phase, its own first and then what
/// has come in, or a reduce-scatter that does the same backwards. All phases use the same edges, so one look at each
/// proves all transfers. Linear in the routes. Throws InputError for ranks that there are not, and for other patterns.
[[nodiscard]] RingCertificate verify_ring(const Network& network, std::span<const Rank> order, Pattern pattern);

}  // namespace hocket
