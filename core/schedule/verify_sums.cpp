#include <bit>

#include "core/progress/progress.hpp"
#include "core/schedule/verify.hpp"

namespace hocket {
namespace {

/// One piece on its way.
struct Carried {
  std::uint64_t phase;
  Hop hop;
  std::uint64_t begin, end;  ///< bytes of the block
};

/// Sets of ranks whose parts are in each rank's sum, for one range of one block.
class Parts {
 public:
  explicit Parts(std::uint32_t ranks) : ranks_(ranks), words_((ranks + 63) / 64), of_(std::uint64_t{ranks} * words_) {}

  void begin() {
    std::ranges::fill(of_, 0);
    for (Rank rank = 0; rank < ranks_; ++rank) word(rank, rank / 64) |= std::uint64_t{1} << rank % 64;
  }
  [[nodiscard]] std::vector<std::uint64_t> of(Rank rank) const {
    return {of_.begin() + offset(rank), of_.begin() + offset(rank) + static_cast<std::ptrdiff_t>(words_)};
  }
  /// False if both have something of one rank.
  [[nodiscard]] bool add(Rank rank, const std::vector<std::uint64_t>& parts) {
    bool apart = true;
    for (std::size_t i = 0; i < words_; ++i) {
      apart = apart && (word(rank, i) & parts[i]) == 0;
      word(rank, i) |= parts[i];
    }
    return apart;
  }
  void replace(Rank rank, const std::vector<std::uint64_t>& parts) {
    std::ranges::copy(parts, of_.begin() + offset(rank));
  }
  [[nodiscard]] bool complete(const std::vector<std::uint64_t>& parts) const {
    std::uint64_t count = 0;
    for (const std::uint64_t some : parts) count += static_cast<std::uint64_t>(std::popcount(some));
    return count == ranks_;
  }
  [[nodiscard]] bool complete(Rank rank) const { return complete(of(rank)); }

 private:
  [[nodiscard]] std::ptrdiff_t offset(Rank rank) const { return static_cast<std::ptrdiff_t>(rank * words_); }
  std::uint64_t& word(Rank rank, std::size_t i) { return of_[rank * words_ + i]; }

  std::uint32_t ranks_;
  std::size_t words_;
  std::vector<std::uint64_t> of_;
};

class Sums {
 public:
  Sums(const Demand& demand, const Schedule& schedule, Certificate& certificate)
      : demand_(demand),
        combining_(combining_phases(demand.pattern, schedule.phases())),
        phases_(schedule.phases()),
        certificate_(certificate),
        parts_(demand.ranks),
        blocks_(demand.ranks) {
    for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase)
      for (std::uint64_t i = schedule.phase_begin()[phase]; i < schedule.phase_begin()[phase + 1]; ++i)
        schedule.each_piece(i, [&](const Piece& piece) { carry(phase, schedule.hops()[i], piece); });
  }

  void check() {
    Steps steps("following the sums", demand_.ranks);
    for (Rank block = 0; block < demand_.ranks; ++block) {
      steps.tick();
      if (demand_.contribution(block) > 0) check_block(block);
    }
  }

 private:
  void carry(std::uint64_t phase, Hop hop, const Piece& piece) {
    const auto where = [&] { return name(piece.origin, piece.offset, piece.offset + piece.length) + way(hop); };
    if (piece.origin >= demand_.ranks || piece.target != everyone) {
      certificate_.add(Violation::not_demanded, phase, where());
      return;
    }
    const std::uint64_t size = demand_.contribution(piece.origin);
    if (piece.offset > size || piece.length > size - piece.offset) {
      certificate_.add(Violation::beyond_message, phase, where());
      return;
    }
    if (hop.src < demand_.ranks && hop.dst < demand_.ranks && hop.src != hop.dst && piece.length > 0)
      blocks_[piece.origin].push_back({phase, hop, piece.offset, piece.offset + piece.length});
  }

  /// Checks a block range by range: between neighbouring cuts all bytes fare alike.
  void check_block(Rank block) {
    std::vector<std::uint64_t> cuts{0, demand_.contribution(block)};
    for (const Carried& carried : blocks_[block]) {
      cuts.push_back(carried.begin);
      cuts.push_back(carried.end);
    }
    std::ranges::sort(cuts);
    cuts.erase(std::ranges::unique(cuts).begin(), cuts.end());
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) check_range(block, cuts[i], cuts[i + 1]);
  }

  void check_range(Rank block, std::uint64_t begin, std::uint64_t end) {
    parts_.begin();
    std::vector<std::pair<const Carried*, std::vector<std::uint64_t>>> under_way;
    const std::vector<Carried>& all = blocks_[block];
    for (std::size_t i = 0; i < all.size();) {
      const std::uint64_t phase = all[i].phase;
      under_way.clear();
      for (; i < all.size() && all[i].phase == phase; ++i)
        if (all[i].begin <= begin && end <= all[i].end) under_way.emplace_back(&all[i], parts_.of(all[i].hop.src));
      for (const auto& [carried, parts] : under_way) arrive(block, begin, end, *carried, parts);
    }
    const bool all_ranks = demand_.pattern == Pattern::all_reduce;
    for (Rank rank = 0; rank < demand_.ranks; ++rank)
      if ((all_ranks || rank == block) && !parts_.complete(rank))
        certificate_.add(Violation::missing, phases_,
                         "parts of the sum for " + name(block, begin, end) + " at rank " + std::to_string(rank));
  }

  void arrive(Rank block, std::uint64_t begin, std::uint64_t end, const Carried& carried,
              const std::vector<std::uint64_t>& parts) {
    const Hop hop = carried.hop;
    if (carried.phase < combining_) {
      if (!parts_.add(hop.dst, parts))
        certificate_.add(Violation::delivered_twice, carried.phase,
                         "a part of the sum for " + name(block, begin, end) + way(hop) + " is there already");
      return;
    }
    if (!parts_.complete(parts))
      certificate_.add(Violation::not_held, carried.phase, "the sum for " + name(block, begin, end) + way(hop));
    if (parts_.complete(hop.dst))
      certificate_.add(Violation::delivered_twice, carried.phase, "the sum for " + name(block, begin, end) + way(hop));
    parts_.replace(hop.dst, parts);
  }

  static std::string name(Rank block, std::uint64_t begin, std::uint64_t end) {
    return "bytes " + std::to_string(begin) + ".." + std::to_string(end) + " of the block of " + std::to_string(block);
  }
  static std::string way(Hop hop) { return ", " + std::to_string(hop.src) + "->" + std::to_string(hop.dst); }

  const Demand& demand_;
  std::uint64_t combining_, phases_;
  Certificate& certificate_;
  Parts parts_;
  std::vector<std::vector<Carried>> blocks_;  ///< per block: the pieces carried, in the order of phases
};

}  // namespace

void verify_sums(const Demand& demand, const Schedule& schedule, Certificate& certificate) {
  Sums(demand, schedule, certificate).check();
}

}  // namespace hocket
