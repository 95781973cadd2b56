#include "core/plan/program.hpp"

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

namespace {

/// Targets are counted from 1; 0 is everyone.
void write_pieces(ByteWriter& out, const LeanVector<Piece>& pieces) {
  out.number(pieces.size());
  for (const Piece& piece : pieces) {
    out.number(piece.origin);
    out.number(Rank{piece.target + 1});
    out.number(piece.offset);
    out.number(piece.length);
  }
}

/// Every piece is a part of a message that the header has.
LeanVector<Piece> read_pieces(ByteReader& in, const Demand& demand) {
  LeanVector<Piece> pieces;
  const std::uint64_t count = in.count(4);
  pieces.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    Piece piece;
    piece.origin = in.number32(demand.ranks - 1);
    piece.target = in.number32(demand.ranks) - 1;
    piece.offset = in.number();
    piece.length = in.number();
    if ((piece.target == everyone) != demand.by_blocks())
      throw PlanProblem("the pattern in the header is " + std::string(to_string(demand.pattern)) +
                        ", the programs have messages of another");
    const std::uint64_t whole = demand.contribution(piece.origin);
    if (piece.offset > whole || piece.length > whole - piece.offset)
      throw PlanProblem("a program has bytes beyond the " + std::to_string(whole) +
                        " that the header gives a message of rank " + std::to_string(piece.origin) +
                        " (bytes, contributions)");
    pieces.push_back(piece);
  }
  return pieces;
}

/// A direct transfer carries as many bytes as the header says.
void check_direct(const Demand& demand) {
  if (demand.by_blocks())
    throw PlanProblem("the pattern in the header is " + std::string(to_string(demand.pattern)) +
                      ", the programs have no pieces of blocks");
  if (demand.bytes == 0) throw PlanProblem("the header says 0 bytes, the programs have messages");
}

}  // namespace

Bytes encode_program(const RankProgram& program, bool direct) {
  ByteWriter out;
  std::uint64_t phase = 0;
  out.number(program.sends.size());
  for (const RankProgram::Send& send : program.sends) {
    out.number(send.phase - std::exchange(phase, send.phase));
    out.number(send.dst);
    if (!direct) write_pieces(out, send.pieces);
    out.number(send.tokens.size());
    for (const Rank releaser : send.tokens) out.number(releaser);
  }
  phase = 0;
  out.number(program.receives.size());
  for (const RankProgram::Receive& receive : program.receives) {
    out.number(receive.phase - std::exchange(phase, receive.phase));
    out.number(receive.src);
    if (!direct) write_pieces(out, receive.pieces);
    out.number(receive.releases.size());
    for (const Release& release : receive.releases) {
      out.number(release.rank);
      out.number(release.send);
    }
  }
  return out.take();
}

RankProgram decode_program(ByteView bytes, const ProgramForm& form) {
  ByteReader in(bytes);
  RankProgram program;
  const auto next_phase = [&](std::uint64_t phase) {
    const std::uint64_t step = in.number();
    if (step >= form.phases - phase) throw PlanProblem("a phase is out of range");
    return phase + step;
  };
  std::uint64_t phase = 0;
  for (std::uint64_t n = in.count(3); n > 0; --n) {
    RankProgram::Send send;
    send.phase = phase = next_phase(phase);
    send.dst = in.number32(form.demand.ranks - 1);
    if (!form.direct) send.pieces = read_pieces(in, form.demand);
    for (std::uint64_t k = in.count(); k > 0; --k) send.tokens.push_back(in.number32(form.demand.ranks - 1));
    program.sends.push_back(std::move(send));
  }
  phase = 0;
  for (std::uint64_t n = in.count(3); n > 0; --n) {
    RankProgram::Receive receive;
    receive.phase = phase = next_phase(phase);
    receive.src = in.number32(form.demand.ranks - 1);
    if (!form.direct) receive.pieces = read_pieces(in, form.demand);
    for (std::uint64_t k = in.count(2); k > 0; --k) {
      Release release;
      release.rank = in.number32(form.demand.ranks - 1);
      release.send = in.number32();
      receive.releases.push_back(release);
    }
    program.receives.push_back(std::move(receive));
  }
  if (!in.empty()) throw PlanProblem("bytes after the end of a program");
  if (form.direct && program.sends.size() + program.receives.size() > 0) check_direct(form.demand);
  return program;
}

}  // namespace hocket
