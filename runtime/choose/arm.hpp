#pragma once
/// The ways in which a call can be served.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/plan/settings.hpp"

namespace hocket::runtime {

struct Arm {
  std::string_view name;
  std::uint32_t window = 0;  ///< messages of a rank that may be unacknowledged; of arms: 0 for the library's own call
  Flow flow = Flow::token;
  bool large = false;  ///< segments of `large_segment` bytes
  /// One message between two hosts, for all their ranks (runtime/bundle/); window 0: the library carries them.
  bool bundled = false;
  /// Every rank of a host carries some of its bundles, as soon as it can.
  bool all_lead = false;

  /// That it can give up when a call takes too long.
  [[nodiscard]] constexpr bool has_order() const { return window > 0; }
};

/// Small segments leave at once and overlap. On shared memory and fast fabrics they cost more than the wait for the
/// receiver that MPI libraries put before large ones.
inline constexpr std::size_t large_segment = std::size_t{1} << 20;

/// A schedule as it was planned: the window of its plan, the flow control that the environment asks for.
inline constexpr Arm as_planned{"as planned", 0};

/// The first is the library's own. Evidence of earlier runs names them, so names stay.
inline constexpr std::array<Arm, 14> arms{{{"native"},
                                           {"window-1", 1},
                                           {"window-2", 2},
                                           {"window-4", 4},
                                           {"window-8", 8},
                                           {"order", 8, Flow::free},
                                           {"window-1-large", 1, Flow::token, true},
                                           {"window-4-large", 4, Flow::token, true},
                                           {"order-large", 8, Flow::free, true},
                                           {"bundle-1", 1, Flow::token, false, true},
                                           {"bundle-2", 2, Flow::token, false, true},
                                           {"bundle-order", 8, Flow::free, false, true},
                                           {"bundle-native", 0, Flow::token, false, true},
                                           {"bundle-leaders", 0, Flow::token, false, true, true}}};

/// Of sums that are not timed, on hosts with several ranks.
inline constexpr const Arm& bundled_sums = arms[10];

}  // namespace hocket::runtime
