#include "runtime/plan/planned.hpp"

#include <utility>

#include "core/algorithms/rooted/one_giver.hpp"
#include "core/error.hpp"
#include "core/schedule/ranges.hpp"

namespace hocket::runtime {
namespace {

/// Checks that what is sent is there, comes once and is complete. What arrives in one phase may be passed on from the
/// next on. `relays`: messages of an all-to-all are cut and passed on.
void check_bytes(const RankProgram& program, const Demand& demand, bool relays, Rank rank) {
  // By origin and target of a message: what has come of others', what was sent of the rank's own.
  std::map<std::pair<Rank, Rank>, Ranges> moved;
  const auto each_piece = [&](const LeanVector<Piece>& pieces, Rank src, Rank dst, auto visit) {
    const bool direct = !demand.by_blocks() && !relays;
    if (demand.pattern == Pattern::all_to_all && pieces.empty() == relays)
      throw InputError("the plan cuts some messages of an all-to-all and not others");
    if (pieces.empty() && direct) visit(Piece{src, dst, 0, demand.size(src, dst)});
    for (const Piece& piece : pieces) {
      if (direct && (piece.origin != src || piece.target != dst))
        throw InputError("the plan forwards messages of an irregular exchange");
      visit(piece);
    }
  };
  const auto end_of = [&](const Piece& piece) {
    const bool known = piece.origin < demand.ranks && (piece.target < demand.ranks || piece.target == everyone);
    const std::uint64_t whole = known ? demand.size(piece.origin, piece.target) : 0;
    if (!known || (piece.length == 0 && !demand.by_blocks()) || piece.offset > whole ||
        piece.length > whole - piece.offset)
      throw InputError("the plan names bytes that nobody sends");
    return piece.offset + piece.length;
  };
  const auto take = [&](const Piece& piece, const char* twice) {
    const std::uint64_t end = end_of(piece);
    Ranges& of = moved[{piece.origin, piece.target}];
    if (of.meets(piece.offset, end)) throw InputError(twice);
    of.add(piece.offset, end);
  };
  const auto arrives = [&](const RankProgram::Receive& receive) {
    each_piece(receive.pieces, receive.src, rank, [&](const Piece& piece) {
      if (piece.origin == rank && piece.length > 0) throw InputError("the plan delivers bytes twice");
      take(piece, "the plan delivers bytes twice");
    });
  };
  auto receive = program.receives.begin();
  for (const auto& send : program.sends) {
    for (; receive != program.receives.end() && receive->phase < send.phase; ++receive) arrives(*receive);
    each_piece(send.pieces, rank, send.dst, [&](const Piece& piece) {
      const std::uint64_t end = end_of(piece);
      if (piece.origin != rank && !moved[{piece.origin, piece.target}].covers(piece.offset, end))
        throw InputError("the plan sends what its sender does not hold");
      if (piece.origin == rank && piece.target != everyone) take(piece, "the plan sends bytes twice");
    });
  }
  for (; receive != program.receives.end(); ++receive) arrives(*receive);
  const auto lacks = [&](Rank origin, Rank target) {
    return !moved[{origin, target}].covers(0, demand.size(origin, target));
  };
  for (Rank other = 0; other < demand.ranks; ++other)
    if (other != rank && (demand.by_blocks() ? lacks(other, everyone) : lacks(other, rank) || lacks(rank, other)))
      throw InputError("the plan lacks messages");
}

/// The part of a rank program in phases `begin` to `end` − 1.
RankProgram of_phases(const RankProgram& program, std::uint64_t begin, std::uint64_t end) {
  const auto within = [&](const auto& message) { return message.phase >= begin && message.phase < end; };
  RankProgram part;
  std::ranges::copy_if(program.sends, std::back_inserter(part.sends), within);
  std::ranges::copy_if(program.receives, std::back_inserter(part.receives), within);
  return part;
}

/// The last phase first, and all messages the other way: of a reduce-scatter, an all-gather.
RankProgram mirrored(const RankProgram& program, std::uint64_t phases) {
  RankProgram mirror;
  for (const auto& receive : program.receives)
    mirror.sends.push_back({receive.src, phases - 1 - receive.phase, receive.pieces, {}});
  for (const auto& send : program.sends)
    mirror.receives.push_back({send.dst, phases - 1 - send.phase, send.pieces, {}});
  std::ranges::reverse(mirror.sends);
  std::ranges::reverse(mirror.receives);
  return mirror;
}

/// The least bytes of what is cut at all, and of what is cut as messages of limits::reference_bytes. Both begin a class
/// of sizes for which it is learned who serves calls. Ranks whose counts lie on different sides do not follow the same
/// plan: they are few on purpose (docs/decisions/0051-a-tag-says-how-long-a-segment-is.md).
constexpr std::uint64_t least_cut = 2 * algorithms::smallest_piece, least_usual = 64 << 10;
constexpr std::uint64_t planned_as_short = 16 << 10;

}  // namespace

void check_program(const Planned& planned, Rank rank) {
  const RankProgram& program = planned.program;
  const Demand& demand = planned.demand;
  if (!demand.by_blocks()) return check_bytes(program, demand, planned.relays(), rank);
  const std::uint64_t combining = combining_phases(demand.pattern, planned.phases);
  if (combining > 0) check_bytes(mirrored(of_phases(program, 0, combining), combining), demand, false, rank);
  if (demand.pattern != Pattern::reduce_scatter)
    check_bytes(of_phases(program, combining, planned.phases), demand, false, rank);
}

CallKind pipelined_calls(const Collective& collective, int root, std::uint64_t bytes) {
  CallKind kind{&collective, static_cast<Rank>(root)};
  if (bytes < least_usual) kind.bytes = bytes < least_cut ? algorithms::smallest_piece : planned_as_short;
  return kind;
}

}  // namespace hocket::runtime
