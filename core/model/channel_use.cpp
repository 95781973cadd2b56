#include "core/model/channel_use.hpp"

#include <string>

namespace hocket {
namespace {

void append_route(const Network& network, Hop hop, std::vector<Channel>& route) {
  if (hop.src >= network.ranks() || hop.dst >= network.ranks()) throw InputError("no such rank");
  network.append_route(hop.src, hop.dst, route);
}

}  // namespace

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
    route.clear();
    append_route(network, schedule.hops()[transfer], route);
    for (const Channel channel : route)
      if (slot[channel] != none) users[slot[channel]].push_back(transfer);
  }
  return users;
}

std::vector<std::uint32_t> channel_use(const Network& network, const Schedule& schedule, std::uint64_t first,
                                       std::uint64_t last) {
  if (first > last || last > schedule.phases()) throw InputError("no such phases");
  const std::uint64_t channels = network.channels();
  if (channels > 0 && last - first > max_channel_uses / channels)
    throw InputError(std::to_string(last - first) + " phases on " + std::to_string(channels) +
                     " channels are too many to count the use of each at once");
  std::vector<std::uint32_t> use((last - first) * channels, 0);
  std::vector<Channel> route;
  for (std::uint64_t phase = first; phase < last; ++phase)
    for (const Hop hop : schedule.phase(phase)) {
      route.clear();
      append_route(network, hop, route);
      for (const Channel channel : route) ++use[(phase - first) * channels + channel];
    }
  return use;
}

}  // namespace hocket
