#pragma once
/// Bounds of an all-to-all whatever its routes.
#include <optional>
#include <span>
#include <vector>

#include "core/demand/demand.hpp"
#include "core/network/network.hpp"

namespace hocket {

/// A bound and its certificate. `prices`: one per channel, at least 0; what a byte pays for crossing it.
struct FreeRoutesBound {
  double seconds = 0;
  std::vector<double> prices;
  bool exact = false;  ///< routes are known, split over several ways, that take no more than 1.001 times as long
};

/// Seconds that no all-to-all takes less, whatever its routes, by prices of the channels: the bytes pay at least what
/// their cheapest ways cost, and in a second all channels together earn no more than the sum of price × rate (the dual
/// of the maximum concurrent flow: Shahrokhi and Matula, "The maximum concurrent flow problem", JACM 1990). In a graph
/// and a tree hosts pass nothing on, in grids they do. Throws InputError for prices that are negative, not finite, all
/// 0, or not one per channel; for other demands; and for networks of explicit routes, whose links are not known.
[[nodiscard]] double priced_seconds(const Network& network, const Demand& demand, std::span<const double> prices);

/// Good prices: those of equal prices, sum of distances over capacity, or better ones that grow where cheapest ways are
/// busy (multiplicative weights, each step looking one ahead), as many steps as about half a second has. None where the
/// first step alone would take many seconds: thousands of switches with hosts. Throws InputError as priced_seconds().
[[nodiscard]] std::optional<FreeRoutesBound> price_channels(const Network& network, const Demand& demand);

}  // namespace hocket
