#pragma once
/// Writing down the schedule of an irregular demand, phase by phase.
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/demand/demand.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket::algorithms {

/// Every message goes straight from sender to receiver, whole or in parts.
class PhaseWriter {
 public:
  explicit PhaseWriter(const Demand& demand) : demand_(demand) {
    hops_.reserve(demand.messages());
    pieces_.begin.reserve(demand.messages() + 1);
    pieces_.pieces.reserve(demand.messages());
  }

  /// Bytes [offset, offset + length) of the message src -> dst, in the current phase.
  void send(Rank src, Rank dst, std::uint64_t offset, std::uint64_t length) {
    hops_.push_back({src, dst});
    pieces_.pieces.push_back({src, dst, offset, length});
    pieces_.end_list();
  }
  /// A phase without transfers is none.
  void end_phase() {
    if (hops_.size() > begin_.back()) begin_.push_back(hops_.size());
  }
  [[nodiscard]] Schedule finish() {
    end_phase();
    return {demand_.ranks, demand_.bytes, std::move(begin_), std::move(hops_), std::move(pieces_)};
  }

 private:
  const Demand& demand_;
  std::vector<std::uint64_t> begin_{0};
  std::vector<Hop> hops_;
  PieceLists pieces_;
};

/// `form` has phases(), and target(rank, phase), a rank or none.
template <class Form>
[[nodiscard]] Schedule written_out(const Form& form, const Demand& demand) {
  std::vector<std::uint64_t> begin{0};
  std::vector<Hop> hops;
  hops.reserve(demand.messages());
  for (std::uint64_t phase = 0; phase < form.phases(); ++phase) {
    for (Rank src = 0; src < demand.ranks; ++src)
      if (const std::optional<Rank> dst = form.target(src, phase)) hops.push_back({src, *dst});
    begin.push_back(hops.size());
  }
  return {demand.ranks, demand.bytes, std::move(begin), std::move(hops)};
}

/// Message i of the matrix, counted row by row, goes in phase phase_of[i] < phases. Linear time.
[[nodiscard]] Schedule whole_messages(const Demand& demand, std::span<const std::uint32_t> phase_of,
                                      std::uint32_t phases);

}  // namespace hocket::algorithms
