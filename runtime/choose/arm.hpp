#pragma once
/// The ways in which a call can be served.
#include <array>
#include <cstdint>
#include <string_view>

#include "runtime/plan/settings.hpp"

namespace hocket::runtime {

struct Arm {
  std::string_view name;
  std::uint32_t window =
      0;  ///< messages of a rank that may be unacknowledged; of arms: 0 for the MPI library's own call
  Flow flow = Flow::token;
};

/// A schedule as it was planned: the window of its plan, the flow control that the environment asks for.
inline constexpr Arm as_planned{"as planned", 0};

/// The first is the library's own. Evidence of earlier runs names them, so names stay.
inline constexpr std::array<Arm, 6> arms{
    {{"native"}, {"window-1", 1}, {"window-2", 2}, {"window-4", 4}, {"window-8", 8}, {"order", 8, Flow::free}}};

}  // namespace hocket::runtime
