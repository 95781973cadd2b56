#include "runtime/team/schedule_cache.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace hocket::runtime {

std::uint64_t ScheduleCache::candidates(const std::optional<PeerBytes>& volumes) const {
  if (!volumes) return 0;
  std::uint64_t bits = well_formed;
  const std::uint64_t wanted = digest(*volumes);
  for (std::size_t i = 0; i < known_.size(); ++i)
    if (known_[i].digest == wanted && known_[i].volumes == *volumes) bits |= std::uint64_t{1} << i;
  return bits;
}

ScheduleCache::Known* ScheduleCache::find(std::uint64_t common) {
  common &= ~well_formed;
  if (common == 0) return nullptr;
  Known& found = known_[static_cast<std::size_t>(std::countr_zero(common))];
  found.last_use = ++uses_;
  return &found;
}

ScheduleCache::Known& ScheduleCache::add(PeerBytes volumes) {
  if (known_.size() < most) known_.emplace_back();
  Known& place = *std::ranges::min_element(known_, {}, &Known::last_use);  // a fresh one has none
  const std::uint64_t of_volumes = digest(volumes);
  place = {std::move(volumes), of_volumes, ++uses_, Server::undecided, FallbackReason::new_sizes, false, nullptr};
  return place;
}

}  // namespace hocket::runtime
