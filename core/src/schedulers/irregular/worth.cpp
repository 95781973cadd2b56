#include "hocket/schedulers/irregular/worth.hpp"

#include <algorithm>
#include <vector>

#include "hocket/schedule/bounds.hpp"

namespace hocket {

bool worth_scheduling(const Network& network, const Demand& demand, const WorthLimits& limits) {
  const TrafficMatrix& matrix = demand.matrix;
  if (matrix.messages() == 0 || matrix.total_bytes() / matrix.messages() < limits.message_bytes) return false;
  std::vector<std::uint64_t> into(network.nodes(), 0);
  std::uint64_t senders = 0;
  matrix.each([&](Rank src, Rank dst, std::uint64_t) {
    const Node host = network.host_of(dst);
    if (network.host_of(src) != host) senders = std::max(senders, ++into[host]);
  });
  if (senders == 0) return false;
  const Bounds bounds = lower_bounds(network, demand);
  const std::uint64_t flows = bounds.load[bounds.bottleneck] / network.capacity(bounds.bottleneck);
  return flows >= limits.flows || senders >= limits.senders;
}

}  // namespace hocket
