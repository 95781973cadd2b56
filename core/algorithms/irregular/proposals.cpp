#include "core/algorithms/irregular/proposals.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/phase_writer.hpp"
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

namespace {

/// The rounds of all ranks, computed one sender after the other.
class Rounds {
 public:
  Rounds(const TrafficMatrix& matrix, std::uint64_t seed)
      : matrix_(matrix),
        seed_(seed),
        receives_(matrix.ranks()),
        told_(matrix.ranks()),
        degree_in_(matrix.ranks(), 0),
        exchanged_(matrix.ranks(), 0) {
    matrix.each([&](Rank, Rank dst, std::uint64_t) { ++degree_in_[dst]; });
    std::uint32_t busiest = 0;
    senders_.reserve(matrix.ranks());
    for (Rank rank = 0; rank < matrix.ranks(); ++rank) {
      senders_.emplace_back(rank, degree_out(rank), seed);
      busiest = std::max({busiest, degree_out(rank), degree_in_[rank]});
    }
    grow(first_phases(busiest));
    made_.phase_of.assign(matrix.messages(), no_phase);
  }

  Proposals run() {
    for (std::uint64_t left = matrix_.messages(); left > 0; ++made_.rounds) {
      for (Rank rank = 0; rank < matrix_.ranks(); ++rank) told_[rank] = receives_[rank].words();
      bool short_of_phases = false;
      const std::uint32_t ranks = matrix_.ranks(), first = first_proposer(seed_, made_.rounds, ranks);
      for (std::uint32_t turn = 0; turn < ranks; ++turn)
        left -= propose(first + turn < ranks ? first + turn : first + turn - ranks, short_of_phases);
      if (short_of_phases) grow(more_phases(phases_));
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
    for (Rank rank = 0; rank < matrix_.ranks(); ++rank) {
      senders_[rank].grow(phases);
      receives_[rank].grow(phases);
    }
  }

  /// Makes all proposals of a sender in this round, and lets their receivers decide; returns how many are taken.
  std::size_t propose(Rank src, bool& short_of_phases) {
    Proposer& sender = senders_[src];
    const auto targets = matrix_.targets(src);
    told_of_targets_.clear();
    for (const Rank dst : targets) told_of_targets_.push_back(told_[dst].data());
    const std::size_t before = sender.open().size();
    const auto phases = sender.propose(made_.rounds, told_of_targets_);
    short_of_phases = short_of_phases || sender.short_of_phases();
    sender.settle([&](std::size_t i) {
      if (phases[i] == no_phase) return false;
      const std::uint32_t place = sender.open()[i];
      const Rank dst = targets[place];
      ++exchanged_[src];
      ++exchanged_[dst];
      if (!receives_[dst].take(phases[i])) return false;
      made_.phase_of[matrix_.first(src) + place] = phases[i];
      return true;
    });
    return before - sender.open().size();
  }

  /// Partners and phases of its messages, its two sets, and the set that each open receiver has told it.
  [[nodiscard]] std::uint64_t kept_bytes(Rank rank) const {
    const std::uint64_t partners = std::uint64_t{degree_out(rank)} + degree_in_[rank];
    const std::uint64_t set = FreePhases::words_for(phases_) * sizeof(FreePhases::Words::value_type);
    return partners * (sizeof(Rank) + sizeof(std::uint32_t)) + (2 + degree_out(rank)) * set;
  }

  const TrafficMatrix& matrix_;
  std::uint64_t seed_;
  std::uint32_t phases_ = 0;
  std::vector<Proposer> senders_;
  std::vector<FreePhases> receives_;
  std::vector<FreePhases::Words> told_;  ///< free at the receivers when they answered last
  std::vector<const std::uint64_t*> told_of_targets_;
  std::vector<std::uint32_t> degree_in_;
  std::vector<std::uint64_t> exchanged_;  ///< per rank: proposals
  Proposals made_;
};

}  // namespace

Proposals propose(const TrafficMatrix& matrix, std::uint64_t seed) { return Rounds(matrix, seed).run(); }

static Schedule make_proposals(const Network&, const Demand& demand, const AlgorithmOptions& options) {
  Proposals made = propose(demand.matrix, options.seed);
  // A phase that nobody took is left out.
  std::vector<std::uint32_t> number(made.phases, 0);
  for (const std::uint32_t phase : made.phase_of) number[phase] = 1;
  std::uint32_t phases = 0;
  for (std::uint32_t& phase : number) phase = std::exchange(phases, phases + phase);
  for (std::uint32_t& phase : made.phase_of) phase = number[phase];
  return whole_messages(demand, made.phase_of, phases);
}

constinit const Algorithm proposals{
    .pattern = Pattern::irregular,
    .name = "proposals",
    .summary = "random phases that ranks agree on with their partners alone",
    .source = "after Panconesi and Srinivasan",
    .make = make_proposals,
    .guarantee = "no port overfull",
};

}  // namespace hocket::algorithms
