#pragma once
/// MPI_Allgather(v) with one contribution for each host: those of its ranks.
#include <cstddef>
#include <optional>
#include <vector>

#include "runtime/buffers/blocks.hpp"
#include "runtime/calls/gather.hpp"
#include "runtime/two_level/two_level_operation.hpp"

namespace hocket::runtime {

class TwoLevelGather : public TwoLevelOperation {
 public:
  TwoLevelGather(const Exchange& exchange, const GatherCall& call) : TwoLevelOperation(exchange), call_(call) {}

 private:
  void put() final;
  [[nodiscard]] Traffic traffic() final;
  void carry(MPI_Comm leaders, MPI_Request* request) final;
  void take() final;
  [[nodiscard]] std::byte* mark_of(std::size_t host) const;

  GatherCall call_;
  std::vector<std::byte*> at_;        ///< start of each rank's contribution in shared memory
  std::vector<Span> of_host_;         ///< contribution of each host, indexed by the rank of its leader
  std::vector<int> counts_, places_;  ///< sizes and offsets of the hosts' contributions, for MPI_Allgatherv
  std::optional<GatherBlocks> receive_;
};

}  // namespace hocket::runtime
