#pragma once
/// The shifts of a fat tree turned round: who uses a channel in a phase?
#include <cstdint>
#include <memory>
#include <optional>

#include "core/algorithms/all_to_all/fat_tree_shifts.hpp"
#include "core/schedule/closed_form.hpp"

namespace hocket::closed_forms {

/// The hosts below a link's lower end are a stretch of positions, and one host of every such stretch has the digits
/// that lead over the link. So upwards the shift by s goes over it from the host that is s before such a one, downwards
/// always to the same. A link is idle only in the first phases and the last, while that message stays below. Source:
/// own, from D-mod-k.
class FatTreeForm final : public ClosedForm {
 public:
  explicit FatTreeForm(const Network& network) : tree_(network.fat_tree()), shifts_(network) {}

  [[nodiscard]] std::uint32_t ranks() const override { return shifts_.ranks(); }
  [[nodiscard]] std::uint64_t phases() const override { return shifts_.phases(); }
  [[nodiscard]] std::uint64_t phase(Rank src, Rank dst) const override { return shifts_.phase(src, dst); }
  [[nodiscard]] std::uint32_t sends_before(const PhasedMessage& message) const override {
    return static_cast<std::uint32_t>(message.phase);  // everyone sends in every phase
  }
  [[nodiscard]] std::optional<Rank> target(Rank rank, std::uint64_t phase) const override {
    return shifts_.target(rank, phase);
  }
  [[nodiscard]] std::optional<Rank> source(Rank rank, std::uint64_t phase) const override {
    return shifts_.source(rank, phase);
  }
  void append_messages(std::uint64_t phase, std::vector<Hop>& messages) const override;
  [[nodiscard]] std::optional<PhasedMessage> user(Channel channel, std::uint64_t phase, Side side) const override;
  [[nodiscard]] bool uses(const PhasedMessage& message, Channel channel) const override;

 private:
  /// A channel that messages take. Below its link are the positions first … first + size − 1.
  struct Link {
    std::uint32_t first, size;
    std::uint32_t digits;  ///< digits that lead over it: the place in a stretch of as many
    bool up;
  };
  [[nodiscard]] std::optional<Link> link(Channel channel) const;

  std::shared_ptr<const FatTree> tree_;
  FatTreeShifts shifts_;
};

}  // namespace hocket::closed_forms
