#include "core/bundle/combine.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/algorithms/all_gather/host_ring.hpp"
#include "core/error.hpp"

namespace hocket {
namespace {

/// Use of ports and channels, phase by phase.
class Room {
 public:
  explicit Room(const Network& network) : network_(network) {}

  /// The first phase from `ready` on with room for the message; takes it.
  std::uint64_t take(Hop hop, std::uint64_t ready) {
    const std::uint32_t n = network_.ranks();
    needs_.assign({hop.src, n + hop.dst});
    route_.clear();
    network_.append_route(hop.src, hop.dst, route_);
    for (const Channel channel : route_) needs_.push_back(2 * n + channel);
    for (std::uint64_t phase = ready;; ++phase) {
      while (phase >= uses_.size()) uses_.emplace_back(2 * n + network_.channels(), 0);
      std::vector<std::uint32_t>& uses = uses_[phase];
      const auto full = [&](std::uint32_t need) {
        return uses[need] >= (need < 2 * n ? 1 : network_.capacity(need - 2 * n));
      };
      if (std::ranges::any_of(needs_, full)) continue;
      for (const std::uint32_t need : needs_) ++uses[need];
      return phase;
    }
  }

 private:
  const Network& network_;
  std::vector<std::vector<std::uint32_t>> uses_;
  std::vector<std::uint32_t> needs_;
  std::vector<Channel> route_;
};

}  // namespace

Schedule combined_all_to_all(const Network& network, const Demand& demand, std::uint32_t radix) {
  const std::uint32_t n = network.ranks();
  if (radix < 2) throw InputError("a radix of " + std::to_string(radix) + ": at least 2");
  if (demand.by_blocks() || demand.ranks != n || network.hosts().size() != n)
    throw InputError("bundles are combined in all-to-alls of one rank a host");
  std::vector<Rank> order;  // hosts of one switch next to each other
  for (const Node host : algorithms::host_ring(network)) order.push_back(network.first_rank(host));

  Room room(network);
  std::vector<std::uint32_t> phase_of;
  std::vector<Hop> hops;
  std::vector<std::vector<Piece>> carried;
  // The phase from which on the bundle that goes over `distance` in all is at the place where it has come to.
  std::vector<std::uint64_t> ready(std::uint64_t{n} * n, 0), next;
  std::uint64_t phases = 0;
  for (std::uint64_t step = 1; step < n; step *= radix) {
    next = ready;
    for (std::uint64_t digit = 1; digit < radix && digit * step < n; ++digit)
      for (std::uint64_t at = 0; at < n; ++at) {
        const Hop hop{order[at], order[(at + digit * step) % n]};
        std::vector<Piece> pieces;
        std::uint64_t earliest = 0;
        for (std::uint64_t distance = digit * step; distance < n; ++distance) {
          if (distance / step % radix != digit) continue;
          const std::uint64_t begins = (at + n - distance % step) % n;  // it has come by the lower digits
          const Rank origin = order[begins], target = order[(begins + distance) % n];
          const std::uint64_t bytes = demand.size(origin, target);
          if (bytes == 0) continue;
          pieces.push_back({origin, target, 0, bytes});
          earliest = std::max(earliest, ready[at * n + distance]);
        }
        if (pieces.empty()) continue;
        const std::uint64_t phase = room.take(hop, earliest);
        for (std::uint64_t distance = digit * step; distance < n; ++distance)
          if (distance / step % radix == digit) next[(at + digit * step) % n * n + distance] = phase + 1;
        phases = std::max(phases, phase + 1);
        phase_of.push_back(static_cast<std::uint32_t>(phase));
        hops.push_back(hop);
        carried.push_back(std::move(pieces));
      }
    ready = next;
  }

  std::vector<std::uint64_t> begin(phases + 1, 0);
  for (const std::uint32_t phase : phase_of) ++begin[phase + 1];
  for (std::uint64_t phase = 0; phase < phases; ++phase) begin[phase + 1] += begin[phase];
  std::vector<std::uint32_t> sorted(hops.size());
  std::vector<std::uint64_t> place = begin;
  for (std::uint32_t i = 0; i < hops.size(); ++i) sorted[place[phase_of[i]]++] = i;
  std::vector<Hop> in_order;
  PieceLists pieces;
  for (const std::uint32_t i : sorted) {
    in_order.push_back(hops[i]);
    pieces.pieces.insert(pieces.pieces.end(), carried[i].begin(), carried[i].end());
    pieces.end_list();
  }
  if (in_order.empty()) return {n, demand.bytes};
  return {n, demand.bytes, std::move(begin), std::move(in_order), std::move(pieces)};
}

std::vector<std::uint32_t> radices(std::uint32_t hosts) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t radix = 2; radix < hosts; radix = radix < 4 ? radix + 1 : radix * 2) found.push_back(radix);
  if (const auto root = static_cast<std::uint32_t>(std::ceil(std::sqrt(hosts))); root >= 2 && root < hosts)
    found.push_back(root);
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  if (found.empty()) found.push_back(2);
  return found;
}

}  // namespace hocket
