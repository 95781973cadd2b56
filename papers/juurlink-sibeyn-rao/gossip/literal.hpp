#pragma once
/// The search of the paper itself: one a and one b for all rounds.
#include <cstdint>

namespace hocket::gossip {

/// CircGos(n, a, b) as the paper has it: a divides n, every round inserts a − 1 bridgeheads per gap in b
/// steps.
struct LiteralPlan {
  std::uint32_t a = 1, b = 0;
  double time = 0;
};
[[nodiscard]] double literal_circgos(std::uint32_t n, std::uint32_t a, std::uint32_t b, double r);
[[nodiscard]] LiteralPlan best_literal_circgos(std::uint32_t n, double r);

}  // namespace hocket::gossip
