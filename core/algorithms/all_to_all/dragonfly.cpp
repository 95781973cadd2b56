/// "dragonfly": all groups of a full dragonfly at once.

#include "core/algorithms/all_to_all/dragonfly_phases.hpp"
#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/phase_writer.hpp"
#include "core/limits.hpp"

namespace hocket {

std::optional<PhasedMessage> DragonflyPhases::over_link(Channel channel, const Step& step, std::uint64_t phase,
                                                        std::uint64_t offset) const {
  const std::uint32_t from = tail(channel), to = head(channel);
  const auto [sender, receiver] = hosts(step, offset);
  const auto in_lane = [&](const Lane& lane, Channel link) {
    const Rank src = rank(beside(tail(link), opposite(lane.first)), host_after(lane.colour, sender));
    const Rank dst = rank(beside(head(link), lane.last), host_after(lane.colour, receiver));
    return PhasedMessage{src, dst, phase};
  };
  if (from / routers_ != to / routers_) {
    if (step.kind == Kind::inside) return std::nullopt;
    const std::optional<Lane> lane = lane_of(step, colour(from / routers_, to / routers_));
    return lane && takes_turn(step, *lane, channel) ? std::optional(in_lane(*lane, channel)) : std::nullopt;
  }
  const std::uint32_t apart = difference(from, to);
  if (step.kind == Kind::inside) {
    const std::uint32_t host = sender_inside(step, apart);
    if (host >= hosts_) return std::nullopt;
    return PhasedMessage{rank(from, host), rank(to, host_after(host, receiver)), phase};
  }
  if (const std::optional<Lane> first = lane_with(step, apart, false)) {
    const Channel link = out(to, first->colour);
    if (takes_turn(step, *first, link)) return in_lane(*first, link);
  }
  if (const std::optional<Lane> last = lane_with(step, apart, true)) {
    const Channel link = in(from, last->colour);
    if (takes_turn(step, *last, link)) return in_lane(*last, link);
  }
  return std::nullopt;
}

std::optional<PhasedMessage> DragonflyPhases::in_step(Channel channel, std::uint32_t number, std::uint64_t offset,
                                                      Side side) const {
  const Step step = this->step(number);
  const std::uint64_t first = first_phase(number), size = first_phase(number + 1) - first;
  const bool before = side == Side::before, up = dragonfly_->is_leaf(dragonfly_->tail(channel));
  if (before ? offset == 0 : offset >= size) return std::nullopt;
  if (before) --offset;
  if (!up && !dragonfly_->is_leaf(dragonfly_->head(channel))) return over_link(channel, step, first + offset, offset);
  const Rank rank = rank_of_[up ? dragonfly_->tail(channel) : dragonfly_->head(channel)];
  if (rank == nobody) return std::nullopt;
  // A sender's turn lasts as many phases as routers have hosts, a receiver's comes in one of as many.
  const bool lasts = up && step.kind != Kind::inside;
  for (std::uint64_t tries = 0; tries < hosts_; ++tries) {
    if (const auto other = up ? target(rank, step, offset) : source(rank, step, offset))
      return up ? PhasedMessage{rank, *other, first + offset} : PhasedMessage{*other, rank, first + offset};
    if (lasts) offset = before ? offset - offset % hosts_ : offset + hosts_ - 1 - offset % hosts_;
    if (before ? offset-- == 0 : ++offset == size) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<PhasedMessage> DragonflyPhases::user(Channel channel, std::uint64_t phase, Side side) const {
  if (phase == before_all && side == Side::before) return std::nullopt;
  std::uint32_t number = 0;
  std::uint64_t offset = 0;
  if (phase != before_all) {
    number = step_of(phase);
    offset = phase - first_phase(number) + (side == Side::after ? 1 : 0);
  }
  for (;;) {
    if (const auto found = in_step(channel, number, offset, side)) return found;
    if (side == Side::before ? number == 0 : number + 1 == steps()) return std::nullopt;
    number += side == Side::before ? ~std::uint32_t{0} : 1;
    offset = side == Side::before ? first_phase(number + 1) - first_phase(number) : 0;
  }
}

bool DragonflyPhases::uses(const PhasedMessage& message, Channel channel) const {
  if (dragonfly_->is_leaf(dragonfly_->tail(channel))) return rank_of_[dragonfly_->tail(channel)] == message.src;
  if (dragonfly_->is_leaf(dragonfly_->head(channel))) return rank_of_[dragonfly_->head(channel)] == message.dst;
  const std::uint32_t src = router(message.src), dst = router(message.dst);
  const std::uint32_t from = tail(channel), to = head(channel);
  if (src / routers_ == dst / routers_) return from == src && to == dst;
  const Channel link = dragonfly_->between(src / routers_, dst / routers_);
  return channel == link || (from == src && to == tail(link)) || (from == head(link) && to == dst);
}

}  // namespace hocket

namespace hocket::algorithms {

static Schedule make_dragonfly(const Network& network, const Demand& demand, const AlgorithmOptions&) {
  return written_out(DragonflyPhases(network), demand);
}

/// Compares with the bound, since some messages take turns.
static bool dragonfly_is_far(const Network& network, const Demand&, const Bounds& bounds) {
  return !limits::is_near(network.ranks(), DragonflyPhases(network).phases(), bounds.phases);
}

static FoundForm dragonfly_form(const Network& network, const Demand& demand, bool near) {
  if (network.dragonfly() == nullptr) return {};
  if (const std::string_view reason = DragonflyPhases::why_not(network); !reason.empty()) return {nullptr, {}, reason};
  auto form = std::make_unique<DragonflyPhases>(network);
  if (near && !limits::is_near(network.ranks(), form->phases(), lower_bounds(network, demand).phases))
    return {nullptr, {}, "the dragonfly's groups are so small that its schedule is far from the bound"};
  return {std::move(form)};
}

constinit const Algorithm dragonfly{
    .pattern = Pattern::all_to_all,
    .name = "dragonfly",
    .summary = "all groups of a full dragonfly at once, by matchings of the routers' distances",
    .source = "own",
    .contention_free = true,
    .refuses = [](const Network& network, const Demand&) { return DragonflyPhases::why_not(network); },
    .make = make_dragonfly,
    .rank = 5,
    .is_far = dragonfly_is_far,
    .form = dragonfly_form,
};

}  // namespace hocket::algorithms
