#include "core/algorithms/irregular/worth.hpp"

#include <algorithm>
#include <vector>

namespace hocket {

bool worth_scheduling(const Network& network, const Demand& demand, const WorthLimits& limits) {
  const TrafficMatrix& matrix = demand.matrix;
  if (matrix.messages() == 0 || matrix.total_bytes() / matrix.messages() < limits.message_bytes) return false;
  std::vector<Flows> into(network.nodes()), over(network.channels());
  std::vector<Channel> route;
  matrix.each([&](Rank src, Rank dst, std::uint64_t bytes) {
    const Node host = network.host_of(dst);
    if (network.host_of(src) == host) return;
    into[host].add(bytes);
    route.clear();
    network.append_route(src, dst, route);
    for (const Channel channel : route) over[channel].add(bytes);
  });
  const auto seconds = [&](Channel channel) { return over[channel].bytes / network.rate(channel); };
  Channel busiest = 0;
  for (Channel channel = 1; channel < network.channels(); ++channel)
    if (seconds(channel) > seconds(busiest)) busiest = channel;
  if (over.empty() || over[busiest].bytes == 0) return false;
  const double flows = over[busiest].number() / network.capacity(busiest);
  double senders = 0;
  for (const Flows& host : into)
    if (host.bytes / network.host_rate() >= holds_up * seconds(busiest)) senders = std::max(senders, host.number());
  return limits.reached(flows, senders);
}

}  // namespace hocket
