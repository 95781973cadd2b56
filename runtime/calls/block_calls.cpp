#include "runtime/calls/block_calls.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "runtime/mpi/datatypes.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/record/record.hpp"
#include "runtime/team/team.hpp"

namespace hocket::runtime {

std::size_t AllToAllCall::message_bytes(const Team&) const {
  return sendbuf == MPI_IN_PLACE ? quick_bytes_of(recvcount, recvtype) : quick_bytes_of(sendcount, sendtype);
}

std::uint64_t AllToAllCall::sent_bytes(const Team& team) const {
  return message_bytes(team) * static_cast<std::uint64_t>(team.size() - 1);
}

bool AllToAllCall::only_recorded() const noexcept {
  return runtime::only_recorded(comm, {}, equal(sendbuf, sendcount, sendtype), equal(recvbuf, recvcount, recvtype));
}

AllToAll::AllToAll(const Exchange& exchange, const AllToAllCall& call)
    : ScheduledOperation(exchange),
      call_(call),
      received_(bytes_of(call.recvcount, call.recvtype)),
      sent_(call.sendbuf == MPI_IN_PLACE ? received_ : bytes_of(call.sendcount, call.sendtype)) {}

Traffic AllToAll::pack() {
  const MPI_Count size = planned().demand.ranks, received = size * call_.recvcount;
  receive_.emplace(std::vector{block_of(call_.recvbuf, received, call_.recvtype)}, call_.comm);
  std::byte* from = nullptr;
  if (call_.sendbuf == MPI_IN_PLACE) {
    // Incoming data overwrites outgoing data: send from a copy.
    const PlacedBlocks in_place = packed(call_.recvbuf, received, call_.recvtype, call_.comm);
    copy_.assign(in_place.data(), in_place.data() + sent_ * static_cast<std::size_t>(size));
    from = copy_.data();
  } else {
    send_ = packed(call_.sendbuf, size * call_.sendcount, call_.sendtype, call_.comm);
    from = send_->data();
  }
  const std::size_t own = exchange().rank();
  std::byte* const own_to = receive_->data() + own * received_;
  const std::byte* const own_from = from + own * sent_;
  if (own_to != own_from) std::memcpy(own_to, own_from, std::min(sent_, received_));
  if (sent_ > received_) own_differs(sent_, received_);
  const Span sends{from, sent_}, receives{receive_->data(), received_};
  if (!planned().relays()) return all_to_all_traffic(planned().program, sends, receives);
  return relayed_traffic(planned(), static_cast<Rank>(own), sends, receives, relayed_);
}

std::size_t GatherCall::counts(const Team& team) const { return equal_ ? 1 : static_cast<std::size_t>(team.size()); }

std::size_t GatherCall::message_bytes(const Team& team) const {
  MPI_Count elements = 0;
  for (std::size_t i = 0; i < counts(team); ++i) elements += recvcounts[i];
  return rounded_up(quick_bytes_of(elements, recvtype), counts(team));
}

std::uint64_t GatherCall::sent_bytes(const Team& team) const {
  const auto own = recvcounts[static_cast<std::size_t>(team.rank())];
  return quick_bytes_of(own, recvtype) * static_cast<std::uint64_t>(team.size() - 1);
}

bool GatherCall::only_recorded() const noexcept {
  return runtime::only_recorded(comm, {}, same(sendbuf, sendcount, sendtype),
                                {recvbuf, recvcounts, places, Types(recvtype)});
}

std::vector<Block> GatherCall::contributions(std::size_t n) const {
  MPI_Aint lower = 0, extent = 0;
  check(PMPI_Type_get_extent(recvtype, &lower, &extent));
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < n; ++i)
    blocks.push_back({moved(recvbuf, static_cast<MPI_Aint>(places[i]) * extent), recvcounts[i], recvtype});
  return blocks;
}

void GatherCall::hold(HeldArguments& held, const Team& team) {
  sendtype = held.type(sendbuf == MPI_IN_PLACE || sendcount == 0 ? MPI_DATATYPE_NULL : sendtype);
  recvtype = held.type(recvtype);
  recvcounts = held.numbers(recvcounts, static_cast<std::size_t>(team.size()));
  places = held.numbers(places, static_cast<std::size_t>(team.size()));
}

Traffic Gather::pack() {
  const std::size_t rank = exchange().rank();
  receive_.emplace(call_.contributions(planned().demand.ranks), call_.comm);
  const std::size_t own = receive_->contribute(rank, call_.sendbuf, call_.sendcount, call_.sendtype);
  const std::size_t room = receive_->blocks()[rank].length;
  Traffic traffic = all_gather_traffic(planned(), receive_->blocks(), rank);
  traffic.spoilt = own > room;
  if (traffic.spoilt) own_differs(own, room);
  return traffic;
}

std::size_t BroadcastCall::message_bytes(const Team&) const { return quick_bytes_of(count, type); }

std::uint64_t BroadcastCall::sent_bytes(const Team& team) const {
  return team.rank() == root ? quick_bytes_of(count, type) * static_cast<std::uint64_t>(team.size() - 1) : 0;
}

bool BroadcastCall::only_recorded() const noexcept {
  return runtime::only_recorded(comm, Parts::from_root, Numbers::all(count), type, root);
}

Traffic Broadcast::pack() {
  std::vector<Block> blocks(planned().demand.ranks);
  const auto root = static_cast<std::size_t>(call_.root);
  blocks[root] = {static_cast<std::byte*>(call_.buffer), call_.count, call_.type};
  message_.emplace(std::move(blocks), call_.comm);
  const std::size_t rank = exchange().rank();
  if (rank == root) (void)message_->contribute(root, MPI_IN_PLACE, call_.count, call_.type);
  return all_gather_traffic(planned(), message_->blocks(), rank);
}

namespace {

std::byte* bytes_at(void* buffer) { return static_cast<std::byte*>(buffer); }

std::uint64_t ranks_of(const Team& team) { return static_cast<std::uint64_t>(team.size()); }

}  // namespace

std::optional<FallbackReason> ReductionCall::reduced(Form form, bool& settled) const {
  const Reducible can = reducible(op, type);
  settled = settings().sums != Sums::free && !can.exactly;
  if (form == Form::blocking ? can.at_all : can.later) return std::nullopt;
  return FallbackReason::operation;
}

const std::byte* ReductionCall::contribution() const {
  return static_cast<const std::byte*>(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf);
}

std::size_t AllReduceCall::message_bytes(const Team& team) const {
  return rounded_up(quick_bytes_of(count, type), ranks_of(team));
}

std::uint64_t AllReduceCall::sent_bytes(const Team& team) const {
  return 2 * quick_bytes_of(count, type) / ranks_of(team) * (ranks_of(team) - 1);
}

bool AllReduceCall::only_recorded() const noexcept {
  return runtime::only_recorded(comm, Parts::to_all, Numbers::all(count), type, 0);
}

ReductionBuffers AllReduceCall::buffers(std::size_t, std::size_t ranks) const {
  std::vector<std::int64_t> elements(ranks, count / static_cast<std::int64_t>(ranks));
  for (std::size_t i = 0; i < static_cast<std::size_t>(count) % ranks; ++i) ++elements[i];
  return {contribution(), bytes_at(recvbuf), nullptr, std::move(elements)};
}

void ReduceScatterCall::hold(HeldArguments& held, const Team& team) {
  counts = held.numbers(counts, static_cast<std::size_t>(team.size()));
}

std::size_t ReduceScatterCall::different_counts(const Team& team) const { return equal_ ? 1 : ranks_of(team); }

std::size_t ReduceScatterCall::message_bytes(const Team& team) const {
  MPI_Count elements = 0;
  for (std::size_t i = 0; i < different_counts(team); ++i) elements += counts[i];
  return rounded_up(quick_bytes_of(elements, type), different_counts(team));
}

std::uint64_t ReduceScatterCall::sent_bytes(const Team& team) const {
  return message_bytes(team) * (ranks_of(team) - 1);
}

bool ReduceScatterCall::only_recorded() const noexcept {
  return runtime::only_recorded(comm, Parts::to_owners, counts, type, 0);
}

ReductionBuffers ReduceScatterCall::buffers(std::size_t, std::size_t ranks) const {
  std::vector<std::int64_t> elements;
  for (std::size_t i = 0; i < ranks; ++i) elements.push_back(counts[i]);
  return {contribution(), nullptr, bytes_at(recvbuf), std::move(elements)};
}

std::size_t ReduceCall::message_bytes(const Team&) const { return quick_bytes_of(count, type); }

std::uint64_t ReduceCall::sent_bytes(const Team& team) const {
  return team.rank() == root ? 0 : quick_bytes_of(count, type);
}

bool ReduceCall::only_recorded() const noexcept {
  return runtime::only_recorded(comm, Parts::to_root, Numbers::all(count), type, root);
}

ReductionBuffers ReduceCall::buffers(std::size_t rank, std::size_t ranks) const {
  const auto of_root = static_cast<std::size_t>(root);
  std::vector<std::int64_t> elements(ranks, 0);
  elements[of_root] = count;
  return {contribution(), rank == of_root ? bytes_at(recvbuf) : nullptr, nullptr, std::move(elements)};
}

Traffic Reduce::pack() {
  const std::size_t element = reduction_.element();
  std::byte* at = buffers_.in;
  const auto elements = std::accumulate(buffers_.elements.begin(), buffers_.elements.end(), std::int64_t{0});
  const std::size_t bytes = static_cast<std::size_t>(elements) * element;
  if (at == nullptr) {
    if (!copy_) copy_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    at = copy_.get();
  }
  if (at != buffers_.from) std::memcpy(at, buffers_.from, bytes);
  blocks_.clear();
  for (const std::int64_t count : buffers_.elements) {
    blocks_.push_back({at, static_cast<std::size_t>(count) * element});
    at += blocks_.back().length;
  }
  return reduction_traffic(planned(), blocks_, element, reduction_);
}

void Reduce::unpack() {
  const Span& own = blocks_[exchange().rank()];
  if (buffers_.result != nullptr) std::memcpy(buffers_.result, own.at, own.length);
}

}  // namespace hocket::runtime
