#pragma once
/// Orders of a job's ranks in which the calls of their MPI library load the wires least.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/network/network.hpp"
#include "core/order/traffic.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket::order {

/// Freedom that whoever starts the ranks leaves.
enum class Freedom : std::uint8_t {
  hosts,  ///< ranks fill the hosts one after the other; the order of hosts can be chosen
  ranks,  ///< every rank can be put on any place
};

/// `place[r]`: the number that rank r has in the network, where ranks are numbered by hosts.
struct Order {
  std::vector<Rank> place;
  std::string how;
};

/// Ranks that fill these hosts one after the other.
[[nodiscard]] std::vector<Rank> filled(const Network& network, std::span<const Node> hosts);

/// The order with the least Wires::score of those compared: the given one (ranks fill the hosts of `given` in their
/// order), host_orders(), with Freedom::ranks also ranks dealt out to hosts in turn; of up to seven hosts every order
/// of theirs; and for listed messages a mapping by bisected() and exchanged(). The given one is kept where the score of
/// the best is not lower by 0.001 and more. The same on every machine. Throws InputError where `given` are not the
/// hosts of the network.
[[nodiscard]] Order order_ranks(const Network& network, std::span<const Node> given, std::span<const Call> calls,
                                Freedom freedom);

/// The schedule with each rank in its place.
[[nodiscard]] Schedule placed(const Schedule& schedule, std::span<const Rank> place);

}  // namespace hocket::order
