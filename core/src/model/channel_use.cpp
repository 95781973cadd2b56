#include "hocket/model/channel_use.hpp"

namespace hocket {

std::vector<std::vector<std::uint32_t>> transfers_on(const Network& network, const Schedule& schedule,
                                                     std::span<const Channel> channels) {
  constexpr std::uint32_t none = ~std::uint32_t{0};
  std::vector<std::uint32_t> slot(network.channels(), none);
  for (std::uint32_t i = 0; i < channels.size(); ++i) {
    if (channels[i] >= network.channels()) throw InputError("no such channel");
    slot[channels[i]] = i;
  }
  std::vector<std::vector<std::uint32_t>> users(channels.size());
  std::vector<Channel> route;
  for (std::uint32_t transfer = 0; transfer < schedule.size(); ++transfer) {
    const Hop hop = schedule.hops()[transfer];
    if (hop.src >= network.ranks() || hop.dst >= network.ranks()) throw InputError("no such rank");
    route.clear();
    network.append_route(hop.src, hop.dst, route);
    for (const Channel channel : route)
      if (slot[channel] != none) users[slot[channel]].push_back(transfer);
  }
  return users;
}

}  // namespace hocket
