#pragma once
/// The outcome of one call of the program: scheduled, or left to the MPI library.
#include <compare>
#include <cstdint>
#include <string>

namespace hocket::runtime {

/// The reason why the MPI library serves a call.
enum class FallbackReason : std::uint8_t {
  small,              ///< messages below the limit
  few_ranks,          ///< fewer than three, or all of them on one host: nothing could collide
  intercommunicator,  ///< or no communicator
  erroneous,          ///< arguments that the MPI library is to judge
  no_place,           ///< a rank whose host the network does not know, no plan, or settings that differ
  no_plan,            ///< the exchange cannot be planned, or its plan was refused
  new_sizes,          ///< an irregular exchange that is planned when its sizes come again
  not_asked,          ///< irregular exchanges have gained nothing for a while
  sizes_unknown,      ///< only all ranks together know the sizes, and a rank need not wait for others
  not_ready,          ///< nonblocking, and the communicator has no plan yet
  forwards,           ///< a rank must forward while the program is elsewhere, and MPI is not there for several threads
  topology,           ///< a neighbourhood that is left to the MPI library
  left_alone,         ///< the program wants it so: hocket_leave_alone
  operation,          ///< a reduction whose elements are not to be combined in any order, or whose types are not served
  two_level,          ///< blocking calls like it are aggregated host by host, which this form cannot be
  faster,             ///< the MPI library's own call is faster here, or nothing has proven to be faster than it yet
};

/// Scheduled, or why not.
struct Outcome {
  enum class Kind : std::uint8_t { untold, native, scheduled };
  Kind kind = Kind::untold;
  FallbackReason why = {};  ///< set for native calls
  /// Scheduled: the algorithm ("switch-ring", "aggregates by switch-ring"); native: the reason in words.
  std::string detail = {};
  auto operator<=>(const Outcome&) const = default;
};

}  // namespace hocket::runtime
