#pragma once
/// Objects stored as attributes of a communicator, and how often MPI has begun.
#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "runtime/mpi/mpi_call.hpp"

namespace hocket::runtime {

/// MPI may end and begin again: handles of the runtime's own (attribute keys) live as long as one such time.
/// Grows when the last session is finalized outside of MPI_Init and MPI_Finalize.
[[nodiscard]] std::uint32_t mpi_times();
void session_begins();
/// After MPI_Session_finalize.
void session_is_over();

/// At most one T per communicator.
template <class T>
class Attached {
 public:
  /// Null if there is none.
  [[nodiscard]] static T* find(MPI_Comm comm) {
    T* attached = nullptr;
    int found = 0;
    check(PMPI_Comm_get_attr(comm, keyval(), static_cast<void*>(&attached), &found));
    return found ? attached : nullptr;
  }

  static T& attach(MPI_Comm comm, std::unique_ptr<T> fresh) {
    check(PMPI_Comm_set_attr(comm, keyval(), fresh.get()));
    return *fresh.release();
  }

 private:
  static int destroy(MPI_Comm, int, void* attached, void*) {
    delete static_cast<T*>(attached);
    return MPI_SUCCESS;
  }
  /// Made anew when MPI has begun again.
  static int keyval() {
    struct Made {
      std::int32_t keyval;
      std::uint32_t in;
    };
    static std::atomic<Made> made{{MPI_KEYVAL_INVALID, 0}};
    static std::mutex mutex;
    Made known = made;
    if (known.keyval != MPI_KEYVAL_INVALID && known.in == mpi_times()) return known.keyval;
    const std::lock_guard lock(mutex);
    known = made;
    if (known.keyval == MPI_KEYVAL_INVALID || known.in != mpi_times()) {
      int fresh = MPI_KEYVAL_INVALID;
      check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, destroy, &fresh, nullptr));
      known = {fresh, mpi_times()};
      made = known;
    }
    return known.keyval;
  }
};

}  // namespace hocket::runtime
