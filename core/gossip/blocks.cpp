#include <limits>
#include <numeric>

#include "core/error.hpp"
#include "core/gossip/grids.hpp"

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

Line::Line(Builder& builder, std::uint32_t axis, std::uint32_t node, std::uint32_t colour, Ports ports)
    : builder_(builder),
      axis_(axis),
      colour_(colour),
      side_(builder.grid().sides[axis]),
      stride_(builder.grid().stride(axis)),
      base_(node - builder.grid().coordinate(node, axis) * stride_),
      ports_(ports) {}

void Line::send(std::uint64_t step, std::uint32_t from, std::uint32_t to, bool forward, const Aggregate* aggregate) {
  const std::int64_t src = from % side_, dst = to % side_;
  std::int64_t displacement = dst - src;
  if (wraps() && forward != (displacement > 0)) displacement += forward ? side_ : -std::int64_t{side_};
  builder_.send(step, node(from), axis_, static_cast<std::int32_t>(displacement), aggregate);
}

std::uint64_t Line::concentrate(std::uint64_t start, std::span<const Cell> cells) {
  tree_steps_ = 0;
  for (const Cell& cell : cells) {
    const std::uint32_t left = cell.head - cell.first, longest = std::max(left, cell.size - 1 - left);
    tree_steps_ = std::max<std::uint64_t>(
        tree_steps_, ports_ == Ports::all ? ceil_log(3, 2ULL * longest + 1) : ceil_log(2, cell.size));
  }
  tree_.clear();
  tree_end_ = start + tree_steps_;
  for (const Cell& cell : cells) hold(cell.head, gather(cell, tree_end_));
  return tree_end_;
}

/// Three ways: what is left and right of the head comes to it in parts, from the nearest to the
/// outermost, each concentrated before. Returns what the cell holds; the head has it after step end − 1.
const Aggregate* Line::gather(const Cell& cell, std::uint64_t end) {
  if (cell.size == 1) return held(cell.head);
  if (ports_ == Ports::half_duplex) return gather_half_duplex(cell, end);
  const std::uint32_t left = cell.head - cell.first, longest = std::max(left, cell.size - 1 - left);
  const Volumes sizes = conc_volumes(2 * longest + 1);
  std::vector<const Aggregate*> parts{held(cell.head)};
  gather_side(cell, true, sizes, end, parts);
  gather_side(cell, false, sizes, end, parts);
  return builder_.merged(std::move(parts));
}

void Line::gather_side(const Cell& cell, bool left, const Volumes& sizes, std::uint64_t end,
                       std::vector<const Aggregate*>& parts) {
  std::uint32_t rest = left ? cell.head - cell.first : cell.first + cell.size - 1 - cell.head;
  for (std::size_t back = 1; back <= sizes.size() && rest > 0; ++back) {
    const std::uint32_t size = std::min(rest, static_cast<std::uint32_t>(sizes[sizes.size() - back]));
    const std::uint32_t first = left ? cell.head - rest : cell.head + rest - size + 1;
    const Cell part{first, size, first + size / 2};
    const std::uint64_t step = end - back;
    parts.push_back(gather(part, step));
    send(step, part.head, cell.head, left, parts.back());
    tree_.push_back({step, part.head, cell.head});
    rest -= size;
  }
}

/// Two ways: the half without the head is sent to it in the last step.
const Aggregate* Line::gather_half_duplex(const Cell& cell, std::uint64_t end) {
  const std::uint32_t larger = cell.size - cell.size / 2;
  const bool head_left = cell.head - cell.first < larger;
  const Cell mine{head_left ? cell.first : cell.first + cell.size - larger, larger, cell.head};
  const std::uint32_t other_first = head_left ? cell.first + larger : cell.first;
  const Cell other{other_first, cell.size - larger, other_first};
  const Aggregate* sent = gather(other, end - 1);
  send(end - 1, other.head, cell.head, !head_left, sent);
  tree_.push_back({end - 1, other.head, cell.head});
  return builder_.merged({gather(mine, end - 1), sent});
}

std::uint64_t Line::disseminate(std::uint64_t start) {
  if (tree_.empty()) return start;
  const Aggregate* all = held(
      std::max_element(tree_.begin(), tree_.end(), [](const Edge& a, const Edge& b) { return a.step < b.step; })->dst);
  for (const Edge& edge : tree_) {
    // The way that the concentration came, so that no link of another part is crossed.
    const bool forward = edge.dst < edge.src;
    send(start + (tree_end_ - 1 - edge.step), edge.dst, edge.src, forward, all);
    hold(edge.src, all);
  }
  return start + tree_steps_;
}

std::uint64_t Line::circulate(std::uint64_t start, const Places& places, std::uint32_t window) {
  const auto count = static_cast<std::uint32_t>(places.size());
  if (window == 0) window = count;
  if (window == 1) return start;
  if (wraps() && ports_ == Ports::all) return circulate_ring(start, places, window);
  if (window != count) throw std::logic_error("windows need a ring");
  return ports_ == Ports::all ? circulate_array(start, places) : circulate_half_duplex(start, places);
}

std::uint64_t Line::circulate_ring(std::uint64_t start, const Places& places, std::uint32_t window) {
  const auto count = static_cast<std::uint32_t>(places.size());
  std::vector<const Aggregate*> own(count);
  for (std::uint32_t i = 0; i < count; ++i) own[i] = held(places[i]);
  const auto at = [&](std::uint32_t i) { return i % count; };
  const std::uint32_t steps = window / 2;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (own[i] != own[at(i + window)]) throw std::logic_error("what is held does not repeat with the window");
    for (std::uint32_t t = 0; t < steps; ++t) {
      const Aggregate *right = own[at(i + count - t)], *left = own[at(i + t)];
      if (window % 2 == 0 && t + 1 == steps) {
        // The opposite one's content comes from both sides, one half each.
        right = builder_.chunks(right, 2)[0];
        left = builder_.chunks(left, 2)[1];
      }
      send(start + t, places[i], places[at(i + 1)], true, right);
      send(start + t, places[i], places[at(i + count - 1)], false, left);
    }
  }
  std::vector<const Aggregate*> parts(window);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i == 0 || window != count)
      for (std::uint32_t j = 0; j < window; ++j) parts[j] = own[at(i + j)];
    hold(places[i], builder_.merged(parts));
  }
  return start + steps;
}

std::uint64_t Line::circulate_array(std::uint64_t start, const Places& places) {
  const auto count = static_cast<std::uint32_t>(places.size());
  std::vector<const Aggregate*> own(count);
  for (std::uint32_t i = 0; i < count; ++i) own[i] = held(places[i]);
  for (std::uint32_t i = 0; i < count; ++i) {
    for (std::uint32_t t = 0; t <= i && i + 1 < count; ++t) send(start + t, places[i], places[i + 1], true, own[i - t]);
    for (std::uint32_t t = 0; i + t < count && i > 0; ++t) send(start + t, places[i], places[i - 1], false, own[i + t]);
  }
  const Aggregate* all = builder_.merged(own);
  for (const std::uint32_t place : places) hold(place, all);
  return start + count - 1;
}

/// One way around, in classes of links that share no processor. An array is a ring folded flat: every
/// second place up, the others down; that uses every channel once.
std::uint64_t Line::circulate_half_duplex(std::uint64_t start, const Places& places) {
  const auto count = static_cast<std::uint32_t>(places.size());
  std::vector<std::uint32_t> ring = places;
  if (!wraps()) {
    std::uint32_t at = 0;
    for (std::uint32_t i = 0; i < count; i += 2) ring[at++] = places[i];
    for (std::uint32_t i = count / 2; i-- > 0;) ring[at++] = places[2 * i + 1];
  }
  std::vector<const Aggregate*> own(count);
  for (std::uint32_t i = 0; i < count; ++i) own[i] = held(ring[i]);
  const std::uint32_t classes = count % 2 == 0 ? 2 : 3;
  for (std::uint32_t shift = 0; shift + 1 < count; ++shift)
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t colour = classes == 3 && i + 1 == count ? 2 : i % 2;
      send(start + std::uint64_t{shift} * classes + colour, ring[i], ring[(i + 1) % count], true,
           own[(i + count - shift) % count]);
    }
  const Aggregate* all = builder_.merged(own);
  for (const std::uint32_t place : places) hold(place, all);
  return start + std::uint64_t{classes} * (count - 1);
}

std::uint64_t Line::insert(std::uint64_t start, Places& places, Round round) {
  std::vector<Gap> gaps;
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i + 1 == places.size() && !wraps()) break;
    const std::uint32_t next = i + 1 < places.size() ? places[i + 1] : places[0] + side_;
    gaps.push_back({places[i], next - places[i], 1});
    largest = std::max(largest, gaps.back().length);
  }
  const std::uint32_t factor = std::min(round.factor, largest);
  if (factor < 2) return start;
  const std::uint32_t count = ins_chunks(factor, round.steps, ports_);
  const Aggregate* message = held(places[0]);
  for (const std::uint32_t place : places)
    if (held(place) != message) throw std::logic_error("bridgeheads hold different contents");
  const auto& chunks = builder_.chunks(message, count);
  for (Gap& gap : gaps) {
    gap.parts = std::min(factor, gap.length);
    if (ports_ == Ports::all)
      stream(start, gap, round.steps, chunks);
    else
      stream_half_duplex(start, gap, factor == 2 ? 1 : 2, chunks);
    for (std::uint32_t i = 1; i < gap.parts; ++i) {
      places.push_back(gap.place(i) % side_);
      hold(gap.place(i), message);
    }
  }
  std::sort(places.begin(), places.end());
  if (ports_ == Ports::all) return start + round.steps;
  return start + (factor == 2 ? count : 2 * (count - 1) + (factor + 1) / 2);
}

/// Chunks 0, 1, … come from the left, k − 1, k − 2, … from the right, one place on in every step. The
/// i-th new bridgehead hears i − 1 steps later from the left than the first, so it takes fewer from there.
void Line::stream(std::uint64_t start, const Gap& gap, std::uint32_t steps,
                  const std::vector<const Aggregate*>& chunks) {
  const auto k = static_cast<std::uint32_t>(chunks.size());
  for (std::uint32_t i = 1; i < gap.parts; ++i) {
    const std::uint32_t from_left = std::min(k, steps + 1 > i ? steps + 1 - i : 0);
    for (std::uint32_t j = 0; j < from_left; ++j)
      send(start + j + i - 1, gap.place(i - 1), gap.place(i), true, chunks[j]);
    for (std::uint32_t j = 0; j < k - from_left; ++j)
      send(start + j + (gap.parts - i) - 1, gap.place(i + 1), gap.place(i), false, chunks[k - 1 - j]);
  }
}

/// The left half of a gap is fed from the left, in steps 0, 2, …, the right half from the right, in steps
/// 1, 3, …: a bridgehead feeds both its sides, a new one receives and sends in turn. Where no gap gets
/// more than one new bridgehead, chunks follow each other in every step.
void Line::stream_half_duplex(std::uint64_t start, const Gap& gap, std::uint32_t pace,
                              const std::vector<const Aggregate*>& chunks) {
  const std::uint32_t from_left = gap.parts / 2;
  for (std::uint32_t j = 0; j < chunks.size(); ++j) {
    for (std::uint32_t i = 1; i <= from_left; ++i)
      send(start + std::uint64_t{pace} * j + i - 1, gap.place(i - 1), gap.place(i), true, chunks[j]);
    for (std::uint32_t i = gap.parts - 1; i > from_left; --i)
      send(start + std::uint64_t{pace} * j + gap.parts - i, gap.place(i + 1), gap.place(i), false, chunks[j]);
  }
}

std::uint64_t Line::gossip(std::uint64_t start, const RingPlan& plan) {
  switch (plan.kind) {
    case RingPlan::approach1: {
      Places all(side_);
      std::iota(all.begin(), all.end(), 0U);
      return circulate(start, all);
    }
    case RingPlan::approach2: {
      const Cell whole{0, side_, side_ / 2};
      return disseminate(concentrate(start, {&whole, 1}));
    }
    case RingPlan::circgos:
      break;
  }
  const std::vector<Cell> cells = bridgehead_cells(side_, plan.a, wraps());
  std::uint64_t step = concentrate(start, cells);
  Places places;
  for (const Cell& cell : cells) places.push_back(cell.head);
  step = circulate(step, places);
  for (const Round& round : plan.rounds) step = insert(step, places, round);
  if (places.size() != side_) throw InputError("the rounds leave processors that are no bridgeheads");
  return step;
}

}  // namespace hocket::gossip
