#include <algorithm>
#include <bit>
#include <numeric>

#include "core/algorithms/irregular/proposals.hpp"
#include "core/algorithms/shared/random.hpp"

namespace hocket::algorithms {
namespace {

constexpr std::uint32_t word_bits = FreePhases::word_bits;

std::uint64_t bit(std::uint32_t phase) { return std::uint64_t{1} << phase % word_bits; }

/// The (n + 1)-th phase that both have.
std::uint32_t common(const FreePhases::Words& mine, const std::uint64_t* theirs, std::uint32_t n) {
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
  return no_phase;
}

std::uint32_t common(const FreePhases::Words& mine, const std::uint64_t* theirs) {
  std::uint32_t count = 0;
  for (std::size_t word = 0; word < mine.size(); ++word)
    count += static_cast<std::uint32_t>(std::popcount(mine[word] & theirs[word]));
  return count;
}

}  // namespace

Rank first_proposer(std::uint64_t seed, std::uint32_t round, std::uint32_t ranks) {
  return Random(seed + round).below(ranks);
}

void FreePhases::set_free(std::span<std::uint64_t> words, std::uint32_t from, std::uint32_t to) {
  for (std::uint32_t phase = from; phase < to; ++phase) words[phase / word_bits] |= bit(phase);
}

void FreePhases::grow(std::uint32_t phases) {
  words_.resize(words_for(phases), 0);
  set_free(words_, phases_, phases);
  phases_ = phases;
}

bool FreePhases::take(std::uint32_t phase) {
  const bool was_free = (words_[phase / word_bits] & bit(phase)) != 0;
  words_[phase / word_bits] &= ~bit(phase);
  return was_free;
}

Proposer::Proposer(Rank rank, std::uint32_t receivers, std::uint64_t seed)
    : rank_(rank), seed_(seed), open_(receivers) {
  std::iota(open_.begin(), open_.end(), 0u);
}

std::span<const std::uint32_t> Proposer::propose(std::uint32_t round, std::span<const std::uint64_t* const> told) {
  Random random(seed_ ^ (std::uint64_t{round} << 40 | rank_));
  random.shuffle(std::span(open_));
  unproposed_ = free_.words();
  proposed_.assign(open_.size(), no_phase);
  short_of_phases_ = false;
  for (std::size_t i = 0; i < open_.size(); ++i) {
    const std::uint64_t* const theirs = told[open_[i]];
    const std::uint32_t choices = common(unproposed_, theirs);
    if (choices == 0) {
      short_of_phases_ = short_of_phases_ || common(free_.words(), theirs) == 0;
      continue;
    }
    proposed_[i] = common(unproposed_, theirs, random.below(choices));
    unproposed_[proposed_[i] / word_bits] &= ~bit(proposed_[i]);
  }
  return proposed_;
}

}  // namespace hocket::algorithms
