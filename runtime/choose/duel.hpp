#pragma once
/// The MPI library's own call against one schedule, for an exchange that comes again and again.
#include <mpi.h>

#include "hocket/choose/guard.hpp"
#include "runtime/choose/agreed_costs.hpp"

namespace hocket::runtime {

/// The schedule serves first: its limits promise a gain, and many programs call too seldom to find out. The library's
/// call is tried soon, and stays if it has proven faster. All ranks of a communicator decide alike.
class Duel {
 public:
  Duel();

  /// Who serves the next call. Collective.
  [[nodiscard]] bool scheduled(MPI_Comm comm);
  /// It has ended on this rank.
  void over();

 private:
  Guard guard_;
  AgreedCosts costs_{AgreedCosts::Cost::mean};
  Turn turn_{};
};

}  // namespace hocket::runtime
