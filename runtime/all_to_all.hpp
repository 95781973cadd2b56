#pragma once
/// MPI_Alltoall and MPI_Alltoall_init as an operation.
#include <mpi.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "blocks.hpp"
#include "scheduled_operation.hpp"

namespace hocket::runtime {

struct AllToAllCall {
  const void* sendbuf;
  int sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  int recvcount;
  MPI_Datatype recvtype;
  MPI_Comm comm;

  /// Arguments that the standard calls erroneous are left to the MPI library, which knows what to say.
  [[nodiscard]] bool well_formed() const;
  /// The signature (count × type) of every message is the same on all ranks, so this is too.
  [[nodiscard]] std::size_t message_bytes() const;
};

/// What a call of this kind on its communicator is scheduled by; made collectively. Null if the MPI
/// library is to serve it.
[[nodiscard]] Exchange* exchange_for(const AllToAllCall& call);

class AllToAll : public ScheduledOperation {
 public:
  AllToAll(const Exchange& exchange, const AllToAllCall& call);

 private:
  [[nodiscard]] Traffic pack() final;
  void unpack() final { receive_->finish(); }

  AllToAllCall call_;
  int size_ = 0, rank_ = 0;
  std::optional<SendBlocks> send_;
  std::vector<std::byte> copy_;  ///< MPI_IN_PLACE: what is sent
  std::optional<ReceiveBlocks> receive_;
};

}  // namespace hocket::runtime
