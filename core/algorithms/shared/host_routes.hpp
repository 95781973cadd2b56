#pragma once
/// Routes over which hosts pass on to each other.
#include <cstdint>
#include <span>
#include <vector>

#include "core/network/network.hpp"

namespace hocket::algorithms {

/// Routes between hosts, which are numbered by their places in network.hosts(). What passes a host might as well be
/// passed on by it, which needs it too: such routes are left out, unless not all hosts can be reached without them.
class HostRoutes {
 public:
  explicit HostRoutes(const Network& network);

  [[nodiscard]] std::uint32_t hosts() const { return hosts_; }
  /// Empty for a route that is left out.
  [[nodiscard]] std::span<const Channel> between(std::uint32_t from, std::uint32_t to) const {
    const std::size_t at = std::size_t{from} * hosts_ + to;
    return {channels_.data() + begin_[at], channels_.data() + begin_[at + 1]};
  }
  /// The hosts that have a route to this one.
  [[nodiscard]] std::span<const std::uint32_t> sources(std::uint32_t to) const { return sources_[to]; }
  /// Channels of all routes together.
  [[nodiscard]] std::size_t length() const { return channels_.size(); }

 private:
  void find(const Network& network, bool all);
  [[nodiscard]] bool reach_all() const;

  std::uint32_t hosts_;
  std::vector<std::vector<std::uint32_t>> sources_;
  std::vector<std::size_t> begin_{0};
  std::vector<Channel> channels_;
};

}  // namespace hocket::algorithms
