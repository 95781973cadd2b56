#pragma once
/// The MPI library's own call against one schedule, for an exchange that comes again and again.
#include <mpi.h>

#include <optional>
#include <utility>

#include "hocket/choose/guard.hpp"
#include "runtime/choose/agreed_costs.hpp"

namespace hocket::runtime {

/// Where nothing is known the library serves the first call. If wires as described would let the schedule end a tenth
/// earlier that serves from the next call on: many programs call too seldom to find out. Else it is a challenger like
/// any other. All ranks of a communicator decide alike.
class Duel {
 public:
  /// `bound`: seconds that no schedule is faster than; 0: not known.
  /// `known`: of earlier runs; without a winner: nothing. What won then serves the first call.
  Duel(double bound, AgreedCosts::Cost cost, Evidence known) : bound_(bound), known_(std::move(known)), costs_(cost) {}

  /// Who serves the next call. Collective.
  [[nodiscard]] bool scheduled(MPI_Comm comm);
  /// When the call that was decided on gives up its order, if it has one.
  [[nodiscard]] Deadline deadline() const { return deadline_; }
  /// Whether the library's call has proven no slower.
  [[nodiscard]] bool native_stays() const { return guard_ && guard_->settled() && guard_->incumbent() == 0; }
  /// It has ended on this rank.
  void over();
  /// What this run has measured: who won, arms and whether that is settled. Nothing: nothing.
  [[nodiscard]] std::optional<Evidence> learned() const;

 private:
  void begin(MPI_Comm comm);

  double bound_;
  Evidence known_;
  std::optional<Guard> guard_;  ///< from the second call on
  AgreedCosts costs_;
  bool timed_ = false;
  Deadline deadline_ = never;
};

}  // namespace hocket::runtime
