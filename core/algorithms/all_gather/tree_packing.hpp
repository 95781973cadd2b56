#pragma once
/// Spanning trees of one root that pack the capacities exactly, and prices of channels, which rise steeply with their
/// load, for searches that even loads.
#include <algorithm>
#include <span>
#include <vector>

#include "core/algorithms/shared/slots.hpp"
#include "core/network/network.hpp"

namespace hocket::algorithms {

/// Gives trees of equal parts and one root their parents, such that all are carried in `seconds`; false: none were
/// found so. As many as the narrowest cut carries there are by Edmonds's theorem ("Edge-disjoint branchings", 1973),
/// found by Lovász's proof of it (1976): a tree takes a route if all hosts can still be reached as often as trees are
/// to come. Where routes share channels, or turn at switches without hosts, that may miss trees that there are.
[[nodiscard]] bool pack_exactly(const Network& network, const HostRoutes& routes, std::span<HostTree> trees,
                                double seconds);

/// Loads are in parts of a time in which all is to be sent. A price is what one part more, of the size at hand, adds to
/// the sum of all loads to the power 2^steepness: multiplications only, so that all machines agree.
class ChannelPrices {
 public:
  /// `goal`: that time, in seconds. The network must outlive it.
  ChannelPrices(const Network& network, double goal)
      : network_(network), goal_(goal), load_(network.channels(), 0), part_(load_), price_(load_), refund_(load_) {}

  /// Steeper prices look at the busiest channels only.
  void set_steepness(int steepness) {
    if (steepness == steepness_) return;
    steepness_ = steepness;
    bytes_ = -1;
  }
  /// Prices are of parts of so many bytes from now on.
  void set_part(double bytes) {
    if (bytes == bytes_) return;
    bytes_ = bytes;
    for (Channel channel = 0; channel < load_.size(); ++channel) {
      part_[channel] = bytes / (network_.rate(channel) * goal_);
      set_price(channel);
    }
  }
  void put(std::span<const Channel> route) {
    for (const Channel channel : route) change(channel, part_[channel]);
  }
  void take(std::span<const Channel> route) {
    for (const Channel channel : route) change(channel, -part_[channel]);
  }
  [[nodiscard]] double of(std::span<const Channel> route) const { return sum(price_, route); }
  /// Saving if a part is taken off the route.
  [[nodiscard]] double refund(std::span<const Channel> route) const { return sum(refund_, route); }
  [[nodiscard]] double most_load() const { return load_.empty() ? 0 : *std::ranges::max_element(load_); }

 private:
  [[nodiscard]] static double sum(const std::vector<double>& of, std::span<const Channel> route) {
    double sum = 0;
    for (const Channel channel : route) sum += of[channel];
    return sum;
  }
  [[nodiscard]] double power(double load) const {
    for (int i = 0; i < steepness_; ++i) load *= load;
    return load;
  }
  void set_price(Channel channel) {
    const double now = power(load_[channel]);
    price_[channel] = power(load_[channel] + part_[channel]) - now;
    refund_[channel] = now - power(std::max(0.0, load_[channel] - part_[channel]));
  }
  void change(Channel channel, double by) {
    load_[channel] = std::max(0.0, load_[channel] + by);
    set_price(channel);
  }

  const Network& network_;
  double goal_, bytes_ = -1;
  int steepness_ = 4;
  std::vector<double> load_, part_, price_, refund_;  ///< per channel
};

}  // namespace hocket::algorithms
