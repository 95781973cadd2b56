#pragma once
/// Which transfers of a schedule use a channel.
#include <cstdint>
#include <span>
#include <vector>

#include "hocket/network/network.hpp"
#include "hocket/schedule/schedule.hpp"

namespace hocket {

/// Per listed channel the transfers whose routes contain it, in schedule order.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> transfers_on(const Network& network, const Schedule& schedule,
                                                                   std::span<const Channel> channels);

}  // namespace hocket
