#pragma once
/// Simulation of schedules on channels that concurrent flows share, and what their transfers depend on.
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/fair_share.hpp"
#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/waits.hpp"

namespace hocket::model {

/// The waits the other way round. Throws InputError if they do not fit the schedule or point forward.
[[nodiscard]] Grouped released_by(const Schedule& schedule, const Waits& waits);

/// A transfer that forwards a piece follows the earlier ones that brought any part of it.
[[nodiscard]] Grouped forwarded_after(const Schedule& schedule);

/// Each transfer that a rank receives comes before all sends of the rank's next phase with sends.
[[nodiscard]] Grouped sent_after(const Schedule& schedule);

/// Throws InputError for a schedule that is not for this network, or too long.
void check_fits(const Network& network, const Schedule& schedule);

/// The transfers of each rank in the order of the schedule.
[[nodiscard]] Grouped sends_of(const Schedule& schedule);

}  // namespace hocket::model

namespace hocket {

/// Per listed channel the transfers whose routes contain it, in schedule order.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> transfers_on(const Network& network, const Schedule& schedule,
                                                                   std::span<const Channel> channels);

/// Most numbers in one call (512 MiB); more are refused.
inline constexpr std::uint64_t max_channel_uses = std::uint64_t{1} << 27;

/// Counts the transfers of the phases [first, last) on each channel, phase by phase: entries [(p - first) · channels,
/// (p - first + 1) · channels) are those of phase p. Throws InputError for a rank that the network does not have, for
/// phases that the schedule does not have, and for more than `max_channel_uses` numbers.
[[nodiscard]] std::vector<std::uint32_t> channel_use(const Network& network, const Schedule& schedule,
                                                     std::uint64_t first, std::uint64_t last);

/// Times in seconds from the start; one entry per transfer, channel or phase.
struct Simulation {
  double seconds = 0;                 ///< until the last byte arrives
  std::vector<std::uint32_t> phase;   ///< per transfer
  std::vector<double> posted;         ///< per transfer: its sender begins with it
  std::vector<double> start;          ///< per transfer: bytes begin to flow (after per-message cost and latency)
  std::vector<double> end;            ///< per transfer: the last byte has arrived
  std::vector<double> channel_bytes;  ///< per channel: bytes carried, with overhead
  std::vector<double> channel_busy;   ///< per channel: seconds with at least one transfer under way
  std::vector<double> phase_start;    ///< per phase: first post
  std::vector<double> phase_end;      ///< per phase: last arrival
  std::uint64_t tokens = 0;           ///< sent from one rank to another
};

/// Rules that hold a transfer back.
struct FlowControl {
  enum class Kind : std::uint8_t {
    barrier,  ///< a phase starts when all of the one before is over
    window,   ///< a transfer starts when the transfers it waits for are over and their tokens have come
    free,     ///< a transfer follows its sender's earlier phases; nothing else
    steps,    ///< a rank begins a phase when it has sent and received its messages of the one before (MPI_Sendrecv)
  };
  Kind kind = Kind::free;
  std::uint32_t window = 1;  ///< sends that a rank has in flight at once; also that of its waits
};

/// "barrier", "token" (= "window:1"), "window:K", "free" or "steps"; throws InputError.
[[nodiscard]] FlowControl parse_flow_control(std::string_view text);
[[nodiscard]] std::string to_string(FlowControl flow);

/// AlgorithmOptions. The defaults are an ideal machine: nothing but the wires takes time.
struct ModelParameters {
  double alpha = 0;    ///< s the sender's processor spends on each message, one after the other (α)
  double receive = 0;  ///< s the receiver's processor spends on each message
  std::uint64_t eager = ~std::uint64_t{0};  ///< bytes: sends of up to this are over at once, under `steps`
  double token = 0;                         ///< s for a token, on top of the latency of its route
  double token_work = 0;                    ///< s that the processors at both of its ends spend on a token
  double barrier = 0;                       ///< s between two phases under `barrier`
  double overhead = 1;  ///< bytes on the wire per byte of payload (Ethernet + IP + TCP at MTU 1500: 1.062);
                        ///< below 1 on wires that are faster than described
  double memory_rate = std::numeric_limits<double>::infinity();  ///< bytes/s between two ranks of one host
  /// Flows share a full channel in inverse proportion to the latency of their routes, as TCP's
  /// round-trip unfairness and SimGrid's CM02 have it, instead of equally.
  bool latency_weighted = false;
  /// s by the channels of a route: none, one, …; each further one adds as much as the last. Empty: the network's.
  std::vector<double> latencies;
  Contention contention;
};

/// Simulates the schedule. `waits` is used under `window` only; null: derived for the flow's window.
///
/// - A message costs its sender `alpha`, then the latency of its route, then flows; flows share
///   channels max-min fairly (SimGrid's CM02: the latency is paid up front).
/// - A rank's processor does one thing at a time: per-message costs, receives and the work on tokens, as they come.
/// - A rank sends in schedule order. It starts a transfer when fewer than `window` (free: 1) of its
///   transfers of other phases are in flight; those of one phase go together.
/// - The receiver of an awaited transfer releases the waiting sender by a token.
/// - A rank forwards a piece when it has arrived.
/// - Ranks on one host copy through memory and use no channel.
///
/// Throws InputError for schedules, waits or parameters that do not fit.
[[nodiscard]] Simulation simulate(const Network& network, const Schedule& schedule, const Waits* waits,
                                  FlowControl flow, const ModelParameters& parameters);

/// Simulates like simulate(), but returns none if that takes more than `steps` FairShare::steps(). The outcome is the
/// same on every machine.
[[nodiscard]] std::optional<Simulation> simulate_within(std::uint64_t steps, const Network& network,
                                                        const Schedule& schedule, const Waits* waits, FlowControl flow,
                                                        const ModelParameters& parameters);

}  // namespace hocket

namespace hocket::model {

/// A result before anything was sent: the phases of the transfers, all times 0.
[[nodiscard]] Simulation unsent(const Schedule& schedule);

/// Fills in the times of the phases and of the whole from those of the transfers.
void sum_up(const Schedule& schedule, Simulation& result);

}  // namespace hocket::model
