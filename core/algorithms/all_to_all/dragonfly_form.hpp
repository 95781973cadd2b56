#pragma once
/// The phases of a dragonfly turned round: who uses a channel in a phase?
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/algorithms/all_to_all/dragonfly_phases.hpp"
#include "core/schedule/closed_form.hpp"

namespace hocket::closed_forms {

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

}  // namespace hocket::closed_forms
