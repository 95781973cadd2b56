#pragma once
/// A communicator of the runtime's own.
#include <mpi.h>

#include <utility>

namespace hocket::runtime {

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

}  // namespace hocket::runtime
