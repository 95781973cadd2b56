#include "core/schedule/verify_ring.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"

namespace hocket {
namespace {

constexpr std::uint32_t nobody = ~std::uint32_t{0};

class RingCheck {
 public:
  RingCheck(const Network& network, std::span<const Rank> order) : network_(network), order_(order) {}

  /// Every edge in one direction; by channel, the place where its edge begins, or ends if it goes backwards.
  std::vector<std::uint32_t> half(bool gathers) {
    std::vector<std::uint32_t> user(network_.channels(), nobody);
    for (std::uint32_t place = 0; place < order_.size(); ++place) {
      const Rank here = order_[place], next = order_[(place + 1) % order_.size()];
      edge(gathers ? here : next, gathers ? next : here, place, user);
    }
    return user;
  }

  void visits() {
    std::vector<std::uint32_t> visits(network_.ranks(), 0);
    for (const Rank rank : order_) ++visits[rank];
    for (Rank rank = 0; rank < visits.size(); ++rank) {
      if (visits[rank] == 1) continue;
      ++certificate.missing;
      tell("rank " + std::to_string(rank) + " is visited " + std::to_string(visits[rank]) + " times");
    }
  }

  /// A rank sends in order; any other must be told that what went before on its channel is over.
  void turn(std::span<const std::uint32_t> before, std::span<const std::uint32_t> after,
            std::span<const TurnWait> waits) {
    for (Channel channel = 0; channel < network_.channels(); ++channel) {
      if (before[channel] == nobody || after[channel] == nobody) continue;
      if ((before[channel] + 1) % order_.size() == after[channel]) continue;
      const auto found = std::ranges::lower_bound(waits, std::pair(after[channel], before[channel]), {},
                                                  [](const TurnWait& w) { return std::pair(w.waiting, w.releasing); });
      if (found != waits.end() && found->waiting == after[channel] && found->releasing == before[channel] &&
          found->capacity <= network_.capacity(channel))
        continue;
      ++certificate.unordered;
      tell("rank " + std::to_string(order_[after[channel]]) + " does not wait for rank " +
           std::to_string(order_[before[channel]]) + " to have received, on " + network_.channel_name(channel));
    }
  }

  RingCertificate certificate;

 private:
  void edge(Rank from, Rank to, std::uint32_t place, std::vector<std::uint32_t>& user) {
    ++certificate.edges;
    route_.clear();
    network_.append_route(from, to, route_);
    certificate.channels += route_.size();
    for (const Channel channel : route_) {
      if (user[channel] != nobody) {
        ++certificate.collisions;
        tell(std::to_string(from) + "->" + std::to_string(to) + " is not alone on " + network_.channel_name(channel));
      }
      user[channel] = place;
    }
  }

  void tell(std::string text) {
    constexpr std::size_t most = 10;
    if (certificate.findings.size() < most) certificate.findings.push_back(std::move(text));
  }

  const Network& network_;
  std::span<const Rank> order_;
  std::vector<Channel> route_;
};

}  // namespace

RingCertificate verify_ring(const Network& network, std::span<const Rank> order, Pattern pattern,
                            std::span<const TurnWait> waits) {
  if (pattern != Pattern::all_gather && pattern != Pattern::reduce_scatter && pattern != Pattern::all_reduce)
    throw InputError("a ring is for all-gathers, reduce-scatters and all-reduces");
  if (std::ranges::any_of(order, [&](Rank rank) { return rank >= network.ranks(); }))
    throw InputError("the ring visits a rank that the network does not have");
  RingCheck check(network, order);
  std::vector<std::uint32_t> before, after;
  if (pattern != Pattern::all_gather) before = check.half(false);
  if (pattern != Pattern::reduce_scatter) after = check.half(true);
  if (pattern == Pattern::all_reduce) check.turn(before, after, waits);
  check.visits();
  return std::move(check.certificate);
}

}  // namespace hocket
