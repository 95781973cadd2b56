#include "core/plan/program_bytes.hpp"

#include <string>
#include <utility>

namespace hocket {
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
