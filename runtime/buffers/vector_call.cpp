#include "runtime/buffers/vector_call.hpp"

#include <algorithm>
#include <utility>

#include "runtime/mpi/mpi_call.hpp"
#include "runtime/mpi/refusals.hpp"

namespace hocket::runtime {
namespace {

/// No memory holds longer messages, and sums of so many bytes do not overflow.
constexpr std::uint64_t longest_message = std::uint64_t{1} << 48;

/// The properties of a datatype that message_bytes() needs.
struct KnownType {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Count size = 0;

  /// False if there is no such type.
  [[nodiscard]] bool look_at(MPI_Datatype other) {
    if (other == MPI_DATATYPE_NULL) return false;
    if (other == type) return true;
    if (PMPI_Type_size_x(other, &size) != MPI_SUCCESS || size < 0) return false;
    type = other;
    return true;
  }
};

/// Something goes out from where something comes in.
bool alias(const VectorSide& send, const VectorSide& receive) {
  if (send.buffer != receive.buffer || send.buffer == MPI_BOTTOM) return false;
  const MPI_Aint out = send.unit(), in = receive.unit();
  for (std::size_t i = 0; i < std::min(send.peers.size(), receive.peers.size()); ++i) {
    const Block from = send.block(i, out), to = receive.block(i, in);
    if (from.count > 0 && to.count > 0 && from.at == to.at) return true;
  }
  return false;
}

}  // namespace

std::vector<Volume> sum_by_peer(std::span<const int> peers, std::span<const std::uint64_t> bytes, Rank own,
                                std::uint64_t& kept) {
  kept = 0;
  std::vector<Volume> volumes;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    if (peers[i] < 0 || bytes[i] == 0) continue;
    const auto peer = static_cast<Rank>(peers[i]);
    if (peer == own)
      kept += bytes[i];
    else
      volumes.push_back({peer, bytes[i]});
  }
  if (!std::ranges::is_sorted(volumes, {}, &Volume::peer)) std::ranges::sort(volumes, {}, &Volume::peer);
  std::size_t last = 0;
  for (std::size_t i = 1; i < volumes.size(); ++i) {
    if (volumes[i].peer == volumes[last].peer)
      volumes[last].bytes += volumes[i].bytes;
    else
      volumes[++last] = volumes[i];
  }
  if (!volumes.empty()) volumes.resize(last + 1);
  return volumes;
}

std::uint64_t digest(const PeerBytes& peer_bytes) {
  constexpr std::uint64_t prime = 0x100000001b3u;
  std::uint64_t hash = peer_bytes.sends.size();
  for (const auto* side : {&peer_bytes.sends, &peer_bytes.receives})
    for (const auto& [peer, bytes] : *side) {
      hash = ((hash ^ peer) * prime ^ bytes) * prime;
      hash ^= hash >> 29;
    }
  return hash;
}

MPI_Aint VectorSide::unit() const {
  MPI_Aint lower = 0, extent = 1;
  if (!types.differ() && !peers.empty()) check(PMPI_Type_get_extent(types[0], &lower, &extent));
  return extent;
}

Block VectorSide::block(std::size_t message, MPI_Aint unit) const {
  if (peers[message] < 0 || counts[message] == 0) return {};
  return {moved(buffer, static_cast<MPI_Aint>(displacements[message]) * unit), counts[message], types[message]};
}

std::optional<std::vector<std::uint64_t>> VectorSide::message_bytes() const {
  std::vector<std::uint64_t> bytes(peers.size(), 0);
  if (peers.empty()) return bytes;
  if (!counts.given() || !displacements.given() || !types.given() || buffer == MPI_IN_PLACE) return std::nullopt;
  KnownType known;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const std::int64_t count = counts[i];
    if (null_types_of_nothing && count == 0 && types[i] == MPI_DATATYPE_NULL) continue;
    if (count < 0 || !known.look_at(types[i])) return std::nullopt;
    if (known.size > 0 && static_cast<std::uint64_t>(count) > longest_message / static_cast<std::uint64_t>(known.size))
      return std::nullopt;
    bytes[i] = static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(known.size);
  }
  return bytes;
}

PlacedBlocks VectorSide::blocks(MPI_Comm comm, PlacedBlocks::Copy copy) const {
  const MPI_Aint by = unit();
  std::vector<Block> list;
  for (std::size_t i = 0; i < peers.size(); ++i) list.push_back(block(i, by));
  return {std::move(list), comm, copy};
}

Numbers HeldArguments::numbers(const Numbers& of, std::size_t n) {
  std::vector<std::int64_t>& own = numbers_.emplace_back();
  for (std::size_t i = 0; i < n; ++i) own.push_back(of[i]);
  return Numbers(own.data());
}

VectorSide HeldArguments::side(VectorSide of) {
  const std::size_t n = of.peers.size();
  of.counts = numbers(of.counts, n);
  of.displacements = numbers(of.displacements, n);
  of.peers = peers_.emplace_back(of.peers.begin(), of.peers.end());
  if (!of.types.differ()) {
    if (n > 0) of.types = Types(type(of.types[0]));
    return of;
  }
  std::vector<MPI_Datatype>& own = lists_of_types_.emplace_back();
  for (std::size_t i = 0; i < n; ++i) own.push_back(type(of.types[i]));
  of.types = Types(own.data());
  return of;
}

VectorCall::VectorCall(const VectorSide& sends, const VectorSide& receives, const Neighbours& neighbours,
                       MPI_Comm communicator)
    : send(sends), receive(receives), comm(communicator) {
  in_place = neighbours.everybody && send.buffer == MPI_IN_PLACE;
  if (in_place) send = receive;
  send.peers = neighbours.destinations;
  receive.peers = neighbours.sources;
}

std::optional<PeerBytes> VectorCall::peer_bytes() const {
  const auto out = send.message_bytes(), in = receive.message_bytes();
  if (!out || !in || (!in_place && alias(send, receive))) return std::nullopt;
  const auto own = static_cast<Rank>(rank_in(comm));
  std::uint64_t sent = 0, received = 0;
  PeerBytes peer_bytes{sum_by_peer(send.peers, *out, own, sent), sum_by_peer(receive.peers, *in, own, received)};
  if (sent != received) return std::nullopt;
  return peer_bytes;
}

}  // namespace hocket::runtime
