#pragma once
/// Predicted time of a schedule under pair-wise tokens, by the cheapest method that applies.
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/demand/demand.hpp"
#include "core/model/simulate.hpp"
#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/waits.hpp"

namespace hocket {

/// Costs by rule of thumb.
[[nodiscard]] ModelParameters costs_of(const CostProfile& profile);

struct Prediction {
  enum class Kind : std::uint8_t {
    simulated,
    by_phases,  ///< one after the other
    by_load,    ///< time of the channel with the most bytes, all messages going at once
  };
  double seconds = 0;
  Kind kind = Kind::simulated;
};

/// "simulated", "by phases" or "by load".
[[nodiscard]] std::string_view to_string(Prediction::Kind kind);

/// Simulates the schedule; `alpha`: seconds that a message costs its sender. Many messages of a contention-free
/// schedule on equal links are predicted from their phases; or, if they are all of an all-to-all with window 1 and not
/// too many (limits.hpp), simulated phase by phase, which takes the same times.
/// `most_steps`: of the simulation; none: whatever it takes, and nothing is simulated phase by phase. Without it
/// predictions can be compared: what has so many transfers that it is estimated from its phases has been given no less
/// than its simulation would say, as long as all links are equal.
[[nodiscard]] Prediction predict(const Network& network, const Demand& demand, const Schedule& schedule,
                                 const Waits& waits, bool contention_free, double alpha,
                                 std::optional<std::uint64_t> most_steps);

/// Prediction for a schedule in closed form, with window 1, of which the whole would have too many messages to be
/// simulated at once.
[[nodiscard]] Prediction predict(const Network& network, const Demand& demand, const ClosedForm& form, double alpha);

/// Seconds of phases one after the other in which no message shares a channel. `bytes` and `alphas` (seconds): of the
/// slowest messages of all phases together. A phase ends with its last byte and, with `tokens`, the token that follows.
[[nodiscard]] double seconds_by_phases(const Network& network, std::uint64_t phases, double bytes, double alphas = 0,
                                       bool tokens = true);

}  // namespace hocket
