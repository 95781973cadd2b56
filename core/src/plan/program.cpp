#include "hocket/plan/program.hpp"

#include <algorithm>

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
  std::vector<PhasedMessage> messages;
  messages.reserve(ranks - 1);
  const auto by_phase = [&](auto message) {
    messages.clear();
    for (Rank other = 0; other < ranks; ++other)
      if (other != rank) messages.push_back(message(other));
    std::ranges::sort(messages, {}, &PhasedMessage::phase);
  };
  RankProgram program;
  program.sends.reserve(ranks - 1);
  by_phase([&](Rank other) { return PhasedMessage{rank, other, form.phase(rank, other)}; });
  for (const PhasedMessage& message : messages) {
    program.sends.push_back({message.dst, message.phase, {}, {}});
    for (const PhasedMessage& earlier : awaited(network, form, message, Side::before))
      program.sends.back().tokens.push_back(earlier.dst);
  }
  program.receives.reserve(ranks - 1);
  by_phase([&](Rank other) { return PhasedMessage{other, rank, form.phase(other, rank)}; });
  for (const PhasedMessage& message : messages) {
    program.receives.push_back({message.src, message.phase, {}, {}});
    for (const PhasedMessage& later : awaited(network, form, message, Side::after))
      program.receives.back().releases.push_back({later.src, form.sends_before(later)});
  }
  return program;
}

}  // namespace hocket
