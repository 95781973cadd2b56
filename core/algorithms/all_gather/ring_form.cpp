#include "core/algorithms/all_gather/ring_form.hpp"

#include <algorithm>
#include <ranges>
#include <tuple>
#include <utility>

#include "core/algorithms/all_gather/host_ring.hpp"
#include "core/algorithms/all_gather/streams.hpp"
#include "core/error.hpp"

namespace hocket {
namespace {

/// Per channel: the place of the only edge that uses it, or `none`. `gathers`: edges lead onward and are numbered by
/// their begin; otherwise they lead backward and are numbered by their end.
class ChannelUsers {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  ChannelUsers(const Network& network, std::span<const Rank> order, bool gathers) : user_(network.channels(), none) {
    std::vector<Channel> route;
    for (std::uint32_t place = 0; place < order.size(); ++place) {
      const Rank here = order[place], next = order[(place + 1) % order.size()];
      route.clear();
      gathers ? network.append_route(here, next, route) : network.append_route(next, here, route);
      for (const Channel channel : route) apart_ = std::exchange(user_[channel], place) == none && apart_;
    }
  }
  [[nodiscard]] std::uint32_t of(Channel channel) const { return user_[channel]; }
  /// True if no channel is used by two edges.
  [[nodiscard]] bool apart() const { return apart_; }

 private:
  bool apart_ = true;
  std::vector<std::uint32_t> user_;
};

/// Both halves of an all-reduce on one channel. A rank's own sends are in order without a token.
std::vector<TurnWait> turn_waits_of(const Network& network, std::span<const Rank> order) {
  const ChannelUsers onward(network, order, true), backward(network, order, false);
  std::vector<TurnWait> waits;
  for (Channel channel = 0; channel < network.channels(); ++channel) {
    const std::uint32_t waiting = onward.of(channel), releasing = backward.of(channel);
    if (waiting == ChannelUsers::none || releasing == ChannelUsers::none) continue;
    if ((releasing + 1) % order.size() != waiting) waits.push_back({waiting, releasing, network.capacity(channel)});
  }
  return waits;
}

/// Sorts the waits and keeps, of several channels between the same two edges, only the one with the least capacity: its
/// wait implies the others.
void sort_by(std::vector<TurnWait>& waits, std::uint32_t TurnWait::* first, std::uint32_t TurnWait::* second) {
  const auto key = [=](const TurnWait& wait) { return std::tuple(wait.*first, wait.*second, wait.capacity); };
  std::ranges::sort(waits, {}, key);
  const auto same = std::ranges::unique(waits, [=](const TurnWait& a, const TurnWait& b) {
    return a.waiting == b.waiting && a.releasing == b.releasing;
  });
  waits.erase(same.begin(), same.end());
}

/// A vector that cannot be cut into equal blocks has some of one byte more.
bool nearly_equal(const Demand& demand) {
  return std::ranges::all_of(demand.contributions, [&](std::uint64_t bytes) { return bytes + 1 >= demand.bytes; });
}

}  // namespace

RingForm::RingForm(const Network& network, std::vector<Rank> order, Demand demand)
    : order_(std::move(order)), place_(order_.size(), 0), demand_(std::move(demand)) {
  for (std::uint32_t place = 0; place < order_.size(); ++place) place_[order_[place]] = place;
  if (pattern() != Pattern::all_reduce) return;
  by_waiting_ = turn_waits_of(network, order_);
  sort_by(by_waiting_, &TurnWait::waiting, &TurnWait::releasing);
  by_releasing_ = by_waiting_;
  sort_by(by_releasing_, &TurnWait::releasing, &TurnWait::waiting);
}

RankProgram RingForm::program(Rank rank, std::uint32_t window) const {
  if (rank >= order_.size()) throw InputError("there is no rank " + std::to_string(rank));
  RankProgram program;
  program.sends.reserve(phases());
  program.receives.reserve(phases());
  if (pattern() != Pattern::all_gather) add_half(program, place_[rank], false);
  if (pattern() != Pattern::reduce_scatter) add_half(program, place_[rank], true);
  if (pattern() == Pattern::all_reduce) add_turn(program, place_[rank], std::max(window, 1u));
  return program;
}

void RingForm::add_half(RankProgram& program, std::uint64_t place, bool gathers) const {
  const std::uint64_t ranks = order_.size(), first = program.sends.size();
  const Rank before = at(place + ranks - 1), after = at(place + 1);
  for (std::uint64_t i = 0; i < turn(); ++i) {
    const std::uint64_t step = gathers ? i : turn() - 1 - i;
    const Piece onward = block(place + ranks - step), inward = block(place + 2 * ranks - 1 - step);
    program.sends.push_back({gathers ? after : before, first + i, {gathers ? onward : inward}, {}});
    program.receives.push_back({gathers ? before : after, first + i, {gathers ? inward : onward}, {}});
  }
}

/// Adds the tokens of the turn: a message sent onward in step i after the turn waits for the message that used the same
/// channel `capacity` × `window` messages earlier (the rule of derive_waits()).
void RingForm::add_turn(RankProgram& program, std::uint32_t place, std::uint32_t window) const {
  // Calls work(phase of the earlier message, phase of the later one).
  const auto each_step = [&](const TurnWait& wait, auto work) {
    const std::uint64_t back = std::uint64_t{wait.capacity} * window;
    for (std::uint64_t phase = turn(); phase < phases() && phase < turn() + back; ++phase)
      if (phase >= back) work(phase - back, phase);
  };
  // Tokens of later transfers come first; a phase has them in the order of the ring.
  const auto own = std::ranges::equal_range(by_waiting_, place, {}, &TurnWait::waiting);
  for (const TurnWait& wait : std::views::reverse(own))
    each_step(wait, [&](std::uint64_t, std::uint64_t phase) {
      program.sends[phase].tokens.push_back(order_[wait.releasing]);
    });
  for (const TurnWait& wait : std::ranges::equal_range(by_releasing_, place, {}, &TurnWait::releasing))
    each_step(wait, [&](std::uint64_t earlier, std::uint64_t phase) {
      program.receives[earlier].releases.push_back({order_[wait.waiting], static_cast<std::uint32_t>(phase)});
    });
}

FoundRing ring_form_of(const Network& network, const Demand& demand) {
  if (demand.pattern != Pattern::all_gather && demand.pattern != Pattern::reduce_scatter &&
      demand.pattern != Pattern::all_reduce)
    return {std::nullopt, {}, "only all-gathers, reduce-scatters and all-reduces go round a ring"};
  if (demand.ranks != network.ranks() || demand.ranks < 2) return {std::nullopt, {}, "it needs at least two ranks"};
  if (!nearly_equal(demand)) return {std::nullopt, {}, "contributions differ by more than a byte"};
  if (demand.bytes == 0 || std::ranges::find(demand.contributions, 0) != demand.contributions.end())
    return {std::nullopt, {}, "there is nothing to send"};
  if (network.tree() == nullptr && network.wired_as() == nullptr && network.dragonfly() == nullptr)
    return {std::nullopt, {}, "it needs a tree of switches, a fat tree or a dragonfly"};
  if (network.hosts().size() != network.ranks()) return {std::nullopt, {}, "it needs one rank on every host"};
  for (Channel channel = 0; channel < network.channels(); ++channel)
    if (network.rate(channel) < network.host_rate())
      return {std::nullopt, {}, "a link is slower than the fastest host"};
  if (network.tree() != nullptr)
    return {RingForm(network, algorithms::one_ring(network, demand), demand), "switch-ring", {}};
  std::vector<Rank> order;
  for (const Node host : algorithms::host_ring(network)) order.push_back(network.first_rank(host));
  if (!ChannelUsers(network, order, true).apart() || !ChannelUsers(network, order, false).apart())
    return {std::nullopt, {}, "tables lead neighbours over the same links"};
  return {RingForm(network, std::move(order), demand), "rails", {}};
}

}  // namespace hocket
