#pragma once
/// Packing messages one by one into the earliest phase that has room.
#include "core/algorithms/all_to_all/packed.hpp"
#include "core/algorithms/all_to_all/send_pools.hpp"
#include "core/network/network.hpp"

namespace hocket::algorithms {

/// First fit of an all-to-all in several orders; the one with the fewest phases, the first that has
/// `bound` phases. Ranks of a pool of several have a message to themselves, too. Near-linear in messages × route
/// length.
[[nodiscard]] Packed first_fit(const Network& network, const SendPools& pools, std::uint64_t bound);

}  // namespace hocket::algorithms
