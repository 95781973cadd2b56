#pragma once
/// Costs of messages by rule of thumb, where nothing was measured. Sources: docs/measuring.md.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/network/network.hpp"

namespace hocket {

/// Fractions of a channel's rate that 1, 2, 4, 8 flows carry together, if each could fill it alone; for one kind of
/// channel.
using SharedRate = std::array<double, 4>;

struct Contention {
  SharedRate host{1, 1, 1, 1};         ///< channels from or to a host
  SharedRate switch_link{1, 1, 1, 1};  ///< channels between switches
  bool operator==(const Contention&) const = default;
};

/// The fraction for any number of flows: linear between the given ones; beyond eight that of eight.
[[nodiscard]] double shared_rate(const SharedRate& part, double flows);

/// Throws InputError for parts that are not above 0 and at most 1.
void check_contention(const Contention& contention);

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
