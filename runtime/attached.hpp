#pragma once
/// What lives as an attribute of a communicator and dies with it.
#include <mpi.h>

#include <memory>

#include "mpi_call.hpp"

namespace hocket::runtime {

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
  static int keyval() {
    static const int made = [] {
      int fresh = MPI_KEYVAL_INVALID;
      check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, destroy, &fresh, nullptr));
      return fresh;
    }();
    return made;
  }
};

}  // namespace hocket::runtime
