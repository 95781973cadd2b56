#pragma once
/// A rank's row and column of the traffic matrix: bytes sent to and received from each peer.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/network/routing.hpp"

namespace hocket::runtime {

struct Volume {
  Rank peer = 0;
  std::uint64_t bytes = 0;
  bool operator==(const Volume&) const = default;
};

/// Lists sorted by peer, without empty messages and without messages to the rank itself.
struct PeerBytes {
  std::vector<Volume> sends, receives;
  bool operator==(const PeerBytes&) const = default;
};

/// Adds up what goes to the same peer; message i, of bytes[i] bytes, to peers[i]. Negative peers get
/// nothing. `kept`: what `own` sends to itself.
[[nodiscard]] std::vector<Volume> sum_by_peer(std::span<const int> peers, std::span<const std::uint64_t> bytes,
                                              Rank own, std::uint64_t& kept);

[[nodiscard]] std::uint64_t digest(const PeerBytes& peer_bytes);

}  // namespace hocket::runtime
