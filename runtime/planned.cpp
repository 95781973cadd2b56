#include "planned.hpp"

#include <vector>

#include "hocket/error.hpp"
#include "messages.hpp"

namespace hocket::runtime {
namespace {

void check_all_to_all(const RankProgram& program, std::uint32_t ranks, Rank rank) {
  std::vector<bool> to(ranks, false), from(ranks, false);
  to[rank] = from[rank] = true;
  for (const auto& send : program.sends) {
    if (!send.pieces.empty()) throw InputError("the plan splits or forwards messages of an all-to-all");
    if (to[send.dst]) throw InputError("the plan sends a message twice");
    to[send.dst] = true;
  }
  for (const auto& receive : program.receives) from[receive.src] = true;
  if (program.sends.size() + 1 != ranks || program.receives.size() + 1 != ranks || from != std::vector(ranks, true))
    throw InputError("the plan lacks messages");
}

/// What a rank holds of each contribution, in bytes as planned.
class GatherCheck {
 public:
  GatherCheck(const Demand& demand, Rank rank) : demand_(demand), held_(demand.ranks) {
    held_[rank].add(0, demand.contribution(rank));
  }

  void send(const std::vector<Piece>& pieces) const {
    for (const Piece& piece : pieces)
      if (!held_[piece.origin].covers(piece.offset, end_of(piece)))
        throw InputError("the plan sends what its sender does not hold");
  }
  void receive(const std::vector<Piece>& pieces) {
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

}  // namespace

void check_program(const Planned& planned, Rank rank) {
  const RankProgram& program = planned.program;
  if (planned.demand.pattern == Pattern::all_to_all) {
    check_all_to_all(program, planned.demand.ranks, rank);
    return;
  }
  // What arrives in a phase can be sent on in the next.
  GatherCheck check(planned.demand, rank);
  auto receive = program.receives.begin();
  for (const auto& send : program.sends) {
    for (; receive != program.receives.end() && receive->phase < send.phase; ++receive) check.receive(receive->pieces);
    check.send(send.pieces);
  }
  for (; receive != program.receives.end(); ++receive) check.receive(receive->pieces);
  check.finish();
}

}  // namespace hocket::runtime
