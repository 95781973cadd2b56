#pragma once
/// Local search: units exchange their slots.
#include <span>
#include <vector>

#include "core/network/network.hpp"
#include "core/order/units.hpp"

namespace hocket::order {

/// Improves the slot of each unit. Compared is the fourth power mean of the channels' times, which is close to the
/// longest and smooth; what is returned is best by Wires::score. Exchanges with the neighbours of a unit's partners and
/// with random units are tried until a round finds none, or until so many routes have been followed that it takes some
/// seconds. The same on every machine.
[[nodiscard]] std::vector<Unit> exchanged(const Network& network, const Units& units, const UnitGraph& graph,
                                          std::span<const Call> calls, std::vector<Unit> slot);

/// The place of each rank.
[[nodiscard]] std::vector<Rank> places_of(const Units& units, std::span<const Unit> slot);

}  // namespace hocket::order
