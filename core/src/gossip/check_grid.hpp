#pragma once
#include "hocket/gossip/steps.hpp"

namespace hocket::gossip {

/// Throws InputError for grids without processors, or with more than schedules are made for.
void check_grid(const Grid& grid);

}  // namespace hocket::gossip
