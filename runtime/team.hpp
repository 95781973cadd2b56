#pragma once
/// What the ranks of one communicator have agreed on: a plan and a private communicator, or to
/// leave the call to the MPI library. Lives as an attribute of the communicator and dies with it.
#include <mpi.h>

#include <memory>
#include <optional>

#include "exchange.hpp"

namespace hocket::runtime {

class Team {
 public:
  /// The team of `comm`; made on first use, collectively. Every rank gets the same kind of answer.
  [[nodiscard]] static Team& of(MPI_Comm comm);

  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team();

  /// Null if this communicator's exchanges go to the MPI library.
  [[nodiscard]] Exchange* all_to_all() { return exchange_ ? &*exchange_ : nullptr; }

 private:
  explicit Team(MPI_Comm comm);

  MPI_Comm private_ = MPI_COMM_NULL;
  std::optional<Exchange> exchange_;
};

}  // namespace hocket::runtime
