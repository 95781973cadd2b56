#pragma once
/// A datatype that the program may free while the runtime still needs it.
#include <mpi.h>

#include "runtime/mpi/mpi_call.hpp"
#include "runtime/mpi/packing.hpp"

namespace hocket::runtime {

/// Keeps the type alive by making one of it: a duplicate would copy the program's attributes, and call the functions
/// that it has given for that.
class HeldType {
 public:
  explicit HeldType(MPI_Datatype type) : type_(type) {
    if (type == MPI_DATATYPE_NULL || is_predefined(type)) return;
    check(PMPI_Type_contiguous(1, type, &type_));
    own_ = true;
    check(PMPI_Type_commit(&type_));
  }
  HeldType(const HeldType&) = delete;
  HeldType& operator=(const HeldType&) = delete;
  ~HeldType() {
    if (own_) PMPI_Type_free(&type_);
  }
  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_;
  bool own_ = false;
};

}  // namespace hocket::runtime
