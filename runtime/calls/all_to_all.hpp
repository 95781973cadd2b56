#pragma once
/// MPI_Alltoall, blocking, nonblocking and persistent, as an operation.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/buffers/blocks.hpp"
#include "runtime/mpi/datatypes.hpp"
#include "runtime/plan/planned.hpp"
#include "runtime/progress/operation.hpp"

namespace hocket::runtime {

class AllToAll;
class TwoLevelAllToAll;
class OwnTypes;
class Team;

struct AllToAllCall {
  using Operation = AllToAll;
  using TwoLevel = TwoLevelAllToAll;
  using Own = OwnTypes;

  const void* sendbuf;
  MPI_Count sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  MPI_Count recvcount;
  MPI_Datatype recvtype;
  MPI_Comm comm;

  [[nodiscard]] static CallKind kind() {
    static const Collective& collective = find_collective("all-to-all");
    return {&collective};
  }
  /// Bytes of every message. Its signature (count × type) is the same on all ranks, so this is too.
  [[nodiscard]] std::size_t message_bytes(const Team& team) const;
  /// Bytes that this rank sends to others.
  [[nodiscard]] std::uint64_t sent_bytes(const Team& team) const;
};

/// Copies of the datatypes, which the program may free while the call is under way.
class OwnTypes {
 public:
  OwnTypes(const AllToAllCall& call, const Team&)
      : send_(call.sendbuf == MPI_IN_PLACE ? MPI_DATATYPE_NULL : call.sendtype), receive_(call.recvtype) {}

  [[nodiscard]] AllToAllCall instead_of(AllToAllCall call) const {
    call.sendtype = send_.get();
    call.recvtype = receive_.get();
    return call;
  }

 private:
  HeldType send_, receive_;
};

class AllToAll : public ScheduledOperation {
 public:
  AllToAll(const Exchange& exchange, const AllToAllCall& call);

 private:
  [[nodiscard]] Traffic pack() final;
  void unpack() final { receive_->finish(); }

  AllToAllCall call_;
  std::size_t received_, sent_;  ///< bytes of a message
  std::optional<SendBlocks> send_;
  std::vector<std::byte> copy_;     ///< MPI_IN_PLACE: what is sent
  std::vector<std::byte> relayed_;  ///< what this rank passes on
  std::optional<ReceiveBlocks> receive_;
};

}  // namespace hocket::runtime
