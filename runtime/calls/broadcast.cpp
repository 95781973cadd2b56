#include "runtime/calls/broadcast.hpp"

#include "runtime/mpi/element_bytes.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/team/team.hpp"

namespace hocket::runtime {

std::size_t BroadcastCall::message_bytes(const Team&) const { return quick_bytes_of(count, type); }

std::uint64_t BroadcastCall::sent_bytes(const Team& team) const {
  return team.rank() == root ? quick_bytes_of(count, type) * static_cast<std::uint64_t>(team.size() - 1) : 0;
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

}  // namespace hocket::runtime
