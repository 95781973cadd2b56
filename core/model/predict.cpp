#include "core/model/predict.hpp"

#include <array>

#include "core/limits.hpp"
#include "core/model/simulate.hpp"
#include "core/progress/progress.hpp"
#include "core/schedule/shared_channels.hpp"

namespace hocket {
namespace {

/// Seconds that phases take besides their bytes: per-message costs, latencies and tokens. The route between the first
/// and the last rank stands for the longest one.
double pauses(const Network& network, std::uint64_t phases, double alphas, bool tokens) {
  if (phases == 0) return 0;
  double latency = 0;
  for (const Channel channel : network.route(0, network.ranks() - 1)) latency += network.latency(channel);
  const double back = tokens ? static_cast<double>(phases - 1) * latency : 0;
  return alphas + static_cast<double>(phases) * latency + back;
}

std::uint64_t longest(const Schedule& schedule, std::uint64_t phase) {
  std::uint64_t most = 0;
  for (std::uint64_t i = schedule.phase_begin()[phase]; i < schedule.phase_begin()[phase + 1]; ++i)
    most = std::max(most, schedule.length(i));
  return most;
}

/// Sum over the phases of the most sends that one rank has in the phase.
std::uint64_t sends_in_turn(const Schedule& schedule) {
  check_ranks(schedule);
  std::vector<std::uint32_t> sends(schedule.ranks(), 0);
  std::uint64_t all = 0;
  for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase) {
    std::uint32_t most = 0;
    for (const Hop hop : schedule.phase(phase)) most = std::max(most, ++sends[hop.src]);
    for (const Hop hop : schedule.phase(phase)) sends[hop.src] = 0;
    all += most;
  }
  return all;
}

/// Times of an all-to-all by tokens with window 1 on equal links, phase by phase: nobody holds the schedule. They are
/// those of simulate(). Memory is linear in ranks and channels.
///
/// - A rank posts its messages in the order of phases: after its last one is over, and when, on every channel of the
///   route, the last one is over and its receiver's token has come. What it sent itself, and what it received itself,
///   needs no token.
/// - A posted message takes `alpha`, then the latency of its route. Then it has all channels of its route to itself,
///   ports of hosts included, as soon as those before it are over on all of them. Ranks on one host take no time.
class TokenSimulation {
 public:
  TokenSimulation(const Network& network, double bytes, double alpha)
      : network_(network),
        alpha_(alpha),
        transmission_(network.channels() > 0 ? bytes / network.rate(0) : 0),
        channels_(network.channels()),
        senders_(network.ranks()) {}

  /// The messages of the next phase. False if two of them share a sender or a channel: then times are wrong.
  [[nodiscard]] bool add(std::span<const Hop> messages) {
    ++phase_;
    bool alone = true;
    for (const Hop message : messages) alone = add(message) && alone;
    return alone;
  }
  /// Seconds until the last message so far is over.
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  static constexpr Rank nobody = ~Rank{0};
  /// The last message of a channel or a sender.
  struct Turn {
    std::uint64_t phase = 0;  ///< counted from 1
    double end = 0;
    Hop message{nobody, nobody};
  };

  double find_route(Hop message) {
    network_.find_route(message.src, message.dst, route_);
    double latency = 0;
    for (const Channel channel : route_) latency += network_.latency(channel);
    return latency;
  }

  bool add(Hop message) {
    Turn& sender = senders_[message.src];
    double ready = sender.end, free = 0;
    bool alone = std::exchange(sender.phase, phase_) != phase_;
    const double latency = find_route(message);
    std::swap(route_, taken_);  // the routes of tokens are found meanwhile
    Hop last{nobody, nobody};
    for (const Channel channel : taken_) {
      Turn& turn = channels_[channel];
      alone = std::exchange(turn.phase, phase_) != phase_ && alone;
      free = std::max(free, turn.end);
      const Hop user = turn.message;
      // Neighbouring channels often had the same message.
      if (user.src == nobody || user == last) continue;
      last = user;
      const bool silent = user.src == message.src || user.dst == message.src;
      ready = std::max(ready, turn.end + (silent ? 0 : find_route({user.dst, message.src})));
    }
    sender.end = ready + alpha_ + latency;
    if (!taken_.empty()) sender.end = std::max(sender.end, free) + transmission_;
    for (const Channel channel : taken_) channels_[channel] = {phase_, sender.end, message};
    seconds_ = std::max(seconds_, sender.end);
    return alone;
  }

  const Network& network_;
  double alpha_, transmission_, seconds_ = 0;  ///< s
  std::vector<Turn> channels_, senders_;
  std::vector<Channel> route_, taken_;
  std::uint64_t phase_ = 0;
};

/// Simulates the messages that `find` lists for each phase, with window 1. None if there are too many messages, or if
/// messages of a phase share a channel.
template <class FindMessages>
std::optional<Prediction> simulated_by_phase(const Network& network, const Demand& demand, std::uint64_t phases,
                                             double alpha, FindMessages find) {
  if (demand.pattern != Pattern::all_to_all || demand.messages() > limits::most_messages_simulated_by_phase) return {};
  TokenSimulation times(network, static_cast<double>(demand.bytes), alpha);
  Steps steps("simulating", phases);
  for (std::uint64_t phase = 0; phase < phases; ++phase) {
    if (!times.add(find(phase))) return {};
    steps.tick();
  }
  return Prediction{times.seconds()};
}

}  // namespace

ModelParameters costs_of(const CostProfile& profile) {
  return {.alpha = profile.send,
          .receive = profile.receive,
          .eager = profile.eager,
          .token = profile.token,
          .token_work = profile.send,
          .overhead = profile.wire,
          .contention = profile.contention};
}

std::string_view to_string(Prediction::Kind kind) {
  constexpr std::array<std::string_view, 3> names{"simulated", "by phases", "by load"};
  return names[static_cast<std::size_t>(kind)];
}

double seconds_by_phases(const Network& network, std::uint64_t phases, double bytes, double alphas, bool tokens) {
  if (phases == 0) return 0;
  double slowest = network.channels() == 0 ? network.host_rate() : std::numeric_limits<double>::infinity();
  for (Channel channel = 0; channel < network.channels(); ++channel) slowest = std::min(slowest, network.rate(channel));
  return (slowest > 0 ? bytes / slowest : 0) + pauses(network, phases, alphas, tokens);
}

Prediction predict(const Network& network, const Demand& demand, const Schedule& schedule, const Waits& waits,
                   bool contention_free, double alpha, std::optional<std::uint64_t> most_steps) {
  const double alphas = static_cast<double>(sends_in_turn(schedule)) * alpha;
  const bool tokens = waits.size() > 0;
  const std::uint64_t messages = std::max(demand.messages(), schedule.size());
  if (messages > limits::most_messages_simulated && contention_free && network.equal_rates()) {
    if (most_steps && waits.window == 1 && schedule.direct()) {
      const auto find = [&](std::uint64_t phase) { return schedule.phase(phase); };
      if (const auto found = simulated_by_phase(network, demand, schedule.phases(), alpha, find)) return *found;
    }
    std::uint64_t bytes = 0;
    for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase) bytes += longest(schedule, phase);
    return {seconds_by_phases(network, schedule.phases(), static_cast<double>(bytes), alphas, tokens),
            Prediction::Kind::by_phases};
  }
  const FlowControl flow{FlowControl::Kind::window, waits.window};
  const ModelParameters parameters{.alpha = alpha};
  if (!most_steps) return {simulate(network, schedule, &waits, flow, parameters).seconds};
  if (const auto simulated = simulate_within(*most_steps, network, schedule, &waits, flow, parameters))
    return {simulated->seconds};
  const double lockstep = lockstep_seconds(network, schedule);
  const double between = pauses(network, schedule.phases(), alphas, tokens);
  if (schedule.phases() == 1) return {lockstep + between, Prediction::Kind::by_load};
  // Both are too much: phases overlap, and messages share a channel rather than follow each other.
  return {std::min(lockstep, token_seconds(network, schedule)) + between, Prediction::Kind::by_phases};
}

Prediction predict(const Network& network, const Demand& demand, const ClosedForm& form, double alpha) {
  std::vector<Hop> messages;
  const auto find = [&](std::uint64_t phase) {
    messages.clear();
    form.append_messages(phase, messages);
    return std::span<const Hop>(messages);
  };
  if (const auto found = simulated_by_phase(network, demand, form.phases(), alpha, find)) return *found;
  const auto phases = static_cast<double>(form.phases());
  return {seconds_by_phases(network, form.phases(), phases * static_cast<double>(demand.bytes), phases * alpha),
          Prediction::Kind::by_phases};
}

}  // namespace hocket
