#pragma once
/// A pool of communicators of the runtime's own.
#include <mpi.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/agreement/private_comm.hpp"

namespace hocket::runtime {

/// For operations that can be under way at once. All have the ranks of one communicator of the program. MPI has few
/// (MPICH about 2,000), so they are handed out again.
class PrivateComms : public std::enable_shared_from_this<PrivateComms> {
 public:
  /// Limit per process, a thirtieth of what MPICH has: nearly all are the program's. The MPI library serves
  /// communicators beyond it.
  static constexpr int most_live = 64;

  /// One communicator until this dies. The pool lives as long as any of its leases.
  class Lease {
   public:
    Lease(Lease&&) = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    [[nodiscard]] MPI_Comm comm() const { return comm_; }

   private:
    friend class PrivateComms;
    Lease(std::shared_ptr<PrivateComms> pool, std::size_t place, MPI_Comm comm)
        : pool_(std::move(pool)), place_(place), comm_(comm) {}

    std::shared_ptr<PrivateComms> pool_;
    std::size_t place_;
    MPI_Comm comm_;
  };

  PrivateComms() = default;
  PrivateComms(const PrivateComms&) = delete;
  PrivateComms& operator=(const PrivateComms&) = delete;
  ~PrivateComms();

  /// Collective over `parent`, always the same: ranks give leases back in any order, so they agree
  /// on a communicator that all of them have free. Nothing, on all ranks alike, if some rank has so many
  /// communicators of the runtime's that the program might run out of its own.
  [[nodiscard]] std::optional<Lease> lease(MPI_Comm parent);

 private:
  struct Own {
    PrivateComm comm;
    bool leased;
  };

  std::mutex mutex_;
  std::vector<Own> comms_;  ///< equally many on every rank
};

}  // namespace hocket::runtime
