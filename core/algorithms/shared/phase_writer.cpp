#include "core/algorithms/shared/phase_writer.hpp"

#include <vector>

namespace hocket::algorithms {

Schedule whole_messages(const Demand& demand, std::span<const std::uint32_t> phase_of, std::uint32_t phases) {
  std::vector<std::uint64_t> begin(std::size_t{phases} + 1, 0);
  for (const std::uint32_t phase : phase_of) ++begin[phase + 1];
  for (std::uint32_t phase = 0; phase < phases; ++phase) begin[phase + 1] += begin[phase];
  std::vector<Message> sorted(phase_of.size());
  std::vector<std::uint64_t> next(begin);
  std::size_t message = 0;
  demand.matrix.each(
      [&](Rank src, Rank dst, std::uint64_t bytes) { sorted[next[phase_of[message++]]++] = {src, dst, bytes}; });
  PhaseWriter writer(demand);
  for (std::uint32_t phase = 0; phase < phases; ++phase) {
    for (std::uint64_t i = begin[phase]; i < begin[phase + 1]; ++i)
      writer.send(sorted[i].src, sorted[i].dst, 0, sorted[i].bytes);
    writer.end_phase();
  }
  return writer.finish();
}

}  // namespace hocket::algorithms
