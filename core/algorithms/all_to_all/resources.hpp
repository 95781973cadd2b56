#pragma once
/// Resources that messages compete for: send ports, receive ports and channels.
#include <cstdint>
#include <span>
#include <vector>

#include "core/algorithms/all_to_all/send_pools.hpp"
#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket::algorithms {

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
