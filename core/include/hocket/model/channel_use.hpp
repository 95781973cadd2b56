#pragma once
/// Which transfers of a schedule use a channel, and how many.
#include <cstdint>
#include <span>
#include <vector>

#include "hocket/network/network.hpp"
#include "hocket/schedule/schedule.hpp"

namespace hocket {

/// Per listed channel the transfers whose routes contain it, in schedule order.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> transfers_on(const Network& network, const Schedule& schedule,
                                                                   std::span<const Channel> channels);

/// More numbers than this are no picture (512 MiB).
inline constexpr std::uint64_t max_channel_uses = std::uint64_t{1} << 27;

/// How many transfers of each phase use each channel: phase p's counts are [p · channels, (p + 1) · channels).
/// Throws InputError for a rank that the network does not have, and for more than `max_channel_uses` numbers.
[[nodiscard]] std::vector<std::uint32_t> channel_use(const Network& network, const Schedule& schedule);

}  // namespace hocket
