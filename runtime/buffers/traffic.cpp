#include "runtime/buffers/traffic.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/schedule/schedule.hpp"

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

/// Pieces of the message to or from one peer; none: the whole of it.
void add_pieces(Messages& messages, std::span<const Span> message, const LeanVector<Piece>& pieces,
                std::uint64_t planned_bytes) {
  if (pieces.empty())
    for (const Span& span : message) messages.add(span.at, span.length);
  const std::size_t actual = bytes_of(message);
  const auto place = [&](std::uint64_t offset) {
    return planned_bytes > 0 ? scaled(offset, actual, planned_bytes) : static_cast<std::size_t>(offset);
  };
  std::vector<Span> spans;
  for (const Piece& piece : pieces) {
    const std::size_t begin = place(piece.offset), end = place(piece.offset + piece.length);
    Cursor cursor(message);
    cursor.take(begin, spans);
    cursor.take(end - begin, spans);
    for (const Span& span : spans) messages.add(span.at, span.length);
  }
  messages.end_message();
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

Traffic relayed_traffic(const Planned& planned, Rank rank, Span send, Span receive, std::vector<std::byte>& relayed) {
  const auto place = [&](std::uint64_t offset, std::size_t length) {
    return scaled(offset, length, planned.demand.bytes);
  };
  struct Passing {
    std::uint64_t end;
    std::size_t at;  ///< in `relayed`
  };
  std::map<std::tuple<Rank, Rank, std::uint64_t>, Passing> passing;  // pieces by origin, target, offset
  std::size_t kept = 0;
  for (const auto& op : planned.program.receives)
    for (const Piece& piece : op.pieces) {
      if (piece.target == rank) continue;
      const std::uint64_t end = piece.offset + piece.length;
      passing.emplace(std::tuple(piece.origin, piece.target, piece.offset), Passing{end, kept});
      kept += place(end, send.length) - place(piece.offset, send.length);
    }
  relayed.resize(kept);
  Traffic traffic;
  const auto add_passing = [&](Messages& messages, const Piece& piece) {
    auto found = std::prev(passing.upper_bound({piece.origin, piece.target, piece.offset}));
    for (std::uint64_t done = piece.offset; done < piece.offset + piece.length; ++found) {
      const std::uint64_t first = std::get<2>(found->first);
      const std::uint64_t end = std::min(found->second.end, piece.offset + piece.length);
      messages.add(relayed.data() + found->second.at + place(done, send.length) - place(first, send.length),
                   place(end, send.length) - place(done, send.length));
      done = end;
    }
  };
  const auto add = [&](Messages& messages, const LeanVector<Piece>& pieces) {
    for (const Piece& piece : pieces) {
      const bool own = piece.origin == rank;
      if (!own && piece.target != rank) {
        add_passing(messages, piece);
        continue;
      }
      const Span block = own ? Span{send.at + piece.target * send.length, send.length}
                             : Span{receive.at + piece.origin * receive.length, receive.length};
      const std::size_t begin = place(piece.offset, block.length);
      messages.add(block.at + begin, place(piece.offset + piece.length, block.length) - begin);
    }
    messages.end_message();
  };
  for (const auto& op : planned.program.sends) add(traffic.sends, op.pieces);
  for (const auto& op : planned.program.receives) add(traffic.receives, op.pieces);
  hold(traffic.held.emplace(), {send.at, send.length * planned.demand.ranks});
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

PeerMessages::PeerMessages(std::span<const int> peers, std::span<const Span> blocks) {
  std::vector<std::size_t> order(peers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return peers[i]; });
  for (const std::size_t i : order) {
    if (peers[i] < 0 || blocks[i].length == 0) continue;
    const auto peer = static_cast<Rank>(peers[i]);
    if (peers_.empty() || peers_.back() != peer) {
      peers_.push_back(peer);
      begin_.push_back(spans_.size());
    }
    spans_.push_back(blocks[i]);
  }
  begin_.push_back(spans_.size());
}

std::span<const Span> PeerMessages::of(Rank peer) const {
  const auto found = std::ranges::lower_bound(peers_, peer);
  if (found == peers_.end() || *found != peer) return {};
  const auto place = static_cast<std::size_t>(found - peers_.begin());
  return {spans_.data() + begin_[place], spans_.data() + begin_[place + 1]};
}

Traffic vector_traffic(const RankProgram& program, const PeerMessages& sends, const PeerMessages& receives,
                       std::uint64_t planned_bytes) {
  Traffic traffic;
  for (const auto& send : program.sends) add_pieces(traffic.sends, sends.of(send.dst), send.pieces, planned_bytes);
  for (const auto& receive : program.receives)
    add_pieces(traffic.receives, receives.of(receive.src), receive.pieces, planned_bytes);
  return traffic;
}

std::size_t bytes_of(std::span<const Span> message) {
  std::size_t bytes = 0;
  for (const Span& span : message) bytes += span.length;
  return bytes;
}

void copy(std::span<const Span> from, std::span<const Span> to) {
  Cursor source(from);
  std::size_t left = bytes_of(from);
  std::vector<Span> parts;
  for (const Span& target : to) {
    const std::size_t length = std::min(target.length, left);
    source.take(length, parts);
    left -= length;
    std::byte* at = target.at;
    for (const Span& part : parts) {
      std::memmove(at, part.at, part.length);
      at += part.length;
    }
  }
}

}  // namespace hocket::runtime
