#include "runtime/irregular/schedule_cache.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace hocket::runtime {

std::uint64_t ScheduleCache::candidates(const std::optional<PeerBytes>& peer_bytes) const {
  if (!peer_bytes) return 0;
  std::uint64_t bits = well_formed;
  const std::uint64_t wanted = digest(*peer_bytes);
  for (std::size_t i = 0; i < known_.size(); ++i)
    if (known_[i].digest == wanted && known_[i].peer_bytes == *peer_bytes) bits |= std::uint64_t{1} << i;
  return bits;
}

ScheduleCache::Known* ScheduleCache::find(std::uint64_t common) {
  common &= ~well_formed;
  if (common == 0) return nullptr;
  Known& found = known_[static_cast<std::size_t>(std::countr_zero(common))];
  found.last_use = ++uses_;
  return &found;
}

ScheduleCache::Known& ScheduleCache::add(PeerBytes peer_bytes) {
  if (known_.size() < most) known_.emplace_back();
  Known& place = *std::ranges::min_element(known_, {}, &Known::last_use);  // a fresh one has none
  const std::uint64_t digest_of_these = digest(peer_bytes);
  place = {.peer_bytes = std::move(peer_bytes), .digest = digest_of_these, .last_use = ++uses_};
  return place;
}

}  // namespace hocket::runtime
