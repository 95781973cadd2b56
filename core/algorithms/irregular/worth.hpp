#pragma once
/// Decision on which irregular exchanges gain by a schedule.
#include <cstdint>

#include "core/demand/demand.hpp"
#include "core/network/network.hpp"

namespace hocket {

/// Effective number of equal flows among messages of different sizes: (sum of sizes)² / sum of squares. Where few large
/// ones hold most of the bytes, the others are soon gone and collide with nothing.
struct Flows {
  double bytes = 0, squares = 0;
  void add(std::uint64_t length) {
    const auto size = static_cast<double>(length);
    bytes += size;
    squares += size * size;
  }
  [[nodiscard]] double number() const { return squares > 0 ? bytes * bytes / squares * (1 + 1e-9) : 0; }
};

/// Limits above which a schedule is worth its tokens: messages are large enough, and so many of them share a wire, or
/// make for one host, that posted all at once they would collide. Messages count as Flows.
struct WorthLimits {
  std::uint64_t message_bytes = 16384;  ///< mean size of a message
  std::uint64_t flows = 96;             ///< messages on the most loaded channel, per unit of its capacity
  std::uint64_t senders = 16;           ///< messages from other hosts into the host that gets most

  /// True if so many flows or senders, counted in the same way, are enough.
  [[nodiscard]] bool reached(double by_flows, double by_senders) const {
    return by_flows >= static_cast<double>(flows) || by_senders >= static_cast<double>(senders);
  }
};

/// Only hosts that take about as long as the busiest channel can hold the exchange up: this part of its time.
inline constexpr double holds_up = 0.75;

/// True when the messages are large enough and one of the other limits is reached. Where few share the
/// bottleneck, posting everything at once comes close to the bound by itself.
[[nodiscard]] bool worth_scheduling(const Network& network, const Demand& demand, const WorthLimits& limits = {});

}  // namespace hocket
