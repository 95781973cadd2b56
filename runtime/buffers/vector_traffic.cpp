#include "runtime/buffers/vector_traffic.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace hocket::runtime {
namespace {

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
