#pragma once
/// Parts of all ranks' blocks that each rank holds, one bit for each. A part lies between two places where a block is
/// cut.
#include <cstdint>
#include <span>
#include <vector>

#include "core/demand/demand.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket {

/// Cuts of blocks, and the bits of their parts: those of all blocks' first parts, then of their second ones, and so on,
/// as pieces of neighbours' blocks travel together.
class BlockParts {
 public:
  struct Bits {
    std::uint32_t word;
    std::uint64_t mask;
  };

  /// Blocks are cut where any of the pieces begins or ends. Stops at more than `most_parts` of a block.
  BlockParts(const Demand& demand, std::span<const Piece> pieces, std::size_t most_parts);

  /// False if a piece is no part of a block, or there are too many parts. Then nothing else may be called.
  [[nodiscard]] bool usable() const { return usable_; }
  [[nodiscard]] std::uint32_t ranks() const { return demand_->ranks; }
  /// 64 bits each, of all parts that one rank can hold.
  [[nodiscard]] std::uint64_t words() const { return most_parts_ * stride_; }

  /// Appends the bits of pieces that are among those given to the constructor.
  void append(std::span<const Piece> pieces, std::vector<Bits>& bits) const;
  /// Calls `visit(bits, from, to)` for each part, bytes [from, to) of the block, of a piece.
  template <class Visit>
  void each_part(const Piece& piece, Visit visit) const {
    const std::vector<std::uint64_t>& cuts = cuts_of(piece.origin);
    for (std::size_t part = number(cuts, piece.offset); cuts[part] < piece.offset + piece.length; ++part)
      visit(bits(part, piece.origin), cuts[part], cuts[part + 1]);
  }
  [[nodiscard]] std::size_t parts(Rank origin) const { return cuts_of(origin).size() - 1; }
  [[nodiscard]] Bits bits(std::size_t part, Rank origin) const {
    return {static_cast<std::uint32_t>(part * stride_ + origin / 64), std::uint64_t{1} << origin % 64};
  }

 private:
  [[nodiscard]] const std::vector<std::uint64_t>& cuts_of(Rank origin) const {
    return cuts_[cuts_.size() == 1 ? 0 : origin];
  }
  [[nodiscard]] static std::size_t number(const std::vector<std::uint64_t>& cuts, std::uint64_t at);
  [[nodiscard]] bool cut(std::vector<std::uint64_t>& cuts, std::uint64_t at);

  const Demand* demand_;
  std::size_t limit_, most_parts_ = 0;
  std::uint64_t stride_;                          ///< words of one part of all blocks
  std::vector<std::vector<std::uint64_t>> cuts_;  ///< cuts of every block; one list for all where blocks are equal
  bool usable_ = true;
};

/// Parts that every rank holds: those of its own block at first.
class HeldParts {
 public:
  explicit HeldParts(const BlockParts& parts);

  [[nodiscard]] bool has_all(Rank rank, std::span<const BlockParts::Bits> bits) const;
  [[nodiscard]] bool has_any(Rank rank, std::span<const BlockParts::Bits> bits) const;
  /// False if some of it was there, or is twice in `bits`.
  bool add(Rank rank, std::span<const BlockParts::Bits> bits);
  /// Adds a piece; appends to `fresh` what of it was not there.
  void add(Rank rank, const Piece& piece, std::vector<Piece>& fresh);
  /// True if every rank has all blocks.
  [[nodiscard]] bool complete() const;

 private:
  [[nodiscard]] const std::uint64_t* row(Rank rank) const { return held_.data() + rank * parts_->words(); }
  [[nodiscard]] std::uint64_t* row(Rank rank) { return held_.data() + rank * parts_->words(); }

  const BlockParts* parts_;
  std::vector<std::uint64_t> held_;  ///< words() of each rank
};

}  // namespace hocket
