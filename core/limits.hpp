#pragma once
/// The limits by which planning chooses, each once.
#include <cstdint>

namespace hocket::limits {

/// Bytes of a message, or of a contribution, where nobody says how large messages will be.
inline constexpr std::uint64_t reference_bytes = 1 << 20;

/// Times the bound: no faster schedule is looked for.
inline constexpr double near_enough = 1.02;
/// Times the best prediction so far: by an estimate that is below this, waits are derived and a prediction made.
inline constexpr double worth_waits = 0.99;
/// Times the bound: a pipeline's time to fill is in it.
inline constexpr double near_enough_piped = 1.1;
/// Times the bound: messages of an irregular exchange are not cut.
inline constexpr double near_enough_uncut = 1.05;

/// Times the bound: a closed form is taken where a run could not plan the whole.
inline constexpr double near_enough_by_row = 1.15;

/// Messages of an irregular exchange; more are not cut, which would take seconds.
inline constexpr std::uint64_t most_messages_cut = 1 << 14;
/// Ranks of an all-gather; with more no phases are compared, which would take seconds.
inline constexpr std::uint32_t most_ranks_compared = 256;
/// Messages, or deliveries of an all-gather, about 1,000 ranks; with more no predictions are compared.
inline constexpr std::uint64_t most_messages_compared = 1'100'000;
/// Messages of an all-to-all on unequal links, about 550 ranks; more are not listed in continuous time, which would
/// take many seconds.
inline constexpr std::uint64_t most_messages_listed = 300'000;
/// Ranks of an all-to-all; with more, and window 1, ranks tell their waits by a rule (local_waits()) wherever it holds.
/// The search for redundant waits gives up too often there and takes longer (docs/decisions/0035).
inline constexpr std::uint32_t most_ranks_searched_for_waits = 512;
/// Ranks of a whole plan that is made for a run, or in it. Time and memory grow with their square.
inline constexpr std::uint32_t most_ranks_planned_for_run = 2048;
/// Messages that a rank sends or receives in an irregular exchange whose ranks agree on phases with their partners;
/// where one has more, the whole is planned. A set of phases for each of them takes 38 MB.
inline constexpr std::uint32_t most_partners_in_rounds = 1 << 14;

/// Messages, or transfers that they take; more are predicted from their phases where none of a phase share a channel
/// and all links are equal.
inline constexpr std::uint64_t most_messages_simulated = 300'000;
/// Messages of an all-to-all, of 2,048 ranks; up to that such predictions are simulated phase by phase, in one to four
/// seconds.
inline constexpr std::uint64_t most_messages_simulated_by_phase = 1 << 22;
/// FairShare::steps(), some seconds; beyond, a prediction is an estimate. Counted, so that all machines agree.
inline constexpr std::uint64_t most_simulation_steps = 100'000'000;

/// Messages that a rank may have unacknowledged in a run unless the user says otherwise. In an all-gather a rank that
/// forwards needs the next one for the same wire at once (bench/results/lab-gather-window.md). In a pipeline of one
/// block it has nothing else to send: more in flight only catch up with each other (docs/decisions/0025).
inline constexpr std::uint32_t window = 1, gather_window = 2;

/// Seconds that a message of a pipeline costs its sender in a run: MPI over TCP, on the slow side.
inline constexpr double run_alpha = 5e-5;

/// True if a closed form has few enough phases, compared with their bound, to look for nothing else.
[[nodiscard]] constexpr bool is_near(std::uint32_t ranks, std::uint64_t phases, std::uint64_t bound) {
  const double enough = ranks <= most_ranks_planned_for_run ? near_enough : near_enough_by_row;
  return static_cast<double>(phases) <= enough * static_cast<double>(bound);
}

}  // namespace hocket::limits
