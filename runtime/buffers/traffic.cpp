#include "runtime/buffers/traffic.hpp"

namespace hocket::runtime {
namespace {

__extension__ using Wide = unsigned __int128;

/// Pieces are cut where the plan cuts them, in proportion. Rounding one bound at a time keeps
/// neighbours together, and every rank rounds alike.
std::size_t scaled(std::uint64_t offset, std::size_t actual, std::uint64_t planned) {
  if (offset == planned) return actual;
  return static_cast<std::size_t>(Wide{offset} * actual / planned);
}

}  // namespace

Traffic all_to_all_traffic(const RankProgram& program, const std::byte* send, std::byte* receive, std::size_t bytes) {
  Traffic traffic;
  for (const auto& op : program.sends) {
    traffic.sends.add(const_cast<std::byte*>(send) + op.dst * bytes, bytes);  // only read from
    traffic.sends.end_message();
  }
  for (const auto& op : program.receives) {
    traffic.receives.add(receive + op.src * bytes, bytes);
    traffic.receives.end_message();
  }
  return traffic;
}

Traffic all_gather_traffic(const Planned& planned, const std::vector<Span>& blocks, std::size_t rank) {
  Traffic traffic;
  const auto add = [&](Messages& messages, const std::vector<Piece>& pieces) {
    for (const Piece& piece : pieces) {
      const Span& block = blocks[piece.origin];
      const std::uint64_t whole = planned.demand.contribution(piece.origin);
      const std::size_t begin = scaled(piece.offset, block.length, whole);
      messages.add(block.at + begin, scaled(piece.offset + piece.length, block.length, whole) - begin);
    }
    messages.end_message();
  };
  for (const auto& send : planned.program.sends) add(traffic.sends, send.pieces);
  for (const auto& receive : planned.program.receives) add(traffic.receives, receive.pieces);
  hold(traffic.held.emplace(), blocks[rank]);
  return traffic;
}

}  // namespace hocket::runtime
