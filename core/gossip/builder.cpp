#include <algorithm>
#include <limits>
#include <stdexcept>

#include "core/error.hpp"
#include "core/gossip/blocks.hpp"

namespace hocket::gossip {
namespace {

std::uint64_t hash_of(const std::vector<Parcel>& parcels) {
  std::uint64_t hash = parcels.size();
  for (const Parcel& parcel : parcels)
    for (const std::uint64_t value : {parcel.origin, parcel.begin, parcel.end})
      hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL + (hash >> 29);
  return hash;
}

bool before(const Parcel& a, const Parcel& b) { return a.origin != b.origin ? a.origin < b.origin : a.begin < b.begin; }

}  // namespace

Builder::Builder(Grid grid, std::uint64_t units, std::uint32_t colours) : grid_(std::move(grid)) {
  if (units > std::numeric_limits<std::uint32_t>::max())
    throw InputError("the rounds' chunks need items cut in " + std::to_string(units) + " units, which is too many");
  steps_.units = static_cast<std::uint32_t>(units);
  const std::uint32_t share = steps_.units / colours;
  for (std::uint32_t colour = 0; colour < colours; ++colour) {
    held_.emplace_back();
    for (std::uint32_t node = 0; node < grid_.nodes(); ++node)
      held_.back().push_back(intern({{node, colour * share, (colour + 1) * share}}));
  }
}

const Aggregate* Builder::intern(std::vector<Parcel> parcels) {
  const std::uint64_t hash = hash_of(parcels);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if (it->second->parcels == parcels) return it->second;
  Aggregate& aggregate = aggregates_.emplace_back();
  for (const Parcel& parcel : parcels) aggregate.units += parcel.end - parcel.begin;
  aggregate.parcels = std::move(parcels);
  by_hash_.emplace(hash, &aggregate);
  return &aggregate;
}

const Aggregate* Builder::merged(std::vector<const Aggregate*> parts) {
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  if (parts.size() == 1) return parts.front();
  const auto known = merged_.find(parts);
  if (known != merged_.end()) return known->second;
  std::vector<Parcel> all, whole;
  for (const Aggregate* part : parts) all.insert(all.end(), part->parcels.begin(), part->parcels.end());
  std::sort(all.begin(), all.end(), before);
  for (const Parcel& parcel : all) {
    if (!whole.empty() && whole.back().origin == parcel.origin && whole.back().end >= parcel.begin)
      whole.back().end = std::max(whole.back().end, parcel.end);
    else
      whole.push_back(parcel);
  }
  const Aggregate* aggregate = intern(std::move(whole));
  merged_.emplace(std::move(parts), aggregate);
  return aggregate;
}

const std::vector<const Aggregate*>& Builder::chunks(const Aggregate* aggregate, std::uint32_t count) {
  auto& chunks = chunks_[{aggregate, count}];
  if (!chunks.empty()) return chunks;
  if (aggregate->units % count != 0) throw std::logic_error("a message cannot be cut in equal chunks of whole units");
  const std::uint64_t size = aggregate->units / count;
  std::vector<Parcel> chunk;
  std::uint64_t room = size;
  for (Parcel parcel : aggregate->parcels) {
    while (parcel.begin < parcel.end) {
      const auto cut = static_cast<std::uint32_t>(std::min<std::uint64_t>(parcel.end, parcel.begin + room));
      chunk.push_back({parcel.origin, parcel.begin, cut});
      room -= cut - parcel.begin;
      parcel.begin = cut;
      if (room > 0) continue;
      chunks.push_back(intern(std::move(chunk)));
      chunk.clear();
      room = size;
    }
  }
  return chunks;
}

void Builder::send(std::uint64_t step, std::uint32_t src, std::uint32_t axis, std::int32_t displacement,
                   const Aggregate* aggregate) {
  const auto [it, first_time] = stored_.try_emplace(aggregate);
  if (first_time) {
    it->second.first = steps_.parcels.size();
    steps_.parcels.insert(steps_.parcels.end(), aggregate->parcels.begin(), aggregate->parcels.end());
    it->second.second = steps_.parcels.size();
  }
  if (pending_.size() <= step) pending_.resize(step + 1);
  pending_[step].push_back({src, axis, displacement, it->second.first, it->second.second});
}

Steps Builder::finish(std::uint64_t steps) {
  pending_.resize(std::max<std::uint64_t>(steps, pending_.size()));
  for (const auto& messages : pending_) {
    steps_.messages.insert(steps_.messages.end(), messages.begin(), messages.end());
    steps_.end_step();
  }
  pending_.clear();
  return std::move(steps_);
}

}  // namespace hocket::gossip
