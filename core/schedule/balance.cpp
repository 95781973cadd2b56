#include "core/schedule/balance.hpp"

#include <string>
#include <utility>

#include "core/network/balanced_hops.hpp"
#include "core/schedule/bounds.hpp"
#include "core/schedule/ring_loads.hpp"

namespace hocket {
namespace {

constexpr double tolerance = 1e-12;

/// Parity is the best table for a ring of equal ranks: its loads differ by one message at most.
std::vector<std::string> balanced_ties(const NetworkSpec& spec) {
  std::vector<std::string> ties = spec.ties;
  const std::vector<std::string> parity = ties_by_rule("parity", spec.sides);
  for (std::size_t d = 0; d < ties.size(); ++d)
    if (ring_loads(spec.sides[d], parity[d]).most() < ring_loads(spec.sides[d], ties[d]).most()) ties[d] = parity[d];
  return ties;
}

/// Lower bound first, then the sum of the squared times: links that are no bottleneck count as well.
bool is_better(const Network& x, const Network& y, const Demand& demand) {
  const Bounds of_x = lower_bounds(x, demand), of_y = lower_bounds(y, demand);
  if (of_x.seconds != of_y.seconds) return of_x.seconds < of_y.seconds;
  double sum_x = 0, sum_y = 0;
  for (Channel channel = 0; channel < x.channels(); ++channel) {
    const double load_x = static_cast<double>(of_x.load[channel]), load_y = static_cast<double>(of_y.load[channel]);
    sum_x += load_x * load_x / x.rate(channel) / x.rate(channel);
    sum_y += load_y * load_y / y.rate(channel) / y.rate(channel);
  }
  return sum_x < sum_y * (1 - tolerance);
}

}  // namespace

Network balance_routes(const Network& network, const Demand& demand) {
  if (demand.pattern != Pattern::all_to_all) throw InputError("routes are balanced for an all-to-all only");
  NetworkSpec spec = network.spec();
  if (spec.shape == Shape::torus) {
    spec.ties = balanced_ties(spec);
  } else if (spec.shape == Shape::graph) {
    if (!can_be_balanced(spec)) throw InputError("a graph of this size is too large to balance");
    spec.next_hops = forwarding_entries(spec, balanced_next_hops(spec));
  } else {
    throw InputError("only a torus and a graph leave a choice between equally short routes");
  }
  // Without tables, and without the routes of a family, a graph has these routes already, but nothing to install.
  const bool has_them = network.shape() == Shape::graph && network.spec().next_hops.empty() &&
                        network.fat_tree() == nullptr && network.dragonfly() == nullptr;
  Network balanced(std::move(spec));
  return has_them || is_better(balanced, network, demand) ? balanced : network;
}

}  // namespace hocket
