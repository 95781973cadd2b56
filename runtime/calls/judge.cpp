#include <array>
#include <vector>

#include "core/of_thread.hpp"
#include "runtime/calls/serve.hpp"
#include "runtime/mpi/datatypes.hpp"
#include "runtime/team/team.hpp"

namespace hocket::runtime {
namespace {

enum class Side : bool { sends, receives };

/// Returns `count` arbitrary peers, where only their number matters.
std::span<const int> some_peers(std::size_t count) {
  struct Zeros : std::vector<int> {};
  Zeros& zeros = of_thread<Zeros>();
  if (zeros.size() < count) zeros.resize(count);
  return {zeros.data(), count};
}

/// One description stands for all messages of such a side.
VectorSide of_one(VectorSide side) {
  static constexpr std::array<int, 1> any{0};
  side.peers = any;
  return side;
}

bool begins_nowhere(const Block& block) { return moved(block.at, layout_of(block.type).true_lower) == nullptr; }

bool is_nowhere(const VectorSide& side) {
  if (!refuses_nowhere || side.buffer != MPI_BOTTOM) return false;
  const MPI_Aint unit = side.unit();
  for (std::size_t i = 0; i < side.peers.size(); ++i)
    if (const Block block = side.block(i, unit);
        block.count > 0 && bytes_of(1, block.type) > 0 && begins_nowhere(block))
      return true;
  return false;
}

/// A side on which this rank has messages. MPI_IN_PLACE, where it means something, is none.
bool is_wrong(LibraryCall name, const VectorSide& side, Side which) {
  if (side.peers.empty()) return false;
  if (!side.counts.given() || !side.displacements.given() || !side.types.given() || side.buffer == MPI_IN_PLACE)
    return true;
  MPI_Datatype known = MPI_DATATYPE_NULL;
  for (std::size_t i = 0; i < side.peers.size(); ++i) {
    if (side.counts[i] < 0) return true;
    const MPI_Datatype type = side.types[i];
    if (type == known && type != MPI_DATATYPE_NULL) continue;
    if (type == MPI_DATATYPE_NULL) {
      if (null_types_of_nothing && side.types.differ() && side.counts[i] == 0) continue;
      return true;
    }
    const bool sends = which == Side::sends;
    if (!quickly_predefined(type) && !committed(type) && refuses(name, {.loose_send = sends, .loose_receive = !sends}))
      return true;
    known = type;
  }
  return is_nowhere(side);
}

/// True if send and receive buffer are the same, where the MPI library refuses that.
bool is_forbidden_alias(LibraryCall name, const void* from, const void* to, Doubt likeness) {
  if (from != to || from == MPI_BOTTOM) return false;
  likeness.alias = true;
  return refuses(name, likeness);
}

/// Similarity of the two sides of a call without arrays.
Doubt likeness(MPI_Count sent, MPI_Datatype send, MPI_Count received, MPI_Datatype receive) {
  const bool counts = sent == received;
  return {.several = sent > 1, .same_counts = counts, .same_places = counts, .same_types = send == receive};
}

Doubt likeness(const VectorSide& send, const VectorSide& receive) {
  return {.same_counts = send.counts == receive.counts,
          .same_places = send.displacements == receive.displacements,
          .same_types = send.types == receive.types};
}

/// True if the buffer is null although there are elements, where the MPI library refuses that.
bool is_missing(const void* buffer, bool any) { return refuses_nowhere && any && buffer == nullptr; }

/// On a rank that gets a result. `sent`, `received`: its elements there.
bool is_wrong_with_result(LibraryCall name, const ReductionCall& call, MPI_Count sent, MPI_Count received) {
  if (call.recvbuf == MPI_IN_PLACE || is_missing(call.recvbuf, received > 0)) return true;
  if (call.sendbuf == MPI_IN_PLACE) return false;
  return is_missing(call.sendbuf, sent > 0) ||
         (sent > 0 &&
          is_forbidden_alias(name, call.sendbuf, call.recvbuf,
                             {.several = sent > 1, .same_counts = true, .same_places = true, .same_types = true}));
}

bool is_operation(const ReductionCall& call) { return call.type != MPI_DATATYPE_NULL && call.op != MPI_OP_NULL; }

VectorSide side_of(const RootCall::Side& side) { return of_one(equal(side.buffer, side.count, side.type)); }

bool own_sizes_differ(const VectorCall& call, const Neighbours& neighbours) {
  if (!compares_own_sizes || !neighbours.everybody || call.in_place) return false;
  const auto at = static_cast<std::size_t>(rank_in(call.comm));
  return bytes_of(call.send.counts[at], call.send.types[at]) !=
         bytes_of(call.receive.counts[at], call.receive.types[at]);
}

/// True if send and receive buffer are the same (at a root: its messages to itself), where the MPI library refuses
/// that.
bool is_forbidden_alias(LibraryCall name, const VectorCall& call, Reach reach) {
  const VectorSide &send = call.send, &receive = call.receive;
  if (call.in_place || send.peers.empty() || receive.peers.empty()) return false;
  if (!reach.rooted()) return is_forbidden_alias(name, send.buffer, receive.buffer, likeness(send, receive));
  const auto at = static_cast<std::size_t>(reach.root);
  if (send.peers.size() <= at || receive.peers.size() <= at) return false;
  const Block from = send.block(at, send.unit()), to = receive.block(at, receive.unit());
  Doubt of_both = likeness(send, receive);
  of_both.same_counts = of_both.same_places = from.count == to.count;
  of_both.several = from.count > 1;
  return from.count > 0 && to.count > 0 && is_forbidden_alias(name, from.at, to.at, of_both);
}

}  // namespace

bool erroneous(LibraryCall name, const AllToAllCall& call, const Team&) {
  if (is_wrong(name, of_one(equal(call.recvbuf, call.recvcount, call.recvtype)), Side::receives)) return true;
  if (call.sendbuf == MPI_IN_PLACE) return false;
  if (is_wrong(name, of_one(equal(call.sendbuf, call.sendcount, call.sendtype)), Side::sends)) return true;
  if (compares_own_sizes &&
      quick_bytes_of(call.sendcount, call.sendtype) != quick_bytes_of(call.recvcount, call.recvtype))
    return true;
  return call.sendcount > 0 &&
         is_forbidden_alias(name, call.sendbuf, call.recvbuf,
                            likeness(call.sendcount, call.sendtype, call.recvcount, call.recvtype));
}

bool erroneous(LibraryCall name, const GatherCall& call, const Team& team) {
  const auto ranks = static_cast<std::size_t>(team.size()), own = static_cast<std::size_t>(team.rank());
  VectorSide receive = of_one({call.recvbuf, call.recvcounts, call.places, Types(call.recvtype)});
  if (name == LibraryCall::Allgatherv) receive.peers = some_peers(ranks);
  if (is_wrong(name, receive, Side::receives)) return true;
  if (call.sendbuf == MPI_IN_PLACE) return false;
  if (is_wrong(name, of_one(same(call.sendbuf, call.sendcount, call.sendtype)), Side::sends)) return true;
  if (call.sendcount == 0) return false;
  receive.peers = some_peers(ranks);  // covers this rank's own block
  return is_forbidden_alias(name, call.sendbuf, receive.block(own, receive.unit()).at,
                            likeness(call.sendcount, call.sendtype, call.recvcounts[own], call.recvtype));
}

bool erroneous(LibraryCall name, const BroadcastCall& call, const Team& team) {
  return call.root < 0 || call.root >= team.size() ||
         is_wrong(name, of_one(same(call.buffer, call.count, call.type)), Side::sends);
}

bool erroneous(LibraryCall name, const AllReduceCall& call, const Team&) {
  return call.count < 0 || !is_operation(call) || is_wrong_with_result(name, call, call.count, call.count);
}

bool erroneous(LibraryCall name, const ReduceScatterCall& call, const Team& team) {
  if (!call.counts.given() || !is_operation(call)) return true;
  const auto ranks = static_cast<std::size_t>(name == LibraryCall::Reduce_scatter ? team.size() : 1);
  MPI_Count all = 0;
  for (std::size_t i = 0; i < ranks; ++i) {
    if (call.counts[i] < 0) return true;
    all += call.counts[i];
  }
  return is_wrong_with_result(name, call, all, call.counts[static_cast<std::size_t>(team.rank())]);
}

bool erroneous(LibraryCall name, const ReduceCall& call, const Team& team) {
  if (call.count < 0 || call.root < 0 || call.root >= team.size() || !is_operation(call)) return true;
  if (team.rank() == call.root) return is_wrong_with_result(name, call, call.count, call.count);
  const bool any = call.count > 0;
  if (call.sendbuf != MPI_IN_PLACE) return is_missing(call.sendbuf, any);
  return !reduces_in_place_anywhere || call.recvbuf == MPI_IN_PLACE || is_missing(call.recvbuf, any);
}

/// Only those arguments mean something that do so on this rank.
bool erroneous(LibraryCall name, const RootCall& call, const Team& team) {
  const Reach reach = call.reach;
  if (reach.root < 0 || reach.root >= team.size()) return true;
  const bool gathers = reach.kind == Reach::into_root, at_root = team.rank() == reach.root;
  const Side of_own = gathers ? Side::sends : Side::receives, of_all = gathers ? Side::receives : Side::sends;
  if (at_root && is_wrong(name, side_of(call.all), of_all)) return true;
  if (at_root && reach.in_place) return false;
  if (is_wrong(name, side_of(call.own), of_own)) return true;
  if (!at_root || call.own.count == 0) return false;
  VectorSide all = equal(call.all.buffer, call.all.count, call.all.type);
  all.peers = some_peers(static_cast<std::size_t>(team.size()));
  return is_forbidden_alias(name, call.own.buffer, all.block(static_cast<std::size_t>(reach.root), all.unit()).at,
                            likeness(call.own.count, call.own.type, call.all.count, call.all.type));
}

bool erroneous(LibraryCall name, const VectorCall& call, const Neighbours& neighbours, Reach reach) {
  return neighbours.erroneous || is_wrong(name, call.send, Side::sends) ||
         is_wrong(name, call.receive, Side::receives) || own_sizes_differ(call, neighbours) ||
         is_forbidden_alias(name, call, reach);
}

}  // namespace hocket::runtime
