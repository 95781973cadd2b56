#include "wiring.hpp"

namespace hocket::model {

Wiring::Wiring(const Network& network, const WormholeParameters& parameters)
    : network_(network),
      p_(parameters),
      channels_(network.channels()),
      ports_(parameters.port_per_rank ? network.ranks() : static_cast<std::uint32_t>(network.hosts().size())),
      first_ejection_(channels_ + ports_) {
  port_of_node_.assign(network.nodes(), none);
  for (std::uint32_t host = 0; host < network.hosts().size(); ++host) port_of_node_[network.hosts()[host]] = host;
  ring_.assign(channels_, none);
  wraps_.assign(channels_, false);
  odd_.assign(channels_, false);
  if (network.shape() == Shape::torus) mark_rings();
  width_ *= p_.lanes;
}

/// A side of more than two is a ring; its link from the last coordinate to the first is the dateline.
void Wiring::mark_rings() {
  const NetworkSpec& spec = network_.spec();
  std::vector<std::uint32_t> stride(spec.sides.size(), 1);
  for (std::size_t d = spec.sides.size(); d-- > 1;) stride[d - 1] = stride[d] * spec.sides[d];
  for (std::uint32_t link = 0; link < spec.links.size(); ++link) {
    const std::uint32_t a = spec.links[link].a, b = spec.links[link].b;
    for (std::uint32_t d = 0; d < spec.sides.size(); ++d) {
      const std::uint32_t at = a / stride[d] % spec.sides[d], to = b / stride[d] % spec.sides[d];
      if (at == to || spec.sides[d] <= 2) continue;
      ring_[std::size_t{2} * link] = ring_[std::size_t{2} * link + 1] = d;
      wraps_[std::size_t{2} * link] = wraps_[std::size_t{2} * link + 1] = at + 1 != to;
      odd_[std::size_t{2} * link] = odd_[std::size_t{2} * link + 1] = at % 2 == 1;
      if (p_.virtual_channels != VirtualChannels::none) width_ = 2;
    }
  }
}

std::uint32_t Wiring::port(Rank rank) const { return p_.port_per_rank ? rank : port_of_node_[network_.host_of(rank)]; }

double Wiring::rate(std::uint32_t link) const {
  if (link < channels_) return network_.rate(link);
  const double given = is_ejection(link) ? p_.ejection_rate : p_.injection_rate;
  return given > 0 ? given : network_.host_rate();
}

double Wiring::latency(std::uint32_t link) const { return link < channels_ ? network_.latency(link) + p_.hop : 0; }

void Wiring::route(Rank src, Rank dst, std::vector<std::uint32_t>& buffers) {
  buffers.clear();
  network_.find_route(src, dst, path_);
  if (path_.empty()) return;
  const std::uint32_t lane = src % p_.lanes;
  buffers.push_back((channels_ + port(src)) * width_ + lane);
  const bool classes = width_ > p_.lanes;
  for (std::size_t i = 0; i < path_.size();) {
    const std::uint32_t ring = ring_[path_[i]];
    std::size_t end = i + 1;
    bool crosses = wraps_[path_[i]];
    for (; end < path_.size() && ring != none && ring_[path_[end]] == ring; ++end) crosses |= wraps_[path_[end]];
    // Both classes are ordered from one end of the ring to the other, so who does not cross may use either.
    bool second = classes && !crosses && p_.virtual_channels == VirtualChannels::balanced && odd_[path_[i]];
    for (; i < end; ++i) {
      buffers.push_back(path_[i] * width_ + lane + (second ? p_.lanes : 0));
      if (classes && wraps_[path_[i]]) second = true;
    }
  }
  buffers.push_back((first_ejection_ + port(dst)) * width_ + lane);
}

}  // namespace hocket::model
