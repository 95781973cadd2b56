#pragma once
/// Resources that messages compete for: send ports, receive ports and channels; how a packed
/// schedule is squeezed into fewer phases of them.
#include <cstdint>
#include <span>
#include <vector>

#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket::algorithms {

/// Ranks by the switch that their host's only link leads to. From there on messages go by their destination alone, so
/// that a phase may have any of them send to it: while phases are packed only the number of sends from a switch counts.
class SendPools {
 public:
  /// Every rank is a pool of its own where a host has several ranks, links or ports, or routes are explicit.
  explicit SendPools(const Network& network, bool pooled);

  [[nodiscard]] std::uint32_t of(Rank rank) const { return of_[rank]; }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(members_.size()); }
  [[nodiscard]] std::span<const Rank> members(std::uint32_t pool) const { return members_[pool]; }
  /// True if some pool has several ranks.
  [[nodiscard]] bool any_shared() const { return members_.size() < of_.size(); }

  /// Deals the messages of each pool out to its ranks so that each sends at most one a phase, and one to every rank. A
  /// message to itself, which a schedule need not have, is listed for each rank of a pool of several: every
  /// destination then has as many messages from a pool as that has ranks, so that edge colours of phases and
  /// destinations are senders (König). Removes those messages from `hops` and `phase_of`.
  void deal(std::uint64_t phases, std::vector<Hop>& hops, std::vector<std::uint32_t>& phase_of) const;

 private:
  std::vector<std::uint32_t> of_;
  std::vector<std::vector<Rank>> members_;
};

/// Messages and the phase of each.
struct Packed {
  std::uint64_t phases = 0;
  std::vector<Hop> hops;
  std::vector<std::uint32_t> phase_of;
};

/// The ports and channels that can ever be full, numbered from 0. A channel as wide as the number of ports of the ranks
/// that send over it, or that receive over it, never is: the ports see to that. Without the hosts' own links
/// and wide inter-switch links, routes are two to three times shorter.
class Resources {
 public:
  /// `hops`: the messages to be scheduled. The ranks of a pool share a send port that is as wide as they are many.
  /// Linear in messages × route length.
  Resources(const Network& network, const SendPools& pools, std::span<const Hop> hops);

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(capacity_.size()); }
  /// Messages that the resource carries in one phase.
  [[nodiscard]] std::uint32_t capacity(std::uint32_t resource) const { return capacity_[resource]; }
  /// Messages that need it.
  [[nodiscard]] std::uint64_t load(std::uint32_t resource) const { return load_[resource]; }
  /// Appends what a message needs, in the order of its route from port to port.
  void append(Hop hop, std::vector<std::uint32_t>& needs) const;

 private:
  static constexpr std::uint32_t never_full = ~std::uint32_t{0};

  const Network& network_;
  const SendPools& pools_;
  std::vector<std::uint32_t> number_;  ///< numbers of the pools' send ports, receive ports and channels; or never_full
  std::vector<std::uint32_t> capacity_;
  std::vector<std::uint64_t> load_;
};

/// Messages in phases 0 … phases() − 1, no resource overfull. One row of all phases per resource, so
/// that the phases of a message are judged by adding up rows, eight phases to a machine instruction.
class Timetable {
 public:
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
  /// Rows are padded to a multiple of so many phases, for whole vector instructions.
  static constexpr std::uint64_t lanes = 16;

  /// An empty timetable that may grow to `most_phases`.
  Timetable(const Resources& resources, std::span<const Hop> hops, std::uint32_t most_phases);
  /// Bytes that a timetable of this size takes.
  [[nodiscard]] static std::uint64_t bytes(const Resources& resources, std::uint64_t most_phases);

  [[nodiscard]] std::uint32_t phases() const { return phases_; }
  /// Opens or closes phases at the end. Those to be closed must be empty.
  void set_phases(std::uint32_t phases);
  [[nodiscard]] const std::vector<std::uint32_t>& phase_of() const { return phase_of_; }
  /// Resources that a message needs.
  [[nodiscard]] std::span<const std::uint32_t> needs(std::uint32_t message) const { return needs_.of(message); }

  /// The first phase, counted cyclically from `from`, in which the message has room; or `nowhere`.
  [[nodiscard]] std::uint32_t free_phase(std::uint32_t message, std::uint32_t from) const;
  /// The cheapest of `window` phases, counted cyclically from `from`: the first one whose conflicting messages have the
  /// least total weight. A message that conflicts at several resources counts once where these follow each other.
  [[nodiscard]] std::uint32_t cheapest_phase(std::uint32_t message, std::uint32_t from, std::uint32_t window);
  /// The total weight of a message's conflicting messages in each phase, and in one, counted as cheapest_phase() does.
  void prices(std::uint32_t message, std::span<std::int16_t> of_phases) const;
  [[nodiscard]] std::int16_t price(std::uint32_t message, std::uint32_t phase) const;
  /// Puts a message into a phase; appends those that had to leave, the lightest of each full resource.
  void put(std::uint32_t message, std::uint32_t phase, std::vector<std::uint32_t>& displaced);
  /// Takes a message out of its phase.
  void remove(std::uint32_t message);
  /// Closes the phase that is used least, to which the messages of the last one go. Returns those that were in it and
  /// are nowhere now. All messages must have a phase.
  [[nodiscard]] std::vector<std::uint32_t> close_least_used();
  /// Makes a message that is nowhere heavier: harder to displace.
  void weigh_down(std::uint32_t message);

 private:
  [[nodiscard]] std::uint32_t* slots(std::uint32_t resource, std::uint32_t phase) {
    return slots_.data() + first_slot_[resource] + std::uint64_t{phase} * resources_.capacity(resource);
  }
  [[nodiscard]] std::uint32_t lightest(std::uint32_t resource, std::uint32_t phase);
  void set_full(std::uint32_t resource, std::uint32_t phase);
  void set_room(std::uint32_t resource, std::uint32_t phase);
  void halve_weights();

  const Resources& resources_;
  std::uint32_t phases_ = 0;
  std::uint64_t words_, stride_;  ///< length of a row of bits, in words; length of a row of phases
  std::int16_t heaviest_;         ///< limit: the weights of one route add up within 16 bits
  Grouped needs_;
  std::vector<std::uint32_t> phase_of_;
  std::vector<std::int16_t> weight_;
  std::vector<std::uint64_t> closed_;  ///< bits of the phases beyond the last
  std::vector<std::uint64_t> full_;    ///< per resource: bits of the phases in which it is full
  std::vector<std::int16_t> price_;    ///< per resource and phase: weight of the lightest, 0 if there is room
  std::vector<std::uint16_t> tag_;     ///< number of that message, cut to 16 bits
  std::vector<std::uint64_t> first_slot_;
  std::vector<std::uint32_t> slots_;  ///< per resource and phase: its messages, `nowhere` behind the last
  std::vector<std::int16_t> sum_;
};

/// Default budget of repair(), in steps of about a nanosecond.
[[nodiscard]] std::uint64_t repair_budget(std::uint64_t messages);

/// Fits the messages of any contention-free one-port schedule, whose ranks may send in pools, into `bound` phases, or
/// into as few above it as a search within the budget finds; then dissolves one phase after the other while that
/// succeeds, and where more than a twentieth is left above the bound, closes phases by tabu search. `bound`: at least
/// 1, below which no schedule exists (lower_bounds). Deterministic: the budget is counted in steps, not in time. Leaves
/// `packed` as it was where nothing better is found, and where the tables would take more than 1 GiB.
void repair(const Network& network, const SendPools& pools, std::uint64_t bound, Packed& packed, std::uint64_t budget);

}  // namespace hocket::algorithms
