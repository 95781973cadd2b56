#include "hocket/schedulers/ring_rows.hpp"

#include <utility>

#include "hocket/error.hpp"
#include "hocket/schedulers/gather_streams.hpp"

namespace hocket {
RingRows::RingRows(std::vector<Rank> order, Pattern pattern, std::uint64_t bytes)
    : order_(std::move(order)), place_(order_.size(), 0), pattern_(pattern), bytes_(bytes) {
  for (std::uint32_t place = 0; place < order_.size(); ++place) place_[order_[place]] = place;
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
