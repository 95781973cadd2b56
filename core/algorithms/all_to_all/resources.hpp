#pragma once
/// Resources that messages compete for: send ports, receive ports and channels.
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

/// The ports and channels that can ever be full, numbered from 0. A channel as wide as the number of ports of the ranks
/// that send over it, or that receive over it, never is: the ports see to that. Without the hosts' own links
/// and wide inter-switch links, routes are two to three times shorter.
class Resources {
 public:
  /// `hops`: the messages to be scheduled. The ranks of a pool share a send port that is as wide as they are many.
  /// Linear in messages × route length.
  Resources(const Network& network, const SendPools& pools, std::span<const Hop> hops);

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(capacity_.size()); }
  /// Messages that the resource carries in one phase.
  [[nodiscard]] std::uint32_t capacity(std::uint32_t resource) const { return capacity_[resource]; }
  /// Messages that need it.
  [[nodiscard]] std::uint64_t load(std::uint32_t resource) const { return load_[resource]; }
  /// Appends what a message needs, in the order of its route from port to port.
  void append(Hop hop, std::vector<std::uint32_t>& needs) const;

 private:
  static constexpr std::uint32_t never_full = ~std::uint32_t{0};

  const Network& network_;
  const SendPools& pools_;
  std::vector<std::uint32_t> number_;  ///< numbers of the pools' send ports, receive ports and channels; or never_full
  std::vector<std::uint32_t> capacity_;
  std::vector<std::uint64_t> load_;
  mutable std::vector<Channel> route_;
};

}  // namespace hocket::algorithms
