#pragma once
/// Use of channels by a schedule: which transfers, and how many.
#include <cstdint>
#include <span>
#include <vector>

#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket {

/// Per listed channel the transfers whose routes contain it, in schedule order.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> transfers_on(const Network& network, const Schedule& schedule,
                                                                   std::span<const Channel> channels);

/// Most numbers in one call (512 MiB); more are refused.
inline constexpr std::uint64_t max_channel_uses = std::uint64_t{1} << 27;

/// Counts the transfers of the phases [first, last) on each channel, phase by phase: entries [(p - first) · channels,
/// (p - first + 1) · channels) are those of phase p. Throws InputError for a rank that the network does not have, for
/// phases that the schedule does not have, and for more than `max_channel_uses` numbers.
[[nodiscard]] std::vector<std::uint32_t> channel_use(const Network& network, const Schedule& schedule,
                                                     std::uint64_t first, std::uint64_t last);

}  // namespace hocket
