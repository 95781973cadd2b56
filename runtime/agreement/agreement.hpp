#pragma once
/// Warnings and errors that all ranks of a communicator must share to take the same decisions, and communicators of the
/// runtime's own.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "runtime/progress/waiting.hpp"

namespace hocket::runtime {

/// Broadcasts a warning from rank `source` and returns it on all ranks. Rank 0 prints it, unless some rank has printed
/// or received it before: communicators of a job share ranks, so each warning is printed once. Collective.
std::string warn(MPI_Comm comm, int source, const std::string& text);
/// Reports the configuration warnings of all ranks. `digests`: Settings::config_warnings_digest of every rank.
/// Collective.
void tell_config_warnings(MPI_Comm comm, std::span<const std::uint64_t> digests);

/// Does what a rank does on its own before all go on together; puts down in `problem` what goes wrong. Does nothing
/// where there is a problem already: ranks in trouble go on to the next collective call like all others.
template <class Step>
void try_local(std::string& problem, Step step) {
  if (!problem.empty()) return;
  try {
    step();
  } catch (const InputError& error) {
    problem = error.what();
  } catch (const std::bad_alloc&) {
    problem = "no memory to plan";
  }
}

/// False if any rank has a problem (empty: none); the first one's, and what follows from it, is then said, and all
/// ranks have it in `problem`. Collective.
[[nodiscard]] bool all_ok(MPI_Comm comm, std::string& problem, const std::string& consequence);

/// A communicator that nobody else uses. Errors on it come back as codes.
class PrivateComm {
 public:
  /// Creates a communicator of all ranks of `parent`. Collective.
  explicit PrivateComm(MPI_Comm parent);
  /// Splits `parent` as MPI_Comm_split does, keeping the order of ranks; MPI_UNDEFINED gives MPI_COMM_NULL. Collective.
  PrivateComm(MPI_Comm parent, int colour);
  PrivateComm(PrivateComm&& other) noexcept
      : comm_(std::exchange(other.comm_, MPI_COMM_NULL)), rank_(other.rank_), size_(other.size_) {}
  PrivateComm& operator=(PrivateComm&&) = delete;
  /// Collective by the standard, but local in both MPI families: a program may free its last request after the
  /// communicator, and that is local.
  ~PrivateComm();
  [[nodiscard]] MPI_Comm get() const { return comm_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

 private:
  void begin();

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 0;
};

/// A pool of communicators of the runtime's own.
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
