#include "hocket/schedulers/ring_rows.hpp"

#include <utility>

#include "hocket/error.hpp"
#include "hocket/schedulers/gather_streams.hpp"

namespace hocket {
namespace {

constexpr std::size_t most_findings = 10;
constexpr std::uint32_t nowhere = ~std::uint32_t{0};

}  // namespace

RingRows::RingRows(std::vector<Rank> order, Pattern pattern, std::uint64_t bytes)
    : order_(std::move(order)), place_(order_.size(), nowhere), pattern_(pattern), bytes_(bytes) {
  if (pattern != Pattern::all_gather && pattern != Pattern::reduce_scatter)
    throw InputError("a ring is for all-gathers and reduce-scatters");
  if (order_.size() < 2) throw InputError("a ring needs at least two ranks");
  for (std::uint32_t place = 0; place < order_.size(); ++place) {
    const Rank rank = order_[place];
    if (rank >= order_.size() || place_[rank] != nowhere)
      throw InputError("a ring visits each of its ranks once; rank " + std::to_string(rank) + " is one too many");
    place_[rank] = place;
  }
}

RankProgram RingRows::row(Rank rank) const {
  if (rank >= order_.size()) throw InputError("there is no rank " + std::to_string(rank));
  const std::uint64_t place = place_[rank], turn = order_.size();
  const bool gathers = pattern_ == Pattern::all_gather;
  const Rank before = at(place + turn - 1), after = at(place + 1);
  RankProgram program;
  program.sends.reserve(phases());
  program.receives.reserve(phases());
  for (std::uint64_t phase = 0; phase < phases(); ++phase) {
    const std::uint64_t step = gathers ? phase : phases() - 1 - phase;
    const Piece onward{at(place + turn - step), everyone, 0, bytes_};
    const Piece inward{at(place + 2 * turn - 1 - step), everyone, 0, bytes_};
    program.sends.push_back({gathers ? after : before, phase, {gathers ? onward : inward}, {}});
    program.receives.push_back({gathers ? before : after, phase, {gathers ? inward : onward}, {}});
  }
  return program;
}

RingCertificate RingRows::verify(const Network& network) const {
  if (network.ranks() != order_.size()) throw InputError("the network has another number of ranks than the ring");
  RingCertificate certificate;
  certificate.edges = order_.size();
  std::vector<bool> used(network.channels(), false);
  std::vector<Channel> route;
  for (std::uint64_t place = 0; place < order_.size(); ++place) {
    Rank from = at(place), to = at(place + 1);
    if (pattern_ == Pattern::reduce_scatter) std::swap(from, to);
    route.clear();
    network.append_route(from, to, route);
    certificate.channels += route.size();
    for (const Channel channel : route) {
      if (used[channel]) {
        if (certificate.collisions++ < most_findings)
          certificate.findings.push_back(std::to_string(from) + "->" + std::to_string(to) + " is not alone on " +
                                         network.channel_name(channel));
      }
      used[channel] = true;
    }
  }
  return certificate;
}

FoundRing ring_rows_of(const Network& network, const Demand& demand) {
  if (demand.pattern != Pattern::all_gather && demand.pattern != Pattern::reduce_scatter)
    return {std::nullopt, {}, "only all-gathers and reduce-scatters go round a ring"};
  if (demand.ranks != network.ranks() || demand.ranks < 2) return {std::nullopt, {}, "it needs at least two ranks"};
  if (!demand.contributions.empty()) return {std::nullopt, {}, "contributions differ"};
  if (demand.bytes == 0) return {std::nullopt, {}, "there is nothing to send"};
  if (network.tree() == nullptr) return {std::nullopt, {}, "it needs a tree of switches"};
  if (network.hosts().size() != network.ranks()) return {std::nullopt, {}, "it needs one rank on every host"};
  for (Channel channel = 0; channel < network.channels(); ++channel)
    if (network.rate(channel) < network.host_rate())
      return {std::nullopt, {}, "a link is slower than the fastest host"};
  return {RingRows(algorithms::one_ring(network, demand), demand.pattern, demand.bytes), "switch-ring", {}};
}

}  // namespace hocket
