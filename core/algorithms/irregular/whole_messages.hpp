#pragma once
/// Schedules of irregular demands that split no message.
#include <cstdint>
#include <span>

#include "core/demand/demand.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket::algorithms {

/// Message i of the matrix, counted row by row, goes in phase phase_of[i] < phases. Linear time.
[[nodiscard]] Schedule whole_messages(const Demand& demand, std::span<const std::uint32_t> phase_of,
                                      std::uint32_t phases);

}  // namespace hocket::algorithms
