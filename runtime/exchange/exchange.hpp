#pragma once
/// One rank's part of a scheduled exchange, run with point-to-point messages.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/exchange/tags.hpp"
#include "runtime/exchange/trace.hpp"
#include "runtime/plan/planned.hpp"
#include "runtime/plan/settings.hpp"

namespace hocket::runtime {

struct HostTeam;

/// Runs a rank program as often as it is asked to. Messages travel in segments small enough to be sent eagerly, so that
/// no rendezvous delays them. When a message is in (or Settings::release_threshold bytes before), its receiver lets the
/// sender go on and releases the senders that wait for it. Source of the scheme: Faraj and Yuan, section 5; who
/// releases, and when, was decided by measurement (docs/decisions/0001-receivers-release.md).
///
/// Forwarded data is sent on segment by segment as it arrives. Sends start in the order of the program; those of one
/// phase proceed together.
class Exchange {
 public:
  /// The program names ranks of `comm`, which must be used by nobody else.
  /// `host_team`: the ranks of each host act together, and the program is their leader's; it must outlive this.
  /// `all_lead`: there is no program, each of them carries some of what they have.
  Exchange(MPI_Comm comm, Planned planned, const Settings& settings, const HostTeam* host_team = nullptr,
           bool all_lead = false);

  [[nodiscard]] const Planned& planned() const { return planned_; }
  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] std::size_t rank() const { return static_cast<std::size_t>(rank_); }
  [[nodiscard]] const Tags& tags() const { return tags_; }
  /// Null: every rank carries its own messages.
  [[nodiscard]] const HostTeam* host_team() const { return host_team_; }
  [[nodiscard]] bool all_lead() const { return all_lead_; }

 private:
  friend class ExchangeRun;

  void order_sends(std::size_t ranks);
  void order_receives(std::size_t ranks);
  void order_signals(std::size_t ranks);

  MPI_Comm comm_;
  Planned planned_;
  Settings settings_;
  const HostTeam* host_team_;
  bool all_lead_;
  Trace* trace_;
  Tags tags_;
  int rank_ = 0;
  /// Per send: how many of the first sends must be acknowledged before it may start.
  std::vector<std::size_t> acks_before_;
  /// Per send and receive: the one before it to or from the same rank, or itself.
  std::vector<std::size_t> before_to_same_, before_from_same_;
  /// Per send: receives of earlier phases after which its receiver is told to go on, since the send to it before.
  std::vector<std::vector<std::size_t>> owed_before_;
  std::size_t widest_ = 0;  ///< sends in one phase, at most
  /// Receives of one phase from different ranks are a group: their segments are awaited in turn.
  std::vector<std::size_t> group_begin_;
};

}  // namespace hocket::runtime
