#pragma once
/// All-to-alls of few bytes between hosts: hosts forward each other's two-level messages, so that there are fewer.
#include <cstdint>
#include <vector>

#include "core/demand/demand.hpp"
#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket {

/// Bruck's index algorithm with a radix (Bruck et al., IEEE TPDS 8 (1997), section 3), between hosts in the order of
/// the switches: a bundle for the host at distance d goes by the digits of d, the lowest first. Two hosts exchange
/// (radix - 1) · ⌈log_radix hosts⌉ messages at most.
///
/// Messages of a round that would meet are put into phases of their own, each into the first with room after what its
/// sender passes on has come: contention-free on any network. `demand`: an all-to-all or irregular, of `network`'s
/// ranks, one a host. Throws InputError for another one, or a radix below 2.
[[nodiscard]] Schedule combined_all_to_all(const Network& network, const Demand& demand, std::uint32_t radix);

/// Radices worth trying for so many hosts: the more of a digit, the more messages and the fewer bytes.
[[nodiscard]] std::vector<std::uint32_t> radices(std::uint32_t hosts);

}  // namespace hocket
