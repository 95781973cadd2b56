#pragma once
/// The ways in which a call can be served, by the names that are shown and kept everywhere.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hocket {

struct Candidate {
  std::string_view name;
  std::uint32_t window = 0;  ///< messages of a rank that may be unacknowledged; 0: the library's own call
  bool free = false;         ///< nobody waits for a turn
  bool large = false;        ///< segments of `large_segment` bytes
  /// One message between two hosts, for all their ranks (runtime/two_level/); window 0: the library carries them.
  bool two_level = false;
  /// Every rank of a host carries some of its aggregates, as soon as it can.
  bool all_lead = false;
  /// The schedule is drawn up for the very sizes of an irregular call.
  bool planned = false;
};

/// Small segments leave at once and overlap. On shared memory and fast fabrics they cost more than the wait for the
/// receiver that MPI libraries put before large ones.
inline constexpr std::size_t large_segment = std::size_t{1} << 20;

/// A schedule as it was planned: the window of its plan, the flow control that the environment asks for.
inline constexpr Candidate as_planned{"as planned"};

/// The first is the library's own. Timings of earlier runs names them, so names stay.
inline constexpr std::array<Candidate, 15> all_candidates{{
    {"native"},
    {.name = "window-1", .window = 1},
    {.name = "window-2", .window = 2},
    {.name = "window-4", .window = 4},
    {.name = "window-8", .window = 8},
    {.name = "order", .window = 8, .free = true},
    {.name = "window-1-large", .window = 1, .large = true},
    {.name = "window-4-large", .window = 4, .large = true},
    {.name = "order-large", .window = 8, .free = true, .large = true},
    {.name = "two-level-1", .window = 1, .two_level = true},
    {.name = "two-level-2", .window = 2, .two_level = true},
    {.name = "two-level-order", .window = 8, .free = true, .two_level = true},
    {.name = "two-level-native", .two_level = true},
    {.name = "two-level-leaders", .two_level = true, .all_lead = true},
    {.name = "planned", .window = 1, .planned = true},
}};

/// Ranks; with more, every window's waits would cost seconds to derive. Only the usual window is offered.
inline constexpr int most_ranks_for_windows = 512;

/// A call, as far as it decides on its candidates.
struct CallFacts {
  std::size_t bytes = 0;  ///< size of a message
  int ranks = 0;
  std::uint32_t usual_window = 0;  ///< run_window()
  std::size_t segment = 0;         ///< bytes of the segments of messages
  bool is_usual_segment = true;    ///< nobody has asked for another
  bool waits_for_turns = true;     ///< flow control by tokens
  bool has_phases = true;          ///< there is a schedule that all calls of the kind can follow
  bool plans = false;              ///< sizes are such that a schedule of their own may be faster
};

/// True if the candidate can serve a call of these facts; two-level messages also need hosts with several ranks.
[[nodiscard]] constexpr bool is_offered(const Candidate& candidate, const CallFacts& facts) {
  const bool is_native = candidate.window == 0 && !candidate.two_level;
  if (is_native) return true;
  if (candidate.free && !facts.waits_for_turns) return false;
  if (candidate.large && (facts.bytes <= facts.segment || !facts.is_usual_segment)) return false;
  if (candidate.two_level) return true;
  if (candidate.planned) return facts.plans;
  const bool is_usual = candidate.window == facts.usual_window && !candidate.free && !candidate.large;
  return facts.has_phases && (facts.ranks <= most_ranks_for_windows || is_usual);
}

/// The candidate that plans irregular calls for their sizes.
inline constexpr const Candidate& planned_for_sizes = all_candidates[14];

/// The candidate for sums on hosts with several ranks if calls are not timed.
inline constexpr const Candidate& two_level_sums = all_candidates[10];

}  // namespace hocket
