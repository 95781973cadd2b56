#pragma once
/// Hosts of one switch that take each other's turns to send.
#include <cstdint>
#include <span>
#include <vector>

#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket::algorithms {

/// Ranks by the switch that their host's only link leads to. From there on messages go by their destination alone, so
/// that a phase may have any of them send to it: while phases are packed only the number of sends from a switch counts.
class SendPools {
 public:
  /// Every rank is a pool of its own where a host has several ranks, links or ports, or routes are explicit.
  explicit SendPools(const Network& network, bool pooled);

  [[nodiscard]] std::uint32_t of(Rank rank) const { return of_[rank]; }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(members_.size()); }
  [[nodiscard]] std::span<const Rank> members(std::uint32_t pool) const { return members_[pool]; }
  /// True if some pool has several ranks.
  [[nodiscard]] bool any_shared() const { return members_.size() < of_.size(); }

  /// Deals the messages of each pool out to its ranks so that each sends at most one a phase, and one to every rank. A
  /// message to itself, which a schedule need not have, is listed for each rank of a pool of several: every
  /// destination then has as many messages from a pool as that has ranks, so that edge colours of phases and
  /// destinations are senders (König). Removes those messages from `hops` and `phase_of`.
  void deal(std::uint64_t phases, std::vector<Hop>& hops, std::vector<std::uint32_t>& phase_of) const;

 private:
  std::vector<std::uint32_t> of_;
  std::vector<std::vector<Rank>> members_;
};

/// Messages and the phase of each.
struct Packed {
  std::uint64_t phases = 0;
  std::vector<Hop> hops;
  std::vector<std::uint32_t> phase_of;
};

}  // namespace hocket::algorithms
