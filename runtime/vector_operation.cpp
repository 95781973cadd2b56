#include "vector_operation.hpp"

#include <utility>
#include <vector>

#include "held_type.hpp"
#include "persistent.hpp"
#include "vector_exchanges.hpp"
#include "vector_traffic.hpp"

namespace hocket::runtime {
namespace {

/// One side of a persistent call, with arrays and a datatype of its own.
class OwnSide {
 public:
  explicit OwnSide(const VectorSide& side)
      : counts_(side.counts, side.counts + side.peers.size()),
        displacements_(side.displacements, side.displacements + side.peers.size()),
        type_(side.type) {}

  [[nodiscard]] VectorSide instead_of(VectorSide side) const {
    side.counts = counts_.data();
    side.displacements = displacements_.data();
    side.type = type_.get();
    return side;
  }

 private:
  std::vector<int> counts_, displacements_;
  HeldType type_;
};

class OwnSides {
 public:
  explicit OwnSides(const VectorCall& call) : send_(call.send), receive_(call.receive) {}

  [[nodiscard]] VectorCall instead_of(VectorCall call) const {
    call.send = send_.instead_of(call.send);
    call.receive = receive_.instead_of(call.receive);
    return call;
  }

 private:
  OwnSide send_, receive_;
};

using PersistentVector = Persistent<VectorOperation, OwnSides>;

}  // namespace

VectorOperation::VectorOperation(const Exchange& exchange, VectorCall call)
    : ScheduledOperation(exchange), call_(std::move(call)) {
  int rank = 0;
  check(PMPI_Comm_rank(call_.comm, &rank));
  rank_ = static_cast<Rank>(rank);
}

Traffic VectorOperation::pack() {
  // What must go out is overwritten by what comes in: send from a copy.
  using Copy = PlacedBlocks::Copy;
  send_.emplace(call_.send.blocks(call_.comm, call_.in_place ? Copy::always : Copy::where_needed));
  receive_.emplace(call_.receive.blocks(call_.comm));
  for (std::size_t i = 0; i < call_.send.peers.size(); ++i) send_->pack(i);
  const PeerMessages sends(call_.send.peers, send_->blocks()), receives(call_.receive.peers, receive_->blocks());
  copy(sends.of(rank_), receives.of(rank_));
  return vector_traffic(planned().program, sends, receives);
}

void VectorOperation::unpack() {
  for (std::size_t i = 0; i < call_.receive.peers.size(); ++i) receive_->unpack(i);
}

std::unique_ptr<Operation> persistent_operation(Team& team, const VectorCall& call, bool erroneous) {
  const std::optional<Volumes> volumes = erroneous ? std::nullopt : call.volumes();
  const int well_formed = volumes ? 1 : 0;
  int all_well_formed = 0;
  check(PMPI_Allreduce(&well_formed, &all_well_formed, 1, MPI_INT, MPI_MIN, call.comm));
  if (all_well_formed == 0) return nullptr;
  std::optional<Planned> planned = team.vectors().plan(call.comm, *volumes);
  if (!planned) return nullptr;
  std::optional<PrivateComms::Lease> lease = team.lease(call.comm);
  if (!lease) return nullptr;
  return std::make_unique<PersistentVector>(std::move(*lease), std::move(*planned), call);
}

}  // namespace hocket::runtime
