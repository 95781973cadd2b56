#include "hocket/schedule/verify_ring.hpp"

#include <algorithm>
#include <utility>

#include "hocket/error.hpp"

namespace hocket {
namespace {

class RingCheck {
 public:
  RingCheck(const Network& network, std::size_t edges)
      : network_(network), used_(network.channels(), false), visits_(network.ranks(), 0) {
    certificate.edges = edges;
  }

  void edge(Rank from, Rank to) {
    ++visits_[from];
    route_.clear();
    network_.append_route(from, to, route_);
    certificate.channels += route_.size();
    for (const Channel channel : route_) {
      if (used_[channel]) {
        ++certificate.collisions;
        tell(std::to_string(from) + "->" + std::to_string(to) + " is not alone on " + network_.channel_name(channel));
      }
      used_[channel] = true;
    }
  }

  void end() {
    for (Rank rank = 0; rank < visits_.size(); ++rank) {
      if (visits_[rank] == 1) continue;
      ++certificate.missing;
      tell("rank " + std::to_string(rank) + " is visited " + std::to_string(visits_[rank]) + " times");
    }
  }

  RingCertificate certificate;

 private:
  void tell(std::string text) {
    constexpr std::size_t most = 10;
    if (certificate.findings.size() < most) certificate.findings.push_back(std::move(text));
  }

  const Network& network_;
  std::vector<bool> used_;
  std::vector<std::uint32_t> visits_;
  std::vector<Channel> route_;
};

}  // namespace

RingCertificate verify_ring(const Network& network, std::span<const Rank> order, Pattern pattern) {
  if (pattern != Pattern::all_gather && pattern != Pattern::reduce_scatter)
    throw InputError("a ring is for all-gathers and reduce-scatters");
  if (std::ranges::any_of(order, [&](Rank rank) { return rank >= network.ranks(); }))
    throw InputError("the ring visits a rank that the network does not have");
  RingCheck check(network, order.size());
  for (std::size_t place = 0; place < order.size(); ++place) {
    const Rank here = order[place], next = order[(place + 1) % order.size()];
    pattern == Pattern::all_gather ? check.edge(here, next) : check.edge(next, here);
  }
  check.end();
  return std::move(check.certificate);
}

}  // namespace hocket
