#include "core/schedule/block_parts.hpp"

#include <algorithm>

namespace hocket {

BlockParts::BlockParts(const Demand& demand, std::span<const Piece> pieces, std::size_t most_parts)
    : demand_(&demand),
      limit_(most_parts),
      stride_((demand.ranks + 63) / 64),
      cuts_(demand.contributions.empty() ? 1 : demand.ranks, {0}) {
  for (Rank origin = 0; origin < cuts_.size(); ++origin)
    if (const std::uint64_t size = demand.contribution(origin); size > 0) cuts_[origin].push_back(size);
  Piece last;
  for (const Piece& piece : pieces) {
    if (piece.origin >= demand.ranks || piece.target != everyone) usable_ = false;
    if (!usable_) return;
    const std::uint64_t size = demand.contribution(piece.origin);
    if (size == 0 && piece.length == 0) continue;  // nothing, of one that has nothing
    if (piece.length == 0 || piece.offset >= size || piece.length > size - piece.offset) {
      usable_ = false;
      return;
    }
    if (cuts_.size() == 1 && piece.offset == last.offset && piece.length == last.length) continue;
    auto& cuts = cuts_[cuts_.size() == 1 ? 0 : piece.origin];
    usable_ = cut(cuts, piece.offset) && cut(cuts, piece.offset + piece.length);
    last = piece;
  }
  for (const auto& cuts : cuts_) most_parts_ = std::max(most_parts_, cuts.size() - 1);
}

bool BlockParts::cut(std::vector<std::uint64_t>& cuts, std::uint64_t at) {
  const auto place = std::ranges::lower_bound(cuts, at);
  if (place == cuts.end() || *place != at) cuts.insert(place, at);
  return cuts.size() - 1 <= limit_;
}

std::size_t BlockParts::number(const std::vector<std::uint64_t>& cuts, std::uint64_t at) {
  return static_cast<std::size_t>(std::ranges::lower_bound(cuts, at) - cuts.begin());
}

void BlockParts::append(std::span<const Piece> pieces, std::vector<Bits>& bits) const {
  Piece last{.origin = everyone};
  std::size_t first = 0, end = 0;
  for (const Piece& piece : pieces) {
    if (piece.length == 0) continue;
    const bool same =
        last.origin != everyone && cuts_.size() == 1 && piece.offset == last.offset && piece.length == last.length;
    if (!same) {
      const auto& cuts = cuts_of(piece.origin);
      first = number(cuts, piece.offset);
      end = number(cuts, piece.offset + piece.length);
    }
    // Most pieces are of the same part of the next block: the same words. A piece that is there twice gets new ones.
    const Bits* known = same && piece.origin / 64 == last.origin / 64 ? &bits[bits.size() - (end - first)] : nullptr;
    const std::uint64_t mask = std::uint64_t{1} << piece.origin % 64;
    if (known != nullptr && (known->mask & mask) == 0)
      for (auto word = bits.end() - static_cast<std::ptrdiff_t>(end - first); word != bits.end(); ++word)
        word->mask |= mask;
    else
      for (std::size_t part = first; part < end; ++part) bits.push_back(this->bits(part, piece.origin));
    last = piece;
  }
}

HeldParts::HeldParts(const BlockParts& parts) : parts_(&parts), held_(parts.ranks() * parts.words()) {
  for (Rank rank = 0; rank < parts.ranks(); ++rank)
    for (std::size_t part = 0; part < parts.parts(rank); ++part) {
      const auto [word, mask] = parts.bits(part, rank);
      row(rank)[word] |= mask;
    }
}

bool HeldParts::has_all(Rank rank, std::span<const BlockParts::Bits> bits) const {
  const std::uint64_t* held = row(rank);
  return std::ranges::all_of(bits, [&](const auto& b) { return (held[b.word] & b.mask) == b.mask; });
}

bool HeldParts::has_any(Rank rank, std::span<const BlockParts::Bits> bits) const {
  const std::uint64_t* held = row(rank);
  return std::ranges::any_of(bits, [&](const auto& b) { return (held[b.word] & b.mask) != 0; });
}

bool HeldParts::add(Rank rank, std::span<const BlockParts::Bits> bits) {
  std::uint64_t* held = row(rank);
  std::uint64_t known = 0;
  for (const auto& [word, mask] : bits) {
    known |= held[word] & mask;
    held[word] |= mask;
  }
  return known == 0;
}

void HeldParts::add(Rank rank, const Piece& piece, std::vector<Piece>& fresh) {
  std::uint64_t* held = row(rank);
  bool run = false;
  parts_->each_part(piece, [&](BlockParts::Bits bits, std::uint64_t from, std::uint64_t to) {
    const bool known = (held[bits.word] & bits.mask) != 0;
    held[bits.word] |= bits.mask;
    if (!known && run)
      fresh.back().length += to - from;
    else if (!known)
      fresh.push_back({piece.origin, everyone, from, to - from});
    run = !known;
  });
}

bool HeldParts::complete() const {
  std::vector<std::uint64_t> all(parts_->words());
  for (Rank origin = 0; origin < parts_->ranks(); ++origin)
    for (std::size_t part = 0; part < parts_->parts(origin); ++part) {
      const auto [word, mask] = parts_->bits(part, origin);
      all[word] |= mask;
    }
  for (Rank rank = 0; rank < parts_->ranks(); ++rank)
    if (!std::equal(all.begin(), all.end(), row(rank))) return false;
  return true;
}

}  // namespace hocket
