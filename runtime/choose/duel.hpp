#pragma once
/// The MPI library's own call against one schedule, for an exchange that comes again and again.
#include <mpi.h>

#include <optional>

#include "hocket/choose/guard.hpp"
#include "runtime/choose/agreed_costs.hpp"

namespace hocket::runtime {

/// The library serves the first call. If wires as described would let the schedule end a tenth earlier that serves from
/// the next call on: many programs call too seldom to find out. Else it is a challenger like any other. All ranks of a
/// communicator decide alike.
class Duel {
 public:
  /// `bound`: seconds that no schedule is faster than; 0: not known.
  Duel(double bound, AgreedCosts::Cost cost) : bound_(bound), costs_(cost) {}

  /// Who serves the next call. Collective.
  [[nodiscard]] bool scheduled(MPI_Comm comm);
  /// Whether the library's call has proven no slower.
  [[nodiscard]] bool native_stays() const { return guard_ && guard_->settled() && guard_->incumbent() == 0; }
  /// It has ended on this rank.
  void over();

 private:
  double bound_;
  std::optional<Guard> guard_;  ///< from the second call on
  AgreedCosts costs_;
  bool timed_ = false;
};

}  // namespace hocket::runtime
