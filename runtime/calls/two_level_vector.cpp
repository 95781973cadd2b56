#include <limits>

#include "runtime/buffers/traffic.hpp"
#include "runtime/calls/two_level_calls.hpp"
#include "runtime/mpi/since_mpi4.hpp"
#include "runtime/progress/waiting.hpp"

namespace hocket::runtime {
namespace {

constexpr MPI_Count most_elements = std::numeric_limits<int>::max();

/// Bytes to or from each rank.
std::vector<std::uint64_t> by_peer(const VectorSide& side, std::size_t ranks) {
  const std::optional<std::vector<std::uint64_t>> bytes = side.message_bytes();
  if (!bytes) throw MpiFailure{MPI_ERR_COUNT};  // no memory holds such messages
  std::vector<std::uint64_t> sum(ranks, 0);
  for (std::size_t i = 0; i < bytes->size(); ++i)
    if (side.peers[i] >= 0) sum[static_cast<std::size_t>(side.peers[i])] += (*bytes)[i];
  return sum;
}

}  // namespace

TwoLevelVector::TwoLevelVector(const Exchange& exchange, const VectorCall& call)
    : TwoLevelOperation(exchange),
      call_(call),
      longest_(VectorPlaces::longest(hosts(), memory().bytes() / 2)),
      to_(by_peer(call.send, hosts().together)),
      from_(by_peer(call.receive, hosts().together)) {}

/// The messages of one side that are no direct ones; those have no elements.
std::vector<Block> TwoLevelVector::two_level(const VectorSide& side, const std::vector<std::uint64_t>& bytes) const {
  const MPI_Aint unit = side.unit();
  std::vector<Block> blocks(side.peers.size());
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (side.peers[i] >= 0 && !is_direct(bytes[static_cast<std::size_t>(side.peers[i])]))
      blocks[i] = side.block(i, unit);
  return blocks;
}

void TwoLevelVector::put() {
  const std::size_t own = hosts().here()[hosts().local];
  from_[own] = to_[own];  // they differ only in erroneous calls
  receive_.emplace(two_level(call_.receive, from_), call_.comm);
  if (!call_.in_place) {
    post_direct(call_.receive, from_, false);
    post_direct(call_.send, to_, true);
  }
  put_rows();
}

void TwoLevelVector::put_rows() {
  const VectorPlaces at = places();
  PlacedBlocks send(two_level(call_.send, to_), call_.comm);
  for (std::size_t i = 0; i < call_.send.peers.size(); ++i) send.pack(i);
  const PeerMessages messages(call_.send.peers, send.blocks());
  const std::span<std::uint64_t> rows_at = at.rows_at(hosts().local);
  std::byte* const rows = at.rows(hosts().local);
  std::byte* next = rows;
  std::vector<std::size_t> lengths;
  for (std::size_t host = 0; host < hosts().count(); ++host) {
    rows_at[host] = static_cast<std::uint64_t>(next - rows);
    lengths.clear();
    for (const Rank rank : hosts().ranks[host]) lengths.push_back(is_direct(to_[rank]) ? 0 : to_[rank]);
    next = begin_row(next, lengths);
    for (const Rank rank : hosts().ranks[host])
      for (const Span& span : messages.of(rank)) next = std::copy_n(span.at, span.length, next);
  }
  rows_at[hosts().count()] = static_cast<std::uint64_t>(next - rows);
  const std::span<std::uint32_t> expected = at.expected(hosts().local);
  for (std::size_t rank = 0; rank < from_.size(); ++rank)
    expected[rank] = is_direct(from_[rank]) ? 0 : static_cast<std::uint32_t>(from_[rank]);
}

/// Posts long messages with the program's own datatypes. Their tag lies above those of tokens.
void TwoLevelVector::post_direct(const VectorSide& side, const std::vector<std::uint64_t>& bytes, bool sends) {
  const MPI_Aint unit = side.unit();
  const int tag = exchange().tags().token(hosts().together);
  for (std::size_t i = 0; i < side.peers.size(); ++i) {
    if (side.peers[i] < 0 || !is_direct(bytes[static_cast<std::size_t>(side.peers[i])])) continue;
    const Block block = side.block(i, unit);
    if (block.count == 0) continue;
    MPI_Request& request = direct_.emplace_back(MPI_REQUEST_NULL);
    const auto peer = side.peers[i];
    const auto count = static_cast<int>(std::min(block.count, most_elements));
    if (block.count > most_elements)
      check(sends ? PMPI_Isend_c(block.at, block.count, block.type, peer, tag, exchange().comm(), &request)
                  : PMPI_Irecv_c(block.at, block.count, block.type, peer, tag, exchange().comm(), &request));
    else
      check(sends ? PMPI_Isend(block.at, count, block.type, peer, tag, exchange().comm(), &request)
                  : PMPI_Irecv(block.at, count, block.type, peer, tag, exchange().comm(), &request));
  }
}

/// Exchanges long messages of an in-place call, where send and receive buffers coincide: pair by pair, in an order of
/// pairs that all ranks share.
void TwoLevelVector::exchange_in_place() {
  const VectorSide& side = call_.receive;
  const auto own = static_cast<int>(hosts().here()[hosts().local]);
  const int tag = exchange().tags().token(hosts().together);
  for (std::size_t i = 0; i < side.peers.size(); ++i) {
    const int peer = side.peers[i];
    if (peer < 0 || peer == own || !is_direct(from_[static_cast<std::size_t>(peer)])) continue;
    Block block = side.block(i, side.unit());
    const MPI_Aint extent = layout_of(block.type).extent;
    while (block.count > 0) {
      const auto count = static_cast<int>(std::min(block.count, most_elements));
      check(wait_in_mpi(PMPI_Sendrecv_replace, block.at, count, block.type, peer, tag, peer, tag, exchange().comm(),
                        MPI_STATUS_IGNORE));
      block.count -= count;
      block.at = moved(block.at, count * extent);
    }
  }
}

std::vector<Span> TwoLevelVector::aggregate_for(std::size_t host) const {
  const VectorPlaces at = places();
  std::vector<Span> rows;
  bool any = false;
  for (std::size_t local = 0; local < hosts().here().size(); ++local) {
    const std::span<const std::uint64_t> rows_at = at.rows_at(local);
    rows.push_back({at.rows(local) + rows_at[host], rows_at[host + 1] - rows_at[host]});
    any |= rows.back().length > row_bytes(hosts().ranks[host].size(), 0);
  }
  if (!any) rows.clear();
  return rows;
}

void TwoLevelVector::lay_out(std::span<std::uint64_t> arrivals) const {
  const VectorPlaces at = places();
  const std::size_t here = hosts().here().size();
  std::vector<std::uint64_t> together(hosts().together, 0);
  for (std::size_t local = 0; local < here; ++local) {
    const std::span<const std::uint32_t> expected = at.expected(local);
    for (std::size_t rank = 0; rank < together.size(); ++rank) together[rank] += expected[rank];
  }
  arrivals[0] = 0;
  for (std::size_t host = 0; host < hosts().count(); ++host) {
    std::uint64_t bytes = 0;
    bool any = false;
    for (const Rank rank : hosts().ranks[host]) {
      bytes += row_bytes(here, together[rank]);
      any |= together[rank] > 0;
    }
    arrivals[host + 1] = arrivals[host] + (any && host != hosts().host ? bytes : 0);
  }
}

Traffic TwoLevelVector::traffic() {
  const VectorPlaces at = places();
  lay_out(at.arrivals());
  const std::span<const std::uint64_t> arrivals = at.arrivals();
  Traffic traffic;
  for (const auto& send : planned().program.sends) {
    for (const Span& row : aggregate_for(hosts().host_of[send.dst])) traffic.sends.add(row.at, row.length);
    traffic.sends.end_message();
  }
  for (const auto& receive : planned().program.receives) {
    const std::size_t host = hosts().host_of[receive.src];
    traffic.receives.add(at.incoming() + arrivals[host], arrivals[host + 1] - arrivals[host]);
    traffic.receives.end_message();
  }
  traffic.may_be_short = true;
  return traffic;
}

void TwoLevelVector::carry(MPI_Comm leaders, MPI_Request* request) {
  const VectorPlaces at = places();
  lay_out(at.arrivals());
  const std::span<const std::uint64_t> arrivals = at.arrivals();
  const std::size_t count = hosts().count();
  counts_.resize(4 * count);
  int* const sends = counts_.data();
  int *const sends_at = sends + count, *const receives = sends_at + count, *const receives_at = receives + count;
  staging_.clear();
  for (std::size_t place = 0; place < count; ++place) {
    const std::size_t host = hosts().by_leader[place];
    sends_at[place] = static_cast<int>(staging_.size());
    if (host != hosts().host)
      for (const Span& row : aggregate_for(host)) staging_.insert(staging_.end(), row.at, row.at + row.length);
    sends[place] = static_cast<int>(staging_.size()) - sends_at[place];
    receives[place] = static_cast<int>(arrivals[host + 1] - arrivals[host]);
    receives_at[place] = static_cast<int>(arrivals[host]);
  }
  staging_.reserve(1);  // somewhere, for libraries that refuse nowhere
  check(PMPI_Ialltoallv(staging_.data(), sends, sends_at, MPI_BYTE, at.incoming(), receives, receives_at, MPI_BYTE,
                        leaders, request));
}

/// Each rank for itself, since nobody waits between this and carrying; takers read what the leader has put down.
void TwoLevelVector::prepare_share() {
  arrivals_.resize(hosts().count() + 1);
  lay_out(arrivals_);
  if (hosts().leads()) std::ranges::copy(arrivals_, places().arrivals().begin());
}

Span TwoLevelVector::going_out(std::size_t host) {
  std::vector<std::byte>& aggregate = shares_.emplace_back();
  for (const Span& row : aggregate_for(host)) aggregate.insert(aggregate.end(), row.at, row.at + row.length);
  return {aggregate.data(), aggregate.size()};
}

Span TwoLevelVector::coming_in(std::size_t host) {
  return {places().incoming() + arrivals_[host], arrivals_[host + 1] - arrivals_[host]};
}

void TwoLevelVector::take() {
  const VectorPlaces at = places();
  const std::span<const std::uint64_t> arrivals = at.arrivals();
  const PeerMessages wanted(call_.receive.peers, receive_->blocks());
  const std::size_t here = hosts().here().size();
  for (std::size_t host = 0; host < hosts().count(); ++host) {
    const bool stays = host == hosts().host;
    std::byte* next = at.incoming() + arrivals[host];
    const std::byte* const end = at.incoming() + arrivals[host + 1];
    if (!stays && next == end) continue;
    for (std::size_t local = 0; local < hosts().ranks[host].size(); ++local) {
      const std::span<const std::uint64_t> rows_at = at.rows_at(stays ? local : 0);
      if (stays) next = at.rows(local) + rows_at[host];
      const auto room = stays ? rows_at[host + 1] - rows_at[host] : static_cast<std::size_t>(end - next);
      const Row row(next, room, here);
      const Rank from = hosts().ranks[host][local];
      if (row.bytes() > room) {  // more is sent than was expected, by this rank or one before it
        differs({from, row.bytes(), room});
        break;
      }
      take_message(from, row.message(hosts().local), wanted.of(from));
      next += row.bytes();
    }
  }
  for (std::size_t i = 0; i < call_.receive.peers.size(); ++i) receive_->unpack(i);
  if (call_.in_place) exchange_in_place();
}

void TwoLevelVector::take_message(Rank from, const Span& message, std::span<const Span> wanted) {
  copy({&message, 1}, wanted);
  if (const std::size_t room = bytes_of(wanted); message.length > room) differs({from, message.length, room});
}

bool TwoLevelVector::all_in() {
  if (!all_done(direct_)) return false;
  direct_.clear();
  return true;
}

}  // namespace hocket::runtime
