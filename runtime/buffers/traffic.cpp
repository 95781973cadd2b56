#include "runtime/buffers/traffic.hpp"

#include <utility>

#include "core/schedule/turned.hpp"

namespace hocket::runtime {
namespace {

__extension__ using Wide = unsigned __int128;

/// The pieces of every message where they lie in the blocks, in whole elements.
Traffic pieces_in(const Planned& planned, const std::vector<Span>& blocks, std::size_t element) {
  Traffic traffic;
  const auto add = [&](Messages& messages, const LeanVector<Piece>& pieces) {
    for (const Piece& piece : pieces) {
      const Span& block = blocks[piece.origin];
      const std::uint64_t whole = planned.demand.contribution(piece.origin);
      const std::size_t elements = block.length / element, begin = scaled(piece.offset, elements, whole);
      const std::size_t end = scaled(piece.offset + piece.length, elements, whole);
      messages.add(block.at + begin * element, (end - begin) * element);
    }
    messages.end_message();
  };
  for (const auto& send : planned.program.sends) add(traffic.sends, send.pieces);
  for (const auto& receive : planned.program.receives) add(traffic.receives, receive.pieces);
  return traffic;
}

}  // namespace

std::size_t scaled(std::uint64_t offset, std::size_t actual, std::uint64_t planned) {
  if (offset == planned) return actual;
  return static_cast<std::size_t>(Wide{offset} * actual / planned);
}

Traffic all_to_all_traffic(const RankProgram& program, Span send, Span receive) {
  Traffic traffic;
  for (const auto& op : program.sends) {
    traffic.sends.add(send.at + op.dst * send.length, send.length);
    traffic.sends.end_message();
  }
  for (const auto& op : program.receives) {
    traffic.receives.add(receive.at + op.src * receive.length, receive.length);
    traffic.receives.end_message();
  }
  traffic.may_be_short = true;
  return traffic;
}

Traffic all_gather_traffic(const Planned& planned, const std::vector<Span>& blocks, std::size_t rank) {
  Traffic traffic = pieces_in(planned, blocks, 1);
  hold(traffic.held.emplace(), blocks[rank]);
  return traffic;
}

Traffic reduction_traffic(const Planned& planned, const std::vector<Span>& blocks, std::size_t element,
                          Combine combine) {
  Traffic traffic = pieces_in(planned, blocks, element);
  Combining& combining = traffic.combining.emplace();
  combining.phases = combining_phases(planned.demand.pattern, planned.phases);
  combining.element = element;
  combining.combine = std::move(combine);
  // Blocks of other ranks, which are sent in these phases, are replaced once by the later phases.
  combining.replacing = combining.phases < planned.phases ? 1 : 0;
  for (std::size_t receive = 0; receive < traffic.receives.size(); ++receive)
    for (const Span& span : traffic.receives.spans(receive)) combining.arrivals.expect(span);
  return traffic;
}

}  // namespace hocket::runtime
