#include "core/schedule/lockstep.hpp"

#include <algorithm>

namespace hocket {

double lockstep_seconds(const Network& network, const Schedule& schedule, double alpha) {
  double seconds = 0;
  std::vector<Channel> route, used;
  std::vector<double> bytes(network.channels(), 0);
  std::vector<std::uint32_t> sends(alpha > 0 ? schedule.ranks() : 0, 0);
  for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase) {
    double longest = 0;
    std::uint32_t most_sends = 0;
    if (alpha > 0) {
      for (const Hop hop : schedule.phase(phase)) most_sends = std::max(most_sends, ++sends[hop.src]);
      for (const Hop hop : schedule.phase(phase)) sends[hop.src] = 0;
    }
    for (std::uint64_t i = schedule.phase_begin()[phase]; i < schedule.phase_begin()[phase + 1]; ++i) {
      const auto length = static_cast<double>(schedule.length(i));
      route.clear();
      network.append_route(schedule.hops()[i].src, schedule.hops()[i].dst, route);
      for (const Channel channel : route) {
        bytes[channel] += length;
        used.push_back(channel);
        longest = std::max(longest, bytes[channel] / network.rate(channel));
      }
    }
    for (const Channel channel : used) bytes[channel] = 0;
    used.clear();
    seconds += alpha * most_sends + longest;
  }
  return seconds;
}

}  // namespace hocket
