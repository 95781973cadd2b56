#pragma once
/// What the ranks of one communicator have agreed on: plans and a private communicator, or to
/// leave calls to the MPI library. Lives as an attribute of the communicator and dies with it.
#include <mpi.h>

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "exchange.hpp"
#include "private_comms.hpp"

namespace hocket::runtime {

/// Ranks of the communicator numbered in the network's host order.
struct Numbering {
  std::vector<std::uint32_t> ranks_per_node;
  std::vector<int> comm_rank;  ///< of a network rank
};

class Team {
 public:
  /// The team of `comm`; made on first use, collectively. Every rank gets the same kind of answer.
  [[nodiscard]] static Team& of(MPI_Comm comm);

  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// Made on first use, collectively. Null if these calls of the communicator go to the MPI library.
  [[nodiscard]] Exchange* exchange(MPI_Comm comm, Pattern pattern);
  /// A communicator of the same ranks for an operation that others may be under way beside. Collective.
  [[nodiscard]] PrivateComms::Lease lease(MPI_Comm comm) const { return comms_->lease(comm); }
  /// Smaller contributions to an all-gather, on average, are left to the MPI library. Its rings follow
  /// the order of ranks: where that order suits the network they are harder to beat.
  [[nodiscard]] std::size_t least_gather_bytes() const;

 private:
  explicit Team(MPI_Comm comm);
  [[nodiscard]] std::unique_ptr<Exchange> make_exchange(MPI_Comm comm, Pattern pattern);

  int rank_ = 0, size_ = 0;
  int hosts_ = 0;                    ///< 0: the ranks cannot follow a plan together
  bool neighbours_collide_ = false;  ///< a ring in the order of ranks sends twice over some channel
  Numbering numbering_;
  std::shared_ptr<PrivateComms> comms_ = std::make_shared<PrivateComms>();
  /// Of the blocking calls of all patterns: they follow each other, and every message of one call is received in it.
  std::optional<PrivateComms::Lease> private_;
  std::array<std::optional<std::unique_ptr<Exchange>>, pattern_kinds> exchanges_;
};

}  // namespace hocket::runtime
