#pragma once
/// One rank's part of a scheduled exchange, run with point-to-point messages.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hocket/plan/program.hpp"
#include "settings.hpp"

namespace hocket::runtime {

/// Runs a rank program as often as it is asked to. Messages travel in segments small enough to be
/// sent eagerly, so that no rendezvous delays them. When a message is in (or Settings::early bytes
/// before), its receiver lets the sender go on and releases the senders that wait for it. Source of
/// the scheme: Faraj and Yuan, section 5; who releases, and when, was decided by measurement
/// (docs/decisions/0001-receivers-release.md).
class Exchange {
 public:
  /// `program` names ranks of `comm`, which must be used by nobody else; it has one send to each.
  /// `window`: sends in flight of one rank, as the plan's waits allow on a channel.
  Exchange(MPI_Comm comm, RankProgram program, std::uint64_t phases, std::uint32_t window, const Settings& settings);

  /// Block i of `send` goes to rank i, block i of `receive` comes from rank i; `bytes` each.
  void run(const std::byte* send, std::byte* receive, std::size_t bytes);

 private:
  class Pass;

  void run_with_barriers(const std::byte* send, std::byte* receive, std::size_t bytes);

  MPI_Comm comm_;
  RankProgram program_;
  std::uint64_t phases_;
  std::uint32_t window_;
  Settings settings_;
  int rank_ = 0;
};

}  // namespace hocket::runtime
