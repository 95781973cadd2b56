#include "core/schedule/token_time.hpp"

#include <algorithm>
#include <limits>
#include <vector>

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
      for (const Channel channel : network.find_route(schedule.hops()[i].src, schedule.hops()[i].dst, route)) {
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

namespace {

double seconds_by_places(const Network& network, const Schedule& schedule) {
  ChannelPlaces<double> places(network, 1, 0);                                // times at which they are free again
  std::vector<double> free(schedule.ranks(), 0), until(schedule.ranks(), 0);  // before, and with, this phase's sends
  std::vector<Channel> route;
  std::vector<std::uint32_t> order;
  double seconds = 0;
  for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase) {
    order_by_sender(schedule, phase, order);
    for (const std::uint32_t i : order) {
      const auto [src, dst] = schedule.hops()[i];
      double start = free[src];
      for (const Channel channel : network.find_route(src, dst, route)) start = std::max(start, places.next(channel));
      const double end = start + static_cast<double>(schedule.length(i)) / own_speed(network, route);
      for (const Channel channel : route) places.take(channel, end);
      until[src] = std::max(until[src], end);
      seconds = std::max(seconds, end);
    }
    for (const auto& [src, dst] : schedule.phase(phase)) free[src] = until[src];
  }
  return seconds;
}

double seconds_by_shares(const Network& network, const Schedule& schedule, const SharedChannels& shared) {
  ChannelShares shares(network, schedule, shared, 1);
  OwnOrder own(schedule, 1);
  std::vector<Channel> route;
  std::vector<std::uint32_t> order;
  for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase) {
    const auto first = static_cast<std::uint32_t>(schedule.phase_begin()[phase]);
    order_by_sender(schedule, phase, order);
    for (const std::uint32_t i : order) {
      const auto [src, dst] = schedule.hops()[i];
      network.find_route(src, dst, route);
      own.push(src, i, first);
      shares.take(i, first, route, own.over(i), schedule.length(i), [](std::uint32_t) {});
    }
  }
  return shares.seconds();
}

/// The shortest of all, and the claiming that takes it; none: places.
struct Fastest {
  double seconds;
  std::optional<Claiming> claiming;
};

Fastest fastest(const Network& network, const Schedule& schedule, const ChannelSharing& sharing) {
  Fastest found{seconds_by_places(network, schedule), std::nullopt};
  for (const Claiming claiming : {Claiming::alike, Claiming::exactly})
    if (const double seconds = seconds_by_shares(network, schedule, sharing.by(claiming)); seconds < found.seconds)
      found = {seconds, claiming};
  return found;
}

}  // namespace

double token_seconds(const Network& network, const Schedule& schedule) {
  if (network.equal_rates()) {
    check_ranks(schedule);
    return seconds_by_places(network, schedule);
  }
  return token_seconds(network, schedule, ChannelSharing(network, each_transfer(network, schedule)));
}

double token_seconds(const Network& network, const Schedule& schedule, const ChannelSharing& sharing) {
  check_ranks(schedule);
  return fastest(network, schedule, sharing).seconds;
}

std::optional<Claiming> faster_claiming(const Network& network, const Schedule& schedule,
                                        const ChannelSharing& sharing) {
  return fastest(network, schedule, sharing).claiming;
}

}  // namespace hocket
