#pragma once
/// Predicted time of calls with a candidate whose schedule is known, by simulation.
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/choose/candidate.hpp"
#include "core/model/simulate.hpp"

namespace hocket {

/// Messages of schedules that are simulated while a program waits: 1 ms each.
inline constexpr std::uint64_t most_simulated_messages = 2'000;

/// Costs of a place where one step, a message without bytes and the token that answers it, takes `step_seconds`: half
/// of it the processors' at the ends of the message, a quarter the token's way, an eighth at each of its ends. Flows
/// that share a wire are taken to leave of it what `network`'s cost profile says. `overhead`: bytes on the wire for
/// each of a message.
[[nodiscard]] ModelParameters costs_of_steps(const Network& network, double step_seconds, double overhead);

/// The same transfers, of a schedule of whole messages, with sizes as the messages of an irregular call may have them,
/// on average as large as its own: a message for each 4^sparse pairs of ranks, uniform between half and one and a half
/// times their mean, exponential (`skewed` 1), or by Pareto's law with exponent 1.5 (2).
[[nodiscard]] Schedule with_drawn_sizes(const Schedule& schedule, unsigned sparse, unsigned skewed);

/// Seconds; none where the library carries the messages, or the simulation would take more than 5 million steps.
[[nodiscard]] std::optional<double> simulated_seconds(const Network& network, const Schedule& schedule,
                                                      const Candidate& candidate, const ModelParameters& costs);

}  // namespace hocket
