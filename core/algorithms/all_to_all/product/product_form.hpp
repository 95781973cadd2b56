#pragma once
/// The product schedule turned round: who uses a channel in a phase?
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/algorithms/all_to_all/product/lines.hpp"
#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket::product {

using Dealt = std::vector<std::vector<Group>>;  ///< per dimension

[[nodiscard]] std::vector<Line> lines_of(const Network& network);
/// First attempt of the product algorithm: all messages of ranks to themselves in one phase where the ports set the
/// bound, otherwise closed forms and short searches. Empty if neither finds groups.
[[nodiscard]] Dealt deal_quickly(const std::vector<Line>& lines);
/// True if a schedule of so many phases is accepted without comparing it with packing.
[[nodiscard]] bool taken_at_once(std::uint64_t messages, std::uint64_t phases, std::uint64_t bound);

}  // namespace hocket::product

namespace hocket::closed_forms {

/// Where the lines are dealt out to permutations, each combination of one per dimension takes as many phases as the
/// most parts that one of them has: a message goes where the parts of its moves add up to the phase. A channel's user
/// has come to its targets in the dimensions before and has its sources in those behind, so its part in the channel's
/// own dimension follows from the phase. Source: own.
class ProductForm final : public ClosedForm {
 public:
  /// For one rank on every host. Null unless every group of a dimension is a permutation of as many parts.
  [[nodiscard]] static std::unique_ptr<ProductForm> make(const Network& network);

  [[nodiscard]] std::uint32_t ranks() const override {
    return static_cast<std::uint32_t>(coordinates_.size() / dimensions_.size());
  }
  [[nodiscard]] std::uint64_t phases() const override { return combinations_ * parts_ - (rest_ ? 1 : 0); }
  [[nodiscard]] std::uint64_t phase(Rank src, Rank dst) const override;
  [[nodiscard]] std::uint32_t sends_before(const PhasedMessage& message) const override;
  [[nodiscard]] std::optional<Rank> target(Rank rank, std::uint64_t phase) const override;
  [[nodiscard]] std::optional<Rank> source(Rank rank, std::uint64_t phase) const override;
  void append_messages(std::uint64_t phase, std::vector<Hop>& messages) const override;
  [[nodiscard]] std::optional<PhasedMessage> user(Channel channel, std::uint64_t phase, Side side) const override;
  [[nodiscard]] bool uses(const PhasedMessage& message, Channel channel) const override;

 private:
  using Small = std::uint16_t;
  static constexpr std::size_t most_dimensions = 32;  // a hypercube of 2^20 nodes has 20
  static constexpr Small nobody = static_cast<Small>(~0u);

  /// All lines of a dimension.
  struct Dimension {
    product::Line line;
    std::uint32_t stride = 1, groups = 0, parts = 1, parts_so_far = 1;
    std::vector<Small> group;   ///< [from · side + to]
    std::vector<Small> part;    ///< [group · side + from]
    std::vector<Small> to;      ///< [group · side + from]
    std::vector<Small> from;    ///< [group · side + to]
    std::vector<Small> source;  ///< [(group · parts + part) · 2 side + channel]: whose move takes it
  };

  ProductForm(const Network& network, const product::Dealt& dealt);
  void add_dimension(const product::Line& line, const std::vector<product::Group>& groups);
  [[nodiscard]] Small coordinate(Rank rank, std::size_t d) const { return coordinates_[rank * dimensions_.size() + d]; }
  [[nodiscard]] std::uint64_t combination(Rank src, Rank dst) const;
  /// State in a phase: the current combination of groups, and the sum of the parts of its moves modulo the number of
  /// parts.
  struct Now {
    std::uint32_t group[most_dimensions];
    std::uint64_t sum;
  };
  [[nodiscard]] Now now(std::uint64_t phase) const;
  [[nodiscard]] std::optional<Rank> target(Rank rank, const Now& now) const;
  [[nodiscard]] std::optional<PhasedMessage> user_in(Channel channel, std::uint64_t phase) const;

  std::vector<Dimension> dimensions_;
  std::vector<Small> coordinates_;                    ///< [rank · dimensions + d]
  std::vector<std::uint8_t> dimension_of_;            ///< per link
  std::vector<std::uint32_t> lower_end_, upper_end_;  ///< per link, in the sense of the ring
  std::uint64_t combinations_ = 1, parts_ = 1;
  std::optional<std::uint64_t> rest_;  ///< the combination in which everyone rests: no phase
};

}  // namespace hocket::closed_forms
