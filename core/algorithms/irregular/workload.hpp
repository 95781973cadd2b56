#pragma once
/// The messages of an all-to-all or irregular demand as link-aware algorithms see them: what each needs, and how long.
#include <cstdint>
#include <span>
#include <vector>

#include "core/demand/demand.hpp"
#include "core/network/network.hpp"

namespace hocket::algorithms {

/// Resources are the send and receive ports of the ranks and the channels, numbered from 0 as they
/// are met. A channel of capacity 1 that has one sender or one receiver, with one port, is left out: that port is busy
/// whenever the channel is.
class Workload {
 public:
  /// Linear in messages × route length. Demand and network must have the same ranks.
  Workload(const Network& network, const Demand& demand);

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(messages_.size()); }
  [[nodiscard]] const Message& message(std::uint32_t i) const { return messages_[i]; }
  /// Seconds of a message alone on its route: bytes / slowest rate; 0 between ranks of one host.
  [[nodiscard]] double seconds(std::uint32_t i) const { return seconds_[i]; }
  [[nodiscard]] std::span<const std::uint32_t> needs(std::uint32_t i) const {
    return {needs_.data() + begin_[i], needs_.data() + begin_[i + 1]};
  }

  [[nodiscard]] std::uint32_t resources() const { return static_cast<std::uint32_t>(capacity_.size()); }
  /// Messages that the resource carries at once.
  [[nodiscard]] std::uint32_t capacity(std::uint32_t resource) const { return capacity_[resource]; }
  /// Seconds that its messages take, over its capacity.
  [[nodiscard]] const std::vector<double>& load() const { return load_; }
  /// The largest load. Where all channels are equally fast that is the bound of the demand.
  [[nodiscard]] double bound() const;

 private:
  std::vector<Message> messages_;
  std::vector<double> seconds_;
  std::vector<std::uint64_t> begin_{0};
  std::vector<std::uint32_t> needs_;
  std::vector<std::uint32_t> capacity_;
  std::vector<double> load_;
};

}  // namespace hocket::algorithms
