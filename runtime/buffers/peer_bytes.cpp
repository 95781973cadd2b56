#include "runtime/buffers/peer_bytes.hpp"

#include <algorithm>

namespace hocket::runtime {

std::vector<Volume> sum_by_peer(std::span<const int> peers, std::span<const std::uint64_t> bytes, Rank own,
                                std::uint64_t& kept) {
  kept = 0;
  std::vector<Volume> volumes;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    if (peers[i] < 0 || bytes[i] == 0) continue;
    const auto peer = static_cast<Rank>(peers[i]);
    if (peer == own)
      kept += bytes[i];
    else
      volumes.push_back({peer, bytes[i]});
  }
  if (!std::ranges::is_sorted(volumes, {}, &Volume::peer)) std::ranges::sort(volumes, {}, &Volume::peer);
  std::size_t last = 0;
  for (std::size_t i = 1; i < volumes.size(); ++i) {
    if (volumes[i].peer == volumes[last].peer)
      volumes[last].bytes += volumes[i].bytes;
    else
      volumes[++last] = volumes[i];
  }
  if (!volumes.empty()) volumes.resize(last + 1);
  return volumes;
}

std::uint64_t digest(const PeerBytes& peer_bytes) {
  constexpr std::uint64_t prime = 0x100000001b3u;
  std::uint64_t hash = peer_bytes.sends.size();
  for (const auto* side : {&peer_bytes.sends, &peer_bytes.receives})
    for (const auto& [peer, bytes] : *side) {
      hash = ((hash ^ peer) * prime ^ bytes) * prime;
      hash ^= hash >> 29;
    }
  return hash;
}

}  // namespace hocket::runtime
