#pragma once
/// Room on channels in a phase.
#include <cstdint>
#include <span>
#include <vector>

#include "core/demand/traffic_matrix.hpp"
#include "core/network/network.hpp"

namespace hocket::algorithms {

/// Room on channels, for algorithms that fill one phase after the other and see to the ports themselves. All routes are
/// walked once, at the start; messages are numbered as in the matrix.
class LinkRoom {
 public:
  LinkRoom(const Network& network, const TrafficMatrix& matrix);

  /// Empties all channels.
  void next_phase() { room_ = capacity_; }
  /// True if every channel of the message's route has room; else `blocker` becomes one that has none. A
  /// message is refused by the same channel again and again: that one is looked at first.
  [[nodiscard]] bool has_room(std::uint32_t message, std::uint32_t& blocker) const {
    if (room_[blocker] == 0) return false;
    for (const std::uint32_t channel : route(message))
      if (room_[channel] == 0) {
        blocker = channel;
        return false;
      }
    return true;
  }
  void take(std::uint32_t message) {
    for (const std::uint32_t channel : route(message)) --room_[channel];
  }

 private:
  [[nodiscard]] std::span<const std::uint32_t> route(std::uint32_t message) const {
    return {routes_.data() + begin_[message], routes_.data() + begin_[message + 1]};
  }

  std::vector<std::uint32_t> capacity_, room_;  ///< channel i is at i + 1; number 0 is never taken
  std::vector<std::uint64_t> begin_{0};
  std::vector<std::uint32_t> routes_;  ///< concatenated routes of all messages; channels counted from 1
};

}  // namespace hocket::algorithms
