#include "runtime/calls/gather_scatter.hpp"

#include "runtime/mpi/element_bytes.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/team/team.hpp"

namespace hocket::runtime {
namespace {

std::size_t bytes_of_side(const RootCall::Side& side) { return quick_bytes_of(side.count, side.type); }

}  // namespace

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

VectorCall RootCall::between(const Neighbours& neighbours) const {
  const VectorSide one = same(own.buffer, own.count, own.type), of_all = equal(all.buffer, all.count, all.type);
  return {gathers() ? one : of_all, gathers() ? of_all : one, neighbours, comm};
}

OwnRootTypes::OwnRootTypes(const RootCall& call, const Team& team)
    : own_(call.reach.in_place && team.rank() == call.reach.root ? MPI_DATATYPE_NULL : call.own.type),
      all_(team.rank() == call.reach.root ? call.all.type : MPI_DATATYPE_NULL) {}

RootOperation::RootOperation(const Exchange& exchange, const RootCall& call)
    : AroundRoot{around_root(call.comm, call.reach)},
      VectorOperation(exchange, call.between(neighbours), exchange.planned().demand.bytes) {}

}  // namespace hocket::runtime
