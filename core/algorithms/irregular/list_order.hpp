#pragma once
/// List scheduling: messages start one by one, in continuous time, whenever all that they need is free.
#include <cstdint>
#include <span>
#include <vector>

#include "core/algorithms/irregular/claims.hpp"

namespace hocket::algorithms {

/// Measure of a message's urgency, from the seconds of work that its resources have left.
enum class Urgency : std::uint8_t {
  largest,  ///< that of its most loaded resource
  sum,      ///< sum over its resources, steeply weighted
};

struct Starts {
  double seconds = 0;                ///< until the last message is over
  std::vector<std::uint32_t> order;  ///< the messages as they start
  std::vector<double> end;           ///< per message
};

/// Never leaves a message waiting whose claims are free. `factor`: per message, multiplies its urgency. Near-linear in
/// messages × route length where few resources are scarce.
[[nodiscard]] Starts list_starts(const Claims& work, Urgency urgency, std::span<const double> factor);

}  // namespace hocket::algorithms
