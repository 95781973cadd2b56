#include "runtime/calls/vector_operation.hpp"

#include "runtime/buffers/traffic.hpp"
#include "runtime/calls/nonblocking.hpp"
#include "runtime/irregular/vector_exchanges.hpp"
#include "runtime/mpi/datatypes.hpp"
#include "runtime/progress/waiting.hpp"
#include "runtime/record/record.hpp"

namespace hocket::runtime {
namespace {

std::size_t bytes_of_side(const RootCall::Side& side) { return quick_bytes_of(side.count, side.type); }

}  // namespace

Traffic VectorOperation::pack() {
  // Incoming data overwrites outgoing data: send from a copy.
  using Copy = PlacedBlocks::Copy;
  send_.emplace(call_.send.blocks(call_.comm, call_.in_place ? Copy::always : Copy::where_needed));
  receive_.emplace(call_.receive.blocks(call_.comm));
  for (std::size_t i = 0; i < call_.send.peers.size(); ++i) send_->pack(i);
  const PeerMessages sends(call_.send.peers, send_->blocks()), receives(call_.receive.peers, receive_->blocks());
  const auto rank = static_cast<Rank>(exchange().rank());
  const std::span<const Span> own_sent = sends.of(rank), own_received = receives.of(rank);
  copy(own_sent, own_received);
  if (const std::size_t sent = bytes_of(own_sent), room = bytes_of(own_received); sent > room) own_differs(sent, room);
  Traffic traffic = vector_traffic(planned().program, sends, receives, planned_bytes_);
  traffic.may_be_short = true;
  return traffic;
}

void VectorOperation::unpack() {
  for (std::size_t i = 0; i < call_.receive.peers.size(); ++i) receive_->unpack(i);
}

PersistentVector persistent_operation(Team& team, const VectorCall& call, const std::optional<PeerBytes>& peer_bytes,
                                      bool rooted) {
  const int well_formed = peer_bytes ? 1 : 0;
  int all_well_formed = 0;
  // Blocking: where the library has refused the first try of some rank, nonblocking calls may no longer match.
  check(wait_in_mpi(PMPI_Allreduce, &well_formed, &all_well_formed, 1, MPI_INT, MPI_MIN, call.comm));
  if (all_well_formed == 0) return {};
  const Volumes all = team.vectors().ask(call.comm, peer_bytes);
  const std::uint64_t limit = settings().min_bytes;
  if (all.messages == 0 || all.bytes / all.messages < (limit > 0 ? limit : Choices::long_message_bytes()))
    return {nullptr, FallbackReason::small};
  const Exchange* const phases = rooted ? nullptr : team.phases_for(call.comm, all);
  VectorExchanges::Made made =
      phases != nullptr ? VectorExchanges::Made{phases->planned()} : team.vectors().plan(call.comm, *peer_bytes);
  if (!made.planned) return {nullptr, made.why};
  std::optional<PrivateComms::Lease> lease = team.lease(call.comm);
  if (!lease) return {nullptr, FallbackReason::no_plan};
  return {std::make_unique<Persistent<VectorOperation>>(std::move(*lease), std::move(*made.planned), call, team)};
}

CallKind RootCall::kind() const {
  static const Collective &gather = find_collective("gather"), &scatter = find_collective("scatter");
  return {gathers() ? &gather : &scatter, static_cast<Rank>(reach.root)};
}

std::size_t RootCall::message_bytes(const Team& team) const {
  return bytes_of_side(team.rank() == reach.root ? all : own);
}

std::uint64_t RootCall::sent_bytes(const Team& team) const {
  const bool at_root = team.rank() == reach.root;
  if (at_root == gathers()) return 0;
  return message_bytes(team) * static_cast<std::uint64_t>(at_root ? team.size() - 1 : 1);
}

bool RootCall::only_recorded() const noexcept {
  const VectorSide one = same(own.buffer, own.count, own.type), of_all = equal(all.buffer, all.count, all.type);
  return runtime::only_recorded(comm, reach, gathers() ? one : of_all, gathers() ? of_all : one);
}

VectorCall RootCall::between(const Neighbours& neighbours) const {
  const VectorSide one = same(own.buffer, own.count, own.type), of_all = equal(all.buffer, all.count, all.type);
  return {gathers() ? one : of_all, gathers() ? of_all : one, neighbours, comm};
}

void RootCall::hold(HeldArguments& held, const Team& team) {
  const bool at_root = team.rank() == reach.root;
  own.type = held.type(reach.in_place && at_root ? MPI_DATATYPE_NULL : own.type);
  all.type = held.type(at_root ? all.type : MPI_DATATYPE_NULL);
}

RootOperation::RootOperation(const Exchange& exchange, const RootCall& call)
    : AroundRoot{around_root(call.comm, call.reach)},
      VectorOperation(exchange, call.between(neighbours), exchange.planned().demand.bytes) {}

}  // namespace hocket::runtime
