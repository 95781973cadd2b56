#pragma once
/// Resource use of each phase, laid out for a search that asks "which phase would cost least?" millions of times.
#include <cstdint>
#include <span>
#include <vector>

#include "core/algorithms/all_to_all/resources.hpp"

namespace hocket::algorithms {

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
  [[nodiscard]] std::span<const std::uint32_t> needs(std::uint32_t message) const {
    return {needs_.data() + begin_[message], needs_.data() + begin_[message + 1]};
  }

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
  std::vector<std::uint64_t> begin_{0};
  std::vector<std::uint32_t> needs_;
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

}  // namespace hocket::algorithms
