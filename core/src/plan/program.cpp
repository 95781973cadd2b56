#include "hocket/plan/program.hpp"

#include <cstddef>

#include "hocket/elements/local_sort.hpp"
#include "hocket/error.hpp"

namespace hocket {
namespace {

constexpr Rank every_rank = ~Rank{0};

void check_waits(const Schedule& schedule, const Waits& waits) {
  if (waits.begin.empty()) return;
  if (waits.begin.size() != schedule.size() + 1) throw InputError("there are waits for another number of transfers");
  for (const std::uint32_t earlier : waits.before)
    if (earlier >= schedule.size()) throw InputError("a wait for a transfer that does not exist");
}

/// Walks the schedule once and hands each send, receive and release of the wanted rank to its row.
template <class RowOf>
void fill(const Schedule& schedule, const Waits& waits, Rank wanted, RowOf row_of) {
  check_ranks(schedule);
  check_waits(schedule, waits);
  const auto hops = schedule.hops();
  // Place of each transfer in its sender's and its receiver's row.
  std::vector<std::uint32_t> send_place(schedule.size()), receive_place(schedule.size());
  std::vector<std::uint32_t> sent(schedule.ranks(), 0), received(schedule.ranks(), 0);
  const auto concerns = [wanted](Rank rank) { return wanted == every_rank || wanted == rank; };
  for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase)
    for (std::uint64_t i = schedule.phase_begin()[phase]; i < schedule.phase_begin()[phase + 1]; ++i) {
      const auto [src, dst] = hops[i];
      send_place[i] = sent[src]++;
      receive_place[i] = received[dst]++;
      std::span<const Piece> pieces;
      if (!schedule.direct()) pieces = schedule.pieces(i);
      if (concerns(src)) row_of(src).sends.push_back({dst, phase, {pieces.begin(), pieces.end()}, {}});
      if (concerns(dst)) row_of(dst).receives.push_back({src, phase, {pieces.begin(), pieces.end()}, {}});
      if (waits.begin.empty()) continue;
      for (const std::uint32_t earlier : waits.of(i)) {
        const Rank releaser = hops[earlier].dst;
        if (concerns(src)) row_of(src).sends.back().tokens.push_back(releaser);
        if (concerns(releaser))
          row_of(releaser).receives[receive_place[earlier]].releases.push_back({src, send_place[i]});
      }
    }
}

/// A message of a rank, as sort_records() takes it.
struct Peer {
  std::uint64_t phase;
  Rank rank;
};

}  // namespace

std::vector<RankProgram> rank_programs(const Schedule& schedule, const Waits& waits) {
  std::vector<RankProgram> programs(schedule.ranks());
  fill(schedule, waits, every_rank, [&](Rank rank) -> RankProgram& { return programs[rank]; });
  return programs;
}

RankProgram rank_program(const Schedule& schedule, const Waits& waits, Rank rank) {
  RankProgram program;
  fill(schedule, waits, rank, [&](Rank) -> RankProgram& { return program; });
  return program;
}

RankProgram rank_program(const Network& network, const ClosedForm& form, Rank rank) {
  const std::uint32_t ranks = network.ranks();
  if (rank >= ranks) throw InputError("there is no rank " + std::to_string(rank));
  std::vector<Peer> peers, scratch(ranks - 1);
  peers.reserve(ranks - 1);
  const auto by_phase = [&](auto phase) {
    peers.clear();
    for (Rank other = 0; other < ranks; ++other)
      if (other != rank) peers.push_back({phase(other), other});
    sort_records({KeyType::u64, sizeof(Peer)}, reinterpret_cast<std::byte*>(peers.data()), peers.size(),
                 reinterpret_cast<std::byte*>(scratch.data()));
  };
  RankProgram program;
  std::vector<PhasedMessage> others;
  program.sends.reserve(ranks - 1);
  by_phase([&](Rank other) { return form.phase(rank, other); });
  for (const auto [phase, dst] : peers) {
    program.sends.push_back({dst, phase, {}, {}});
    find_awaited(network, form, {rank, dst, phase}, Side::before, others);
    std::vector<Rank>& tokens = program.sends.back().tokens;
    tokens.reserve(others.size());
    for (const PhasedMessage& earlier : others) tokens.push_back(earlier.dst);
  }
  program.receives.reserve(ranks - 1);
  by_phase([&](Rank other) { return form.phase(other, rank); });
  for (const auto [phase, src] : peers) {
    program.receives.push_back({src, phase, {}, {}});
    find_awaited(network, form, {src, rank, phase}, Side::after, others);
    std::vector<Release>& releases = program.receives.back().releases;
    releases.reserve(others.size());
    for (const PhasedMessage& later : others) releases.push_back({later.src, form.sends_before(later)});
  }
  return program;
}

}  // namespace hocket
