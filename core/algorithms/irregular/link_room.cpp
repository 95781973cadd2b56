#include "core/algorithms/irregular/link_room.hpp"

namespace hocket::algorithms {

LinkRoom::LinkRoom(const Network& network, const TrafficMatrix& matrix) {
  capacity_.push_back(1);
  for (Channel channel = 0; channel < network.channels(); ++channel) capacity_.push_back(network.capacity(channel));
  begin_.reserve(matrix.messages() + 1);
  matrix.each([&](Rank src, Rank dst, std::uint64_t) {
    network.append_route(src, dst, routes_);
    begin_.push_back(routes_.size());
  });
  for (std::uint32_t& channel : routes_) ++channel;
}

}  // namespace hocket::algorithms
