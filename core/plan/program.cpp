#include "core/plan/program.hpp"

#include <algorithm>
#include <compare>

#include "core/error.hpp"

namespace hocket {
namespace {

void check_waits(const Schedule& schedule, const Waits& waits) {
  if (waits.begin.empty()) return;
  if (waits.begin.size() != schedule.size() + 1) throw InputError("there are waits for another number of transfers");
  for (const std::uint32_t earlier : waits.before)
    if (earlier >= schedule.size()) throw InputError("a wait for a transfer that does not exist");
}

/// A message of a rank, in the order in which it makes them.
struct Peer {
  std::uint64_t phase;
  Rank rank;
  auto operator<=>(const Peer&) const = default;
};

}  // namespace

RankPrograms::RankPrograms(const Schedule& schedule, const Waits& waits, std::optional<Rank> only)
    : schedule_(schedule), waits_(waits), phase_(schedule.size()), send_place_(schedule.size()) {
  check_ranks(schedule);
  check_waits(schedule, waits);
  const auto hops = schedule.hops();
  const auto transfers = static_cast<std::uint32_t>(schedule.size());
  std::vector<std::uint32_t> sent(schedule.ranks(), 0);
  for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase)
    for (std::uint64_t i = schedule.phase_begin()[phase]; i < schedule.phase_begin()[phase + 1]; ++i) {
      phase_[i] = static_cast<std::uint32_t>(phase);
      send_place_[i] = sent[hops[i].src]++;
    }
  const auto concerns = [only](Rank rank) { return !only || rank == *only; };
  const auto by_rank = [&](Rank Hop::* end) {
    return group(schedule.ranks(), [&](auto visit) {
      for (std::uint32_t i = 0; i < transfers; ++i)
        if (concerns(hops[i].*end)) visit(hops[i].*end, i);
    });
  };
  sends_ = by_rank(&Hop::src);
  receives_ = by_rank(&Hop::dst);
  if (waits.begin.empty()) return;
  released_ = group(transfers, [&](auto visit) {
    for (std::uint32_t i = 0; i < transfers; ++i)
      for (const std::uint32_t earlier : waits.of(i))
        if (concerns(hops[earlier].dst)) visit(earlier, i);
  });
}

LeanVector<Piece> RankPrograms::pieces(std::uint32_t transfer) const {
  if (schedule_.direct()) return {};
  const auto carried = schedule_.pieces(transfer);
  return {carried.begin(), carried.end()};
}

RankProgram RankPrograms::of(Rank rank) const {
  if (rank >= schedule_.ranks()) throw InputError("there is no rank " + std::to_string(rank));
  const auto hops = schedule_.hops();
  RankProgram program;
  program.sends.reserve(sends_.of(rank).size());
  for (const std::uint32_t i : sends_.of(rank)) {
    program.sends.push_back({hops[i].dst, phase_[i], pieces(i), {}});
    if (waits_.begin.empty()) continue;
    for (const std::uint32_t earlier : waits_.of(i)) program.sends.back().tokens.push_back(hops[earlier].dst);
  }
  program.receives.reserve(receives_.of(rank).size());
  for (const std::uint32_t i : receives_.of(rank)) {
    program.receives.push_back({hops[i].src, phase_[i], pieces(i), {}});
    for (const std::uint32_t later : released_.of(i))
      program.receives.back().releases.push_back({hops[later].src, send_place_[later]});
  }
  return program;
}

std::vector<RankProgram> rank_programs(const Schedule& schedule, const Waits& waits) {
  const RankPrograms programs(schedule, waits);
  std::vector<RankProgram> all;
  for (Rank rank = 0; rank < schedule.ranks(); ++rank) all.push_back(programs.of(rank));
  return all;
}

RankProgram rank_program(const Schedule& schedule, const Waits& waits, Rank rank) {
  return RankPrograms(schedule, waits, rank).of(rank);
}

RankProgram rank_program(const Network& network, const ClosedForm& form, Rank rank) {
  const std::uint32_t ranks = network.ranks();
  if (rank >= ranks) throw InputError("there is no rank " + std::to_string(rank));
  std::vector<Peer> peers;
  peers.reserve(ranks - 1);
  const auto by_phase = [&](auto phase) {
    peers.clear();
    for (Rank other = 0; other < ranks; ++other)
      if (other != rank) peers.push_back({phase(other), other});
    std::ranges::sort(peers);
  };
  RankProgram program;
  std::vector<PhasedMessage> others;
  program.sends.reserve(ranks - 1);
  by_phase([&](Rank other) { return form.phase(rank, other); });
  for (const auto [phase, dst] : peers) {
    program.sends.push_back({dst, phase, {}, {}});
    find_awaited(network, form, {rank, dst, phase}, Side::before, others);
    LeanVector<Rank>& tokens = program.sends.back().tokens;
    tokens.reserve(others.size());
    for (const PhasedMessage& earlier : others) tokens.push_back(earlier.dst);
  }
  program.receives.reserve(ranks - 1);
  by_phase([&](Rank other) { return form.phase(other, rank); });
  for (const auto [phase, src] : peers) {
    program.receives.push_back({src, phase, {}, {}});
    find_awaited(network, form, {src, rank, phase}, Side::after, others);
    LeanVector<Release>& releases = program.receives.back().releases;
    releases.reserve(others.size());
    for (const PhasedMessage& later : others) releases.push_back({later.src, form.sends_before(later)});
  }
  return program;
}

}  // namespace hocket
