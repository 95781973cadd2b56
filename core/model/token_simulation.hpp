#pragma once
/// The time of an all-to-all by tokens, phase by phase: nobody holds the schedule.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/model/away.hpp"
#include "core/network/network.hpp"
#include "core/schedule/closed_form.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket {

/// The defaults are an ideal machine: nothing but the wires takes time.
struct TokenModel {
  double bytes = 0;          ///< size of every message on the wire
  std::uint32_t window = 1;  ///< messages in flight on a channel, and from one sender
  double alpha = 0;          ///< s that the sender's processor spends on a message
  double token = 0;          ///< s for a token, on top of the latency of its route
  /// s of every route between two hosts; none: the sum over its channels.
  std::optional<double> latency = {};
};

/// The messages of a phase with their routes.
class PhaseMessages {
 public:
  /// Becomes those of another phase.
  void find(const Network& network, std::span<const Hop> hops);
  void find(const Network& network, const ClosedForm& form, std::uint64_t phase);

  [[nodiscard]] std::span<const Hop> hops() const { return hops_; }
  [[nodiscard]] std::span<const Channel> route(std::size_t message) const {
    return std::span(routes_).subspan(begin_[message], begin_[message + 1] - begin_[message]);
  }

 private:
  void find_routes(const Network& network);

  std::vector<Hop> hops_;
  std::vector<Channel> routes_;
  std::vector<std::size_t> begin_;
};

/// Times of messages on a network of equal links. In a phase no two messages share a channel, and no rank sends two.
///
/// - A rank posts its messages in the order of phases: after the one `window` places earlier is over, and when, on
///   every channel of the route, the one that used it `window` places earlier is over and its receiver's token has
///   come. What it sent itself, and what it received itself, needs no token.
/// - A posted message takes `alpha`, then the latency of its route. Then it has all channels of its route to itself,
///   ports of hosts included, as soon as those before it are over on all of them. Ranks on one host take no time.
/// - A rank that is away neither posts nor sends tokens; what has been posted goes on.
///
/// With window 1 nothing is left to wait for on a channel: times are those of simulate(), which shares channels
/// evenly between messages of larger windows instead.
///
/// Several runs, which differ in when ranks are away, go on at once. Memory is linear in ranks and channels, times
/// window and runs.
class TokenSimulation {
 public:
  /// One run for each of `away`. Throws InputError for links that differ, and for what is no time, size or window.
  /// `network` outlives it.
  TokenSimulation(const Network& network, const TokenModel& model, std::vector<Away> away);

  /// The messages of the next phase. False if two of them share a sender or a channel: then times are wrong.
  [[nodiscard]] bool add(const PhaseMessages& messages);

  [[nodiscard]] std::uint32_t ranks() const { return network_.ranks(); }
  [[nodiscard]] std::size_t runs() const { return away_.size(); }
  /// Seconds until the last message so far is over.
  [[nodiscard]] double seconds(std::size_t run = 0) const { return seconds_[run]; }
  /// The end of the last message that the rank has sent, or 0.
  [[nodiscard]] double end(Rank rank, std::size_t run = 0) const { return ends_[rank * runs() + run]; }
  /// When the rank's processor is done with posting that.
  [[nodiscard]] double posted(Rank rank, std::size_t run = 0) const { return posted_[rank * runs() + run]; }

 private:
  /// State of a channel or a sender.
  struct Turn {
    std::uint64_t phase = 0;   ///< phase of its last message, counted from 1
    std::uint32_t oldest = 0;  ///< slot of the oldest of its last `window` messages, which are kept in a circle
  };
  static constexpr Rank nobody = ~Rank{0};
  /// Times of a message on a channel, in a run.
  struct Use {
    double end = 0;
    double released = 0;  ///< its receiver lets go
  };

  [[nodiscard]] bool add(Hop message, std::span<const Channel> route);
  void wait_for_own(Rank src);
  void wait_for_channels(Rank src, std::span<const Channel> route);
  void transmit(Hop message, std::span<const Channel> route);
  [[nodiscard]] double latency(std::span<const Channel> route) const;
  [[nodiscard]] double latency(Rank src, Rank dst);
  /// Index of a slot in the circle of that number; circles have `window` slots.
  [[nodiscard]] std::size_t at(std::size_t circle, std::uint32_t slot) const { return circle * model_.window + slot; }

  const Network& network_;
  TokenModel model_;
  std::vector<Away> away_;   ///< per run
  double transmission_ = 0;  ///< s
  std::vector<Turn> channels_, senders_;
  std::vector<Hop> users_;                      ///< per channel and slot
  std::vector<Use> uses_;                       ///< per channel, slot and run
  std::vector<double> own_ends_;                ///< per rank, slot and run
  std::vector<double> over_, posted_, ends_;    ///< per rank and run; over: all that are `window` or more places back
  std::vector<double> ready_, free_, seconds_;  ///< per run; of the message that is looked at, and of all
  std::vector<Use> use_;
  std::vector<Channel> way_back_;
  std::uint64_t phase_ = 0;
};

/// A schedule in closed form, as far as one likes. `network` and `form` outlive it.
class FormSimulation {
 public:
  FormSimulation(const Network& network, const ClosedForm& form, const TokenModel& model, std::vector<Away> away);

  /// Goes on by so many phases, or to the end. Throws InputError for messages of a phase that meet.
  void advance(std::uint64_t phases = ~std::uint64_t{0});
  [[nodiscard]] const TokenSimulation& times() const { return times_; }
  [[nodiscard]] std::uint64_t phases() const { return phases_; }      ///< finished ones
  [[nodiscard]] std::uint64_t messages() const { return messages_; }  ///< messages of these phases

 private:
  const Network& network_;
  const ClosedForm& form_;
  TokenSimulation times_;
  std::uint64_t phases_ = 0, messages_ = 0;
  PhaseMessages of_phase_;
};

}  // namespace hocket
