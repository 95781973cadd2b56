#include "core/model/cost_profile.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace hocket {

double shared_rate(const SharedRate& part, double flows) {
  if (!(flows > 1)) return part[0];
  std::size_t i = 0;
  double least = 1;
  for (; i + 1 < part.size() && flows >= 2 * least; ++i) least *= 2;
  if (i + 1 == part.size()) return part.back();
  return part[i] + (part[i + 1] - part[i]) * (flows / least - 1);
}

void check_contention(const Contention& contention) {
  for (const SharedRate* part : {&contention.host, &contention.switch_link})
    for (const double value : *part)
      if (!(value > 0 && value <= 1)) throw InputError("what flows leave of a wire must be above 0 and at most 1");
}

namespace {

constexpr std::array profiles{
    CostProfile{"ethernet-1g", 125e6, 25e-6, 3e-6, 5e-6, 10e-6, 65536, 1.062, {{1, .97, .90, .80}, {1, .97, .93, .90}}},
    CostProfile{
        "ethernet-10g", 1.25e9, 12e-6, 2e-6, 3e-6, 5e-6, 65536, 1.062, {{1, .97, .92, .85}, {1, .97, .94, .92}}},
    CostProfile{
        "ethernet-25g", 3.125e9, 8e-6, 1.5e-6, 2.5e-6, 4e-6, 65536, 1.062, {{1, .97, .92, .85}, {1, .97, .94, .92}}},
    CostProfile{"ib-hdr", 25e9, 0.6e-6, 0.25e-6, 0.25e-6, 0.2e-6, 8192, 1.02, {{1, .99, .98, .97}, {1, .97, .94, .92}}},
    CostProfile{"ib-ndr", 50e9, 0.55e-6, 0.2e-6, 0.2e-6, 0.2e-6, 8192, 1.02, {{1, .99, .98, .97}, {1, .97, .94, .92}}},
    CostProfile{"shared-memory", 10e9, 0.2e-6, 0.2e-6, 0.3e-6, 0.2e-6, 4096, 1.0, {{1, 1, .7, .4}, {1, 1, 1, 1}}},
};

}  // namespace

std::span<const CostProfile> cost_profiles() { return profiles; }

const CostProfile& profile_of(const Network& network) {
  if (network.hosts().size() < 2) return profiles.back();
  constexpr double latency_counts = 0.25;  // beside the rate
  double latency = 0;
  for (const Channel channel : network.route(0, network.ranks() - 1)) latency += network.latency(channel);
  latency = std::max(latency, 1e-9);
  const auto strangeness = [&](const CostProfile& one) {
    return std::abs(std::log(network.host_rate() / one.rate)) +
           latency_counts * std::abs(std::log(latency / one.latency));
  };
  return *std::ranges::min_element(std::span(profiles).first(profiles.size() - 1), {}, strangeness);
}

}  // namespace hocket
