#pragma once
/// Costs of messages by rule of thumb, where nothing was measured. Sources: docs/measuring.md.
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/model/contention.hpp"
#include "core/network/network.hpp"

namespace hocket {

/// Seconds, and bytes per second.
struct CostProfile {
  std::string_view name;
  double rate;          ///< rate of a host's link
  double latency;       ///< between two hosts
  double send;          ///< the sender's processor, for each message
  double receive;       ///< the receiver's
  double token;         ///< on top of the latency
  std::uint64_t eager;  ///< bytes: longer messages wait for their receiver
  double wire;          ///< bytes on the wire for each of a message
  Contention contention;
};

[[nodiscard]] std::span<const CostProfile> cost_profiles();

/// The profile nearest to the rate of a host's link first of all, then to its latency; of a single host that of shared
/// memory.
[[nodiscard]] const CostProfile& profile_of(const Network& network);

}  // namespace hocket
