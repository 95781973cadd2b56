/// "dragonfly": all groups of a full dragonfly at once.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/algorithms/all_to_all/dragonfly_phases.hpp"
#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/phase_writer.hpp"
#include "core/limits.hpp"
#include "core/schedule/bounds.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket::closed_forms {

namespace {

/// In a step a link between routers carries messages of one lane, or none, in all phases; so the nearest user is in the
/// phase next to it, or at the end of a step next to it. A host's turn comes after as many phases as routers have
/// hosts, at most. Source: own.
class DragonflyForm final : public ClosedForm {
 public:
  explicit DragonflyForm(const Network& network);

  [[nodiscard]] std::uint32_t ranks() const override { return phases_.ranks(); }
  [[nodiscard]] std::uint64_t phases() const override { return phases_.phases(); }
  [[nodiscard]] std::uint64_t phase(Rank src, Rank dst) const override { return phases_.phase(src, dst); }
  [[nodiscard]] std::uint32_t sends_before(const PhasedMessage& message) const override {
    return phases_.sends_before(message.src, message.dst);
  }
  [[nodiscard]] std::optional<Rank> target(Rank rank, std::uint64_t phase) const override {
    return phases_.target(rank, phase);
  }
  [[nodiscard]] std::optional<Rank> source(Rank rank, std::uint64_t phase) const override {
    return phases_.source(rank, phase);
  }
  [[nodiscard]] std::optional<PhasedMessage> user(Channel channel, std::uint64_t phase, Side side) const override;
  [[nodiscard]] bool uses(const PhasedMessage& message, Channel channel) const override;

 private:
  static constexpr Rank nobody = ~Rank{0};
  using Kind = DragonflyPhases::Kind;
  using Lane = DragonflyPhases::Lane;
  using Step = DragonflyPhases::Step;

  /// The nearest user in a step, from an offset on (before: of those below it).
  [[nodiscard]] std::optional<PhasedMessage> in_step(Channel channel, std::uint32_t number, std::uint64_t offset,
                                                     Side side) const;
  [[nodiscard]] std::optional<PhasedMessage> over_link(Channel channel, const Step& step, std::uint64_t phase,
                                                       std::uint64_t offset) const;

  std::shared_ptr<const Dragonfly> dragonfly_;
  DragonflyPhases phases_;
  std::vector<Rank> rank_of_;  ///< per node
};

DragonflyForm::DragonflyForm(const Network& network)
    : dragonfly_(network.dragonfly()), phases_(network), rank_of_(network.nodes(), nobody) {
  for (const Node host : network.hosts()) rank_of_[host] = network.first_rank(host);
}

/// The message that a channel between routers carries.
std::optional<PhasedMessage> DragonflyForm::over_link(Channel channel, const Step& step, std::uint64_t phase,
                                                      std::uint64_t offset) const {
  const std::uint32_t from = phases_.tail(channel), to = phases_.head(channel), routers = phases_.routers();
  const auto [sender, receiver] = phases_.hosts(step, offset);
  const auto in_lane = [&](const Lane& lane, Channel link) {
    const Rank src = phases_.rank(phases_.beside(phases_.tail(link), phases_.opposite(lane.first)),
                                  phases_.host_after(lane.colour, sender));
    const Rank dst =
        phases_.rank(phases_.beside(phases_.head(link), lane.last), phases_.host_after(lane.colour, receiver));
    return PhasedMessage{src, dst, phase};
  };
  if (from / routers != to / routers) {
    if (step.kind == Kind::inside) return std::nullopt;
    const std::optional<Lane> lane = phases_.lane_of(step, phases_.colour(from / routers, to / routers));
    return lane && phases_.takes_turn(step, *lane, channel) ? std::optional(in_lane(*lane, channel)) : std::nullopt;
  }
  const std::uint32_t difference = phases_.difference(from, to);
  if (step.kind == Kind::inside) {
    const std::uint32_t host = phases_.sender_inside(step, difference);
    if (host >= phases_.hosts_of_router()) return std::nullopt;
    return PhasedMessage{phases_.rank(from, host), phases_.rank(to, phases_.host_after(host, receiver)), phase};
  }
  if (const std::optional<Lane> first = phases_.lane_with(step, difference, false)) {
    const Channel link = phases_.out(to, first->colour);
    if (phases_.takes_turn(step, *first, link)) return in_lane(*first, link);
  }
  if (const std::optional<Lane> last = phases_.lane_with(step, difference, true)) {
    const Channel link = phases_.in(from, last->colour);
    if (phases_.takes_turn(step, *last, link)) return in_lane(*last, link);
  }
  return std::nullopt;
}

std::optional<PhasedMessage> DragonflyForm::in_step(Channel channel, std::uint32_t number, std::uint64_t offset,
                                                    Side side) const {
  const Step step = phases_.step(number);
  const std::uint64_t first = phases_.first_phase(number), size = phases_.first_phase(number + 1) - first;
  const bool before = side == Side::before, up = dragonfly_->is_leaf(dragonfly_->tail(channel));
  if (before ? offset == 0 : offset >= size) return std::nullopt;
  if (before) --offset;
  if (!up && !dragonfly_->is_leaf(dragonfly_->head(channel))) return over_link(channel, step, first + offset, offset);
  const Rank rank = rank_of_[up ? dragonfly_->tail(channel) : dragonfly_->head(channel)];
  if (rank == nobody) return std::nullopt;
  // A sender's turn lasts as many phases as routers have hosts, a receiver's comes in one of as many.
  const std::uint64_t hosts = phases_.hosts_of_router();
  const bool lasts = up && step.kind != Kind::inside;
  for (std::uint64_t tries = 0; tries < hosts; ++tries) {
    if (const auto other = up ? phases_.target(rank, step, offset) : phases_.source(rank, step, offset))
      return up ? PhasedMessage{rank, *other, first + offset} : PhasedMessage{*other, rank, first + offset};
    if (lasts) offset = before ? offset - offset % hosts : offset + hosts - 1 - offset % hosts;
    if (before ? offset-- == 0 : ++offset == size) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<PhasedMessage> DragonflyForm::user(Channel channel, std::uint64_t phase, Side side) const {
  if (phase == before_all && side == Side::before) return std::nullopt;
  std::uint32_t number = 0;
  std::uint64_t offset = 0;
  if (phase != before_all) {
    number = phases_.step_of(phase);
    offset = phase - phases_.first_phase(number) + (side == Side::after ? 1 : 0);
  }
  for (;;) {
    if (const auto found = in_step(channel, number, offset, side)) return found;
    if (side == Side::before ? number == 0 : number + 1 == phases_.steps()) return std::nullopt;
    number += side == Side::before ? ~std::uint32_t{0} : 1;
    offset = side == Side::before ? phases_.first_phase(number + 1) - phases_.first_phase(number) : 0;
  }
}

bool DragonflyForm::uses(const PhasedMessage& message, Channel channel) const {
  if (dragonfly_->is_leaf(dragonfly_->tail(channel))) return rank_of_[dragonfly_->tail(channel)] == message.src;
  if (dragonfly_->is_leaf(dragonfly_->head(channel))) return rank_of_[dragonfly_->head(channel)] == message.dst;
  const std::uint32_t src = phases_.router(message.src), dst = phases_.router(message.dst);
  const std::uint32_t from = phases_.tail(channel), to = phases_.head(channel), routers = phases_.routers();
  if (src / routers == dst / routers) return from == src && to == dst;
  const Channel link = dragonfly_->between(src / routers, dst / routers);
  return channel == link || (from == src && to == phases_.tail(link)) || (from == phases_.head(link) && to == dst);
}

}  // namespace

}  // namespace hocket::closed_forms

namespace hocket::algorithms {

static std::string_view dragonfly_refuses(const Network& network, const Demand&) {
  return DragonflyPhases::why_not(network);
}

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
  auto form = std::make_unique<closed_forms::DragonflyForm>(network);
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
    .refuses = dragonfly_refuses,
    .make = make_dragonfly,
    .rank = 5,
    .is_far = dragonfly_is_far,
    .form = dragonfly_form,
};

}  // namespace hocket::algorithms
