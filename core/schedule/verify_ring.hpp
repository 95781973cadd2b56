#pragma once
/// Proof of a schedule that goes round one ring, without writing it down.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/demand/demand.hpp"
#include "core/network/network.hpp"
#include "core/schedule/closed_form.hpp"

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

struct SampleCertificate {
  std::uint64_t messages = 0;         ///< drawn
  std::uint64_t channels = 0;         ///< channels on their routes, each checked
  std::uint64_t collisions = 0;       ///< messages that do not have a channel or a port to themselves
  std::uint64_t unordered = 0;        ///< messages whose tokens do not keep them behind those before them
  std::vector<std::string> findings;  ///< the first few

  [[nodiscard]] bool ok() const { return collisions == 0 && unordered == 0; }
};

/// Draws messages, with repetition. For each, on every channel of its route (by the network) and at both ports, it asks
/// the inverted closed form which message is there in the phase that the formula gives. The answer can name one message
/// only, so of two that meet at least one is found out, whether the inversion is right or not: if nothing is found in n
/// draws, fewer than 6 in n messages meet another, with a probability of 95 %. Then it checks the tokens: each
/// neighbour in time must name the message in turn, and release it at the right one of its sends. Equal seeds draw
/// equal messages.
[[nodiscard]] SampleCertificate verify_sample(const Network& network, const ClosedForm& form, std::uint64_t messages,
                                              std::uint64_t seed = 1);

}  // namespace hocket
