#include "hocket/schedulers/irregular/proposals.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <utility>

#include "hocket/schedulers/entries.hpp"
#include "hocket/schedulers/irregular/whole_messages.hpp"
#include "hocket/schedulers/random.hpp"

namespace hocket::algorithms {
namespace {

constexpr std::uint32_t word_bits = 64;

/// A set of phases for each rank.
class PhaseSets {
 public:
  explicit PhaseSets(std::uint32_t ranks) : ranks_(ranks) {}

  /// All sets get the phases up to `phases`.
  void grow(std::uint32_t phases) {
    const std::uint32_t words = (phases + word_bits - 1) / word_bits;
    std::vector<std::uint64_t> wider(std::size_t{ranks_} * words, 0);
    for (std::uint32_t rank = 0; rank < ranks_; ++rank)
      std::ranges::copy(of(rank), wider.begin() + std::ptrdiff_t{rank} * words);
    bits_ = std::move(wider);
    words_ = words;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank)
      for (std::uint32_t phase = phases_; phase < phases; ++phase)
        of(rank)[phase / word_bits] |= std::uint64_t{1} << phase % word_bits;
    phases_ = phases;
  }

  [[nodiscard]] std::span<std::uint64_t> of(Rank rank) { return {bits_.data() + std::size_t{rank} * words_, words_}; }
  [[nodiscard]] bool has(Rank rank, std::uint32_t phase) {
    return (of(rank)[phase / word_bits] >> phase % word_bits & 1) != 0;
  }
  void take(Rank rank, std::uint32_t phase) { of(rank)[phase / word_bits] &= ~(std::uint64_t{1} << phase % word_bits); }

 private:
  std::uint32_t ranks_, words_ = 0, phases_ = 0;
  std::vector<std::uint64_t> bits_;
};

constexpr std::uint32_t unagreed = ~std::uint32_t{0};

/// The (n + 1)-th phase that both have.
std::uint32_t common(std::span<const std::uint64_t> mine, std::span<const std::uint64_t> theirs, std::uint32_t n) {
  for (std::uint32_t word = 0; word < mine.size(); ++word) {
    std::uint64_t both = mine[word] & theirs[word];
    const auto count = static_cast<std::uint32_t>(std::popcount(both));
    if (n >= count) {
      n -= count;
      continue;
    }
    for (; n > 0; --n) both &= both - 1;
    return word * word_bits + static_cast<std::uint32_t>(std::countr_zero(both));
  }
  return unagreed;
}

std::uint32_t common(std::span<const std::uint64_t> mine, std::span<const std::uint64_t> theirs) {
  std::uint32_t count = 0;
  for (std::size_t word = 0; word < mine.size(); ++word)
    count += static_cast<std::uint32_t>(std::popcount(mine[word] & theirs[word]));
  return count;
}

class Rounds {
 public:
  Rounds(const TrafficMatrix& matrix, std::uint64_t seed)
      : matrix_(matrix),
        seed_(seed),
        sends_(matrix.ranks()),
        receives_(matrix.ranks()),
        told_(matrix.ranks()),
        degree_in_(matrix.ranks(), 0) {
    matrix.each([&](Rank, Rank dst, std::uint64_t) { ++degree_in_[dst]; });
    std::uint32_t busiest = 0;
    for (Rank rank = 0; rank < matrix.ranks(); ++rank)
      busiest = std::max({busiest, degree_out(rank), degree_in_[rank]});
    grow(busiest + (busiest + 7) / 8);
    made_.phase_of.assign(matrix.messages(), unagreed);
    exchanged_.assign(matrix.ranks(), 0);
    for (Rank rank = 0; rank < matrix.ranks(); ++rank) open_.emplace_back(degree_out(rank));
    for (auto& row : open_) std::iota(row.begin(), row.end(), 0u);
  }

  Proposals run() {
    for (std::uint64_t left = matrix_.messages(); left > 0; ++made_.rounds) {
      told_ = receives_;
      bool short_of_phases = false;
      // Whose proposals come first changes from round to round, so that nobody is refused for ever.
      const std::uint32_t ranks = matrix_.ranks(), first = Random(seed_ + made_.rounds).below(ranks);
      for (std::uint32_t turn = 0; turn < ranks; ++turn)
        left -= propose(first + turn < ranks ? first + turn : first + turn - ranks, short_of_phases);
      if (short_of_phases) grow(phases_ + (phases_ + 15) / 16);
    }
    for (const std::uint32_t phase : made_.phase_of) made_.phases = std::max(made_.phases, phase + 1);
    for (Rank rank = 0; rank < matrix_.ranks(); ++rank) {
      made_.most_exchanged = std::max(made_.most_exchanged, exchanged_[rank]);
      made_.most_bytes = std::max(made_.most_bytes, kept_bytes(rank));
    }
    return std::move(made_);
  }

 private:
  [[nodiscard]] std::uint32_t degree_out(Rank rank) const {
    return static_cast<std::uint32_t>(matrix_.targets(rank).size());
  }

  void grow(std::uint32_t phases) {
    phases_ = phases;
    sends_.grow(phases);
    receives_.grow(phases);
  }

  /// All proposals of a sender in this round, and what their receivers make of them: how many are taken.
  std::uint32_t propose(Rank src, bool& short_of_phases) {
    auto& row = open_[src];
    Random random(seed_ ^ (std::uint64_t{made_.rounds} << 40 | src));
    random.shuffle(std::span(row));
    const auto free = sends_.of(src);
    unproposed_.assign(free.begin(), free.end());
    const auto taken = std::ranges::remove_if(row, [&](std::uint32_t place) {
      const Rank dst = matrix_.targets(src)[place];
      const std::uint32_t choices = common(unproposed_, told_.of(dst));
      if (choices == 0) {
        short_of_phases = short_of_phases || common(free, told_.of(dst)) == 0;
        return false;
      }
      const std::uint32_t phase = common(unproposed_, told_.of(dst), random.below(choices));
      unproposed_[phase / word_bits] &= ~(std::uint64_t{1} << phase % word_bits);
      ++exchanged_[src];
      ++exchanged_[dst];
      if (!receives_.has(dst, phase)) return false;
      receives_.take(dst, phase);
      sends_.take(src, phase);
      made_.phase_of[matrix_.first(src) + place] = phase;
      return true;
    });
    const auto count = static_cast<std::uint32_t>(taken.size());
    row.erase(taken.begin(), taken.end());
    return count;
  }

  /// Partners and phases of its messages, its two sets, and the set that each open receiver has told it.
  [[nodiscard]] std::uint64_t kept_bytes(Rank rank) {
    const std::uint64_t partners = std::uint64_t{degree_out(rank)} + degree_in_[rank];
    const std::uint64_t set = sends_.of(rank).size_bytes();
    return partners * (sizeof(Rank) + sizeof(std::uint32_t)) + (2 + degree_out(rank)) * set;
  }

  const TrafficMatrix& matrix_;
  std::uint64_t seed_;
  std::uint32_t phases_ = 0;
  PhaseSets sends_, receives_;  ///< that are free
  PhaseSets told_;              ///< free at the receivers when they answered last
  std::vector<std::uint32_t> degree_in_;
  std::vector<std::vector<std::uint32_t>> open_;  ///< per sender: places in its row
  std::vector<std::uint64_t> unproposed_;         ///< phases that are free and not proposed in this round
  std::vector<std::uint64_t> exchanged_;          ///< per rank: proposals
  Proposals made_;
};

}  // namespace

Proposals propose(const TrafficMatrix& matrix, std::uint64_t seed) { return Rounds(matrix, seed).run(); }

Schedule proposals(const Network&, const Demand& demand, const SchedulerOptions& options) {
  Proposals made = propose(demand.matrix, options.seed);
  // A phase that nobody took is left out.
  std::vector<std::uint32_t> number(made.phases, 0);
  for (const std::uint32_t phase : made.phase_of) number[phase] = 1;
  std::uint32_t phases = 0;
  for (std::uint32_t& phase : number) phase = std::exchange(phases, phases + phase);
  for (std::uint32_t& phase : made.phase_of) phase = number[phase];
  return whole_messages(demand, made.phase_of, phases);
}

}  // namespace hocket::algorithms
