#include "runtime/plan/planned.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "core/algorithms/rooted/one_giver.hpp"
#include "core/error.hpp"
#include "core/schedule/ranges.hpp"
#include "core/schedule/turned.hpp"

namespace hocket::runtime {
namespace {

/// Ranges of bytes by origin and target of their message.
using HeldMessages = std::map<std::pair<Rank, Rank>, Ranges>;

/// An all-to-all whose messages are cut and passed on. What arrives in one phase may be passed on from the next on.
void check_relayed(const RankProgram& program, const Demand& demand, Rank rank) {
  HeldMessages held;
  std::map<Rank, Ranges> sent;  // of the rank's own messages, by target
  const auto checked = [&](const Piece& piece) {
    if (piece.origin >= demand.ranks || piece.target >= demand.ranks || piece.origin == piece.target ||
        piece.length == 0 || piece.offset > demand.bytes || piece.length > demand.bytes - piece.offset)
      throw InputError("the plan names bytes that nobody sends");
    return piece.offset + piece.length;
  };
  const auto arrives = [&](const RankProgram::Receive& receive) {
    for (const Piece& piece : receive.pieces) {
      const std::uint64_t end = checked(piece);
      Ranges& of = held[{piece.origin, piece.target}];
      if (piece.origin == rank || of.meets(piece.offset, end)) throw InputError("the plan delivers bytes twice");
      of.add(piece.offset, end);
    }
  };
  auto receive = program.receives.begin();
  for (const auto& send : program.sends) {
    for (; receive != program.receives.end() && receive->phase < send.phase; ++receive) arrives(*receive);
    for (const Piece& piece : send.pieces) {
      const std::uint64_t end = checked(piece);
      if (piece.origin != rank && !held[{piece.origin, piece.target}].covers(piece.offset, end))
        throw InputError("the plan sends what its sender does not hold");
      if (piece.origin != rank) continue;
      if (sent[piece.target].meets(piece.offset, end)) throw InputError("the plan sends bytes twice");
      sent[piece.target].add(piece.offset, end);
    }
  }
  for (; receive != program.receives.end(); ++receive) arrives(*receive);
  for (Rank other = 0; other < demand.ranks; ++other)
    if (other != rank && (!held[{other, rank}].covers(0, demand.bytes) || !sent[other].covers(0, demand.bytes)))
      throw InputError("the plan lacks messages");
}

void check_all_to_all(const RankProgram& program, std::uint32_t ranks, Rank rank) {
  std::vector<bool> to(ranks, false), from(ranks, false);
  to[rank] = from[rank] = true;
  for (const auto& send : program.sends) {
    if (!send.pieces.empty()) throw InputError("the plan cuts some messages of an all-to-all and not others");
    if (to[send.dst]) throw InputError("the plan sends a message twice");
    to[send.dst] = true;
  }
  for (const auto& receive : program.receives) from[receive.src] = true;
  if (program.sends.size() + 1 != ranks || program.receives.size() + 1 != ranks || from != std::vector(ranks, true))
    throw InputError("the plan lacks messages");
}

/// The byte ranges that a rank holds of each contribution, at the planned sizes.
class GatherCheck {
 public:
  GatherCheck(const Demand& demand, Rank rank) : demand_(demand), held_(demand.ranks) {
    held_[rank].add(0, demand.contribution(rank));
  }

  void send(const LeanVector<Piece>& pieces) const {
    for (const Piece& piece : pieces)
      if (!held_[piece.origin].covers(piece.offset, end_of(piece)))
        throw InputError("the plan sends what its sender does not hold");
  }
  void receive(const LeanVector<Piece>& pieces) {
    for (const Piece& piece : pieces) {
      const std::uint64_t end = end_of(piece);
      if (held_[piece.origin].meets(piece.offset, end)) throw InputError("the plan delivers bytes twice");
      held_[piece.origin].add(piece.offset, end);
    }
  }
  void finish() const {
    for (Rank origin = 0; origin < demand_.ranks; ++origin)
      if (!held_[origin].covers(0, demand_.contribution(origin))) throw InputError("the plan lacks messages");
  }

 private:
  [[nodiscard]] std::uint64_t end_of(const Piece& piece) const {
    const std::uint64_t whole = demand_.contribution(piece.origin);
    if (piece.target != everyone || piece.offset > whole || piece.length > whole - piece.offset)
      throw InputError("the plan names bytes that nobody contributes");
    return piece.offset + piece.length;
  }

  const Demand& demand_;
  std::vector<Ranges> held_;
};

/// The messages between a rank and its peers, one side of them, in bytes as planned.
class DirectCheck {
 public:
  explicit DirectCheck(const TrafficMatrix& matrix) : matrix_(matrix) {}

  void transfer(Rank src, Rank dst, Rank peer, const LeanVector<Piece>& pieces) {
    const std::uint64_t whole = matrix_.size(src, dst);
    if (pieces.empty()) part(peer, 0, whole, whole);
    for (const Piece& piece : pieces) {
      if (piece.origin != src || piece.target != dst)
        throw InputError("the plan forwards messages of an irregular exchange");
      if (piece.offset > whole || piece.length > whole - piece.offset)
        throw InputError("the plan names bytes that nobody sends");
      part(peer, piece.offset, piece.offset + piece.length, whole);
    }
  }
  /// `all`: bytes of all messages of this side.
  void finish(std::uint64_t all) const {
    if (bytes_ != all) throw InputError("the plan lacks messages");
  }

 private:
  void part(Rank peer, std::uint64_t begin, std::uint64_t end, std::uint64_t whole) {
    if (whole == 0) throw InputError("the plan sends a message that nobody asked for");
    if (held_[peer].meets(begin, end)) throw InputError("the plan sends bytes twice");
    held_[peer].add(begin, end);
    bytes_ += end - begin;
  }

  const TrafficMatrix& matrix_;
  std::map<Rank, Ranges> held_;
  std::uint64_t bytes_ = 0;
};

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

/// Data that arrives in one phase may be forwarded from the next phase on.
void check_all_gather(const RankProgram& program, const Demand& demand, Rank rank) {
  GatherCheck check(demand, rank);
  auto receive = program.receives.begin();
  for (const auto& send : program.sends) {
    for (; receive != program.receives.end() && receive->phase < send.phase; ++receive) check.receive(receive->pieces);
    check.send(send.pieces);
  }
  for (; receive != program.receives.end(); ++receive) check.receive(receive->pieces);
  check.finish();
}

/// The least bytes of what is cut at all, and of what is cut as messages of limits::reference_bytes. Both begin a class
/// of sizes for which it is learned who serves calls. Ranks whose counts lie on different sides do not follow the same
/// plan: they are few on purpose (docs/decisions/0051-a-tag-says-how-long-a-segment-is.md).
constexpr std::uint64_t least_cut = 2 * algorithms::smallest_piece, least_usual = 64 << 10;
constexpr std::uint64_t planned_as_short = 16 << 10;

}  // namespace

void check_irregular(const RankProgram& program, const TrafficMatrix& matrix, Rank rank) {
  DirectCheck row(matrix), column(matrix);
  for (const auto& send : program.sends) row.transfer(rank, send.dst, send.dst, send.pieces);
  for (const auto& receive : program.receives) column.transfer(receive.src, rank, receive.src, receive.pieces);
  std::uint64_t sent = 0, received = 0;
  for (const std::uint64_t bytes : matrix.bytes(rank)) sent += bytes;
  for (Rank src = 0; src < matrix.ranks(); ++src) received += matrix.size(src, rank);
  row.finish(sent);
  column.finish(received);
}

void check_program(const Planned& planned, Rank rank) {
  const RankProgram& program = planned.program;
  const Demand& demand = planned.demand;
  if (demand.pattern == Pattern::all_to_all)
    return planned.relays() ? check_relayed(program, demand, rank) : check_all_to_all(program, demand.ranks, rank);
  if (demand.pattern == Pattern::irregular) return check_irregular(program, demand.matrix, rank);
  const std::uint64_t combining = combining_phases(demand.pattern, planned.phases);
  if (combining > 0) check_all_gather(mirrored(of_phases(program, 0, combining), combining), demand, rank);
  if (demand.pattern != Pattern::reduce_scatter)
    check_all_gather(of_phases(program, combining, planned.phases), demand, rank);
}

CallKind pipelined_calls(const Collective& collective, int root, std::uint64_t bytes) {
  CallKind kind{&collective, static_cast<Rank>(root)};
  if (bytes < least_usual) kind.bytes = bytes < least_cut ? algorithms::smallest_piece : planned_as_short;
  return kind;
}

}  // namespace hocket::runtime
