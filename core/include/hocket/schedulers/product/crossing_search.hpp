#pragma once
/// Crossings by local search, for sets of parts without a closed form.
#include <vector>

#include "hocket/schedulers/product/crossing.hpp"

namespace hocket::product {

/// As few phases as a bounded, deterministic search finds (`fires` is left open); empty if it finds none.
[[nodiscard]] std::vector<CrossPhase> search_crossing(const PartSets& left, const PartSets& right);

}  // namespace hocket::product
