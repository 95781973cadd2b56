#pragma once
/// Phases that serve the most loaded resources first, messages cut where that keeps a phase even.
#include <cstdint>
#include <span>
#include <vector>

#include "core/algorithms/irregular/workload.hpp"

namespace hocket::algorithms {

struct Part {
  std::uint32_t message = 0;
  std::uint64_t bytes = 0;
};

/// Phase p is [begin[p], begin[p + 1]) of `parts`; no resource is overfull in it. The parts of a message
/// follow each other in the order of its bytes.
struct CutPhases {
  double seconds = 0;  ///< all phases, one after the other
  std::vector<std::uint64_t> begin{0};
  std::vector<Part> parts;

  [[nodiscard]] std::uint64_t phases() const { return begin.size() - 1; }
  [[nodiscard]] std::span<const Part> phase(std::uint64_t p) const {
    return {parts.data() + begin[p], parts.data() + begin[p + 1]};
  }
};

/// `alpha`: seconds that a phase is taken to cost besides its transfers; more makes longer phases and
/// fewer cuts. At least one message ends in every phase.
[[nodiscard]] CutPhases critical_phases(const Workload& work, double alpha);

}  // namespace hocket::algorithms
