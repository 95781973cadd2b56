#pragma once
/// A datatype that the program may free while the runtime still needs it.
#include <mpi.h>

#include "mpi_call.hpp"

namespace hocket::runtime {

class HeldType {
 public:
  explicit HeldType(MPI_Datatype type) {
    if (type != MPI_DATATYPE_NULL) check(PMPI_Type_dup(type, &type_));
  }
  HeldType(const HeldType&) = delete;
  HeldType& operator=(const HeldType&) = delete;
  ~HeldType() {
    if (type_ != MPI_DATATYPE_NULL) PMPI_Type_free(&type_);
  }
  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace hocket::runtime
