#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/algorithms/all_to_all/below.hpp"
#include "core/algorithms/all_to_all/tree_phases.hpp"
#include "core/schedule/closed_form.hpp"

namespace hocket::closed_forms {

/// In each phase a branch sends at most one message over the root, gets at most one, and has at most one of its own. So
/// the users of a channel follow from the senders and receivers of its branch, phase by phase, of which those below the
/// channel's link count. Source: own, from the patterns of Faraj and Yuan, section 4.
class TreeForm final : public ClosedForm {
 public:
  explicit TreeForm(const Network& network);

  [[nodiscard]] std::uint32_t ranks() const override { return static_cast<std::uint32_t>(rank_at_.size()); }
  [[nodiscard]] std::uint64_t phases() const override { return phases_.phases(); }
  [[nodiscard]] std::uint64_t phase(Rank src, Rank dst) const override { return phases_.phase(src, dst); }
  [[nodiscard]] std::uint32_t sends_before(const PhasedMessage& message) const override;
  [[nodiscard]] std::optional<Rank> target(Rank rank, std::uint64_t phase) const override;
  [[nodiscard]] std::optional<Rank> source(Rank rank, std::uint64_t phase) const override;
  void append_messages(std::uint64_t phase, std::vector<Hop>& messages) const override;
  [[nodiscard]] std::optional<PhasedMessage> user(Channel channel, std::uint64_t phase, Side side) const override;
  [[nodiscard]] bool uses(const PhasedMessage& message, Channel channel) const override;

 private:
  using Phase = std::int64_t;  ///< −1 and phases(): none

  /// Phases in which a place of a branch follows from the phase in one way.
  struct Stretch {
    Phase begin, end;
    enum class Kind : std::uint8_t {
      idle,
      turning,  ///< (phase + offset) mod the branch's size
      stairs    ///< (phase − begin) / width
    } kind = Kind::idle;
    std::uint64_t number = 0;  ///< offset, or width
    std::uint32_t turn = 0;    ///< turn of the partner over the root, if not idle and not in the largest branch
  };

  [[nodiscard]] std::uint64_t size(std::uint32_t branch) const { return phases_.size(branch); }
  [[nodiscard]] Rank rank(std::uint32_t branch, std::uint64_t place) const {
    return rank_at_[phases_.before(branch) + place];
  }

  // Messages over the root. The partners of a branch in the order of their phases.
  [[nodiscard]] std::uint32_t target(std::uint32_t branch, std::uint32_t turn) const;
  [[nodiscard]] std::uint32_t source(std::uint32_t branch, std::uint32_t turn) const;
  template <class Start>
  [[nodiscard]] std::optional<std::uint32_t> turn_at(Phase phase, Start start) const;
  template <class Start, class Busy>
  [[nodiscard]] Stretch stretch_of_turn(Phase phase, Start start, Busy busy) const;
  [[nodiscard]] Stretch senders(std::uint32_t branch, Phase phase) const;
  [[nodiscard]] Stretch receivers(std::uint32_t branch, Phase phase) const;
  [[nodiscard]] PhasedMessage crossing(std::uint32_t from, std::uint32_t to, Phase phase) const;
  [[nodiscard]] PhasedMessage sent(std::uint32_t branch, Phase phase) const;
  [[nodiscard]] PhasedMessage received(std::uint32_t branch, Phase phase) const;

  // Messages within a branch.
  [[nodiscard]] Phase first_local(std::uint32_t branch) const;
  [[nodiscard]] Phase end_local(std::uint32_t branch) const;
  [[nodiscard]] Stretch local_senders(std::uint32_t branch, Phase phase) const;
  [[nodiscard]] Phase local_down(std::uint32_t branch, PlaceSet below, Phase from, Phase until, Side side) const;
  [[nodiscard]] PhasedMessage local(std::uint32_t branch, Phase phase) const;
  [[nodiscard]] std::optional<PhasedMessage> local_in(std::uint32_t branch, std::uint64_t phase) const;

  /// The nearest phase, from one on and not beyond `until`, in which one of these places is at work; else `until`.
  template <class StretchAt>
  [[nodiscard]] Phase find(std::uint32_t branch, PlaceSet places, Phase from, Phase until, Side side,
                           StretchAt stretch_at) const;

  TreePhases phases_;
  Below below_;
  std::vector<Rank> rank_at_;  ///< indexed by branch and place
};

}  // namespace hocket::closed_forms
