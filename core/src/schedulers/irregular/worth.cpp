#include "hocket/schedulers/irregular/worth.hpp"

#include <algorithm>
#include <vector>

namespace hocket {

namespace {

/// As how many equal flows messages of different sizes count: (sum of sizes)² / sum of squares. Where few
/// large ones hold most of the bytes, the others are soon gone and collide with nothing.
struct Flows {
  double bytes = 0, squares = 0;
  void add(std::uint64_t length) {
    const auto size = static_cast<double>(length);
    bytes += size;
    squares += size * size;
  }
  [[nodiscard]] double number() const { return squares > 0 ? bytes * bytes / squares * (1 + 1e-9) : 0; }
};

}  // namespace

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
  // Only hosts that take about as long as the busiest channel can hold the exchange up.
  double senders = 0;
  for (const Flows& host : into)
    if (host.bytes / network.host_rate() >= 0.75 * seconds(busiest)) senders = std::max(senders, host.number());
  return flows >= static_cast<double>(limits.flows) || senders >= static_cast<double>(limits.senders);
}

}  // namespace hocket
