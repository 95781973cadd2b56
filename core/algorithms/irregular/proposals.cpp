#include "core/algorithms/irregular/proposals.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "core/algorithms/irregular/whole_messages.hpp"
#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/serves.hpp"

namespace hocket::algorithms {
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
    .contention_free = false,
    .ports = PortModel::one_port,
    .why_not = irregular_why_not,
    .make = make_proposals,
    .guarantee = "no port overfull",
};

}  // namespace hocket::algorithms
