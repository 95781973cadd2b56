#pragma once
/// The links that packets cross, ports included, and the buffers of a message's route.
#include <cstdint>
#include <vector>

#include "core/network/network.hpp"
#include "parameters.hpp"

namespace hocket::model {

/// Links are the channels, then the injection ports, then the ejection ports. Each has `width` virtual
/// channels, whose buffers at the link's far end are numbered link · width + virtual channel.
class Wiring {
 public:
  Wiring(const Network& network, const WormholeParameters& parameters);

  [[nodiscard]] std::uint32_t links() const { return first_ejection_ + ports_; }
  [[nodiscard]] std::uint32_t channels() const { return channels_; }
  [[nodiscard]] std::uint32_t width() const { return width_; }
  [[nodiscard]] bool is_ejection(std::uint32_t link) const { return link >= first_ejection_; }
  [[nodiscard]] double rate(std::uint32_t link) const;     ///< bytes/s
  [[nodiscard]] double latency(std::uint32_t link) const;  ///< s until the head is at the far end, hop included

  /// The buffers of the way from src to dst, from the one behind the injection port to that of the
  /// ejection port; empty for ranks of one host.
  void route(Rank src, Rank dst, std::vector<std::uint32_t>& buffers);

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  void mark_rings();
  [[nodiscard]] std::uint32_t port(Rank rank) const;

  const Network& network_;
  const WormholeParameters& p_;
  std::uint32_t channels_, ports_, first_ejection_, width_ = 1;
  std::vector<std::uint32_t> port_of_node_;  ///< per node its host's number
  std::vector<std::uint32_t> ring_;          ///< per channel: its dimension if that is a ring, else none
  std::vector<bool> wraps_;                  ///< per channel: the wrap-around link of its ring
  std::vector<bool> odd_;                    ///< per channel: its link begins at an odd coordinate of its ring
  std::vector<Channel> path_;
};

}  // namespace hocket::model
