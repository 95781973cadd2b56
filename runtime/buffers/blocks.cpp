#include "runtime/buffers/blocks.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace hocket::runtime {

void Messages::add(std::byte* at, std::size_t length) {
  if (length == 0) return;
  if (spans_.size() > begin_.back() && spans_.back().at + spans_.back().length == at)
    spans_.back().length += length;
  else
    spans_.push_back({at, length});
}

void Messages::end_message() {
  std::size_t bytes = 0;
  for (std::size_t i = begin_.back(); i < spans_.size(); ++i) bytes += spans_[i].length;
  bytes_.push_back(bytes);
  begin_.push_back(spans_.size());
}

void Cursor::take(std::size_t bytes, std::vector<Span>& spans) {
  spans.clear();
  while (bytes > 0) {
    const Span& first = left_.front();
    const std::size_t length = std::min(bytes, first.length - within_);
    spans.push_back({first.at + within_, length});
    bytes -= length;
    within_ += length;
    if (within_ < first.length) return;
    left_ = left_.subspan(1);
    within_ = 0;
  }
}

bool Arrivals::lack_at_most(const Span& span, int missing) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(span.at);
  const auto end = missing_from_.lower_bound(begin + span.length);
  for (auto step = std::prev(missing_from_.upper_bound(begin)); step != end; ++step)
    if (step->second > missing) return false;
  return true;
}

void Arrivals::add(const Span& span, int change) {
  if (span.length == 0) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(span.at);
  const auto first = cut(begin), last = cut(begin + span.length);
  for (auto step = first; step != last; ++step) step->second += change;
  join(first);
  join(last);
}

/// The step that begins there.
Arrivals::Steps::iterator Arrivals::cut(std::uintptr_t at) {
  const auto after = missing_from_.upper_bound(at), before = std::prev(after);
  return before->first == at ? before : missing_from_.emplace_hint(after, at, before->second);
}

/// One step, if it is like the one before.
void Arrivals::join(Steps::iterator step) {
  if (step->first != 0 && std::prev(step)->second == step->second) missing_from_.erase(step);
}

PlacedBlocks::PlacedBlocks(std::vector<Block> blocks, MPI_Comm comm, Copy copy) : comm_(comm) {
  Layout layout;
  MPI_Datatype known = MPI_DATATYPE_NULL;
  std::size_t room = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Block& block = blocks[i];
    Place place{block};
    std::size_t length = 0;
    if (block.count > 0) {
      if (block.type != known) layout = layout_of(known = block.type);
      length = layout.size * static_cast<std::size_t>(block.count);
      if (layout.runs(block.count)) place.run = moved(block.at, layout.true_lower);
      const bool again = i > 0 && block == blocks[i - 1];
      place.copied = length > 0 && !again && (place.run == nullptr || copy == Copy::always);
      if (place.copied) room += length;
    }
    places_.push_back(place);
    bytes_.push_back({place.run, length});
  }
  copy_.resize(room);
  std::byte* next = copy_.data();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].copied) {
      bytes_[i].at = next;
      next += bytes_[i].length;
    } else if (i > 0 && bytes_[i].length > 0 && places_[i].block == places_[i - 1].block) {
      bytes_[i].at = bytes_[i - 1].at;
    }
  }
}

void PlacedBlocks::pack(std::size_t block) {
  const auto& [of, run, copied] = places_[block];
  if (!copied) return;
  if (run != nullptr)
    std::memcpy(bytes_[block].at, run, bytes_[block].length);
  else
    runtime::pack(of.at, of.count, of.type, bytes_[block].at, comm_);
}

void PlacedBlocks::unpack(std::size_t block) {
  const auto& [of, run, copied] = places_[block];
  if (!copied) return;
  if (run != nullptr)
    std::memcpy(run, bytes_[block].at, bytes_[block].length);
  else
    runtime::unpack(bytes_[block].at, of.at, of.count, of.type, comm_);
}

GatherBlocks::GatherBlocks(std::vector<Block> contributions, MPI_Comm comm)
    : placed_(std::move(contributions), comm), comm_(comm), there_(placed_.blocks().size()) {}

std::size_t GatherBlocks::contribute(std::size_t rank, const void* buffer, MPI_Count count, MPI_Datatype type) {
  const Span& block = blocks()[rank];
  if (buffer == MPI_IN_PLACE) {
    placed_.pack(rank);
    there_ = rank;
    return block.length;
  }
  if (count == 0) return 0;
  const Layout layout = layout_of(type);
  const std::size_t bytes = layout.size * static_cast<std::size_t>(count);
  if (bytes == block.length && !layout.runs(count)) {
    pack(buffer, count, type, block.at, comm_);
  } else {
    const PlacedBlocks elements = packed(buffer, count, type, comm_);
    std::memmove(block.at, elements.data(), std::min(bytes, block.length));
  }
  return bytes;
}

void GatherBlocks::finish() {
  for (std::size_t i = 0; i < blocks().size(); ++i)
    if (i != there_) placed_.unpack(i);
}

}  // namespace hocket::runtime
