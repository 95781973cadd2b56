#pragma once
/// Runs of bytes as elements, so that there may be 2³¹ of them and not bytes.
#include <mpi.h>

#include <cstddef>

#include "runtime/mpi/mpi_call.hpp"

namespace hocket::runtime {

class BytesType {
 public:
  explicit BytesType(std::size_t width) {
    check(PMPI_Type_contiguous(static_cast<int>(width), MPI_BYTE, &type_));
    check(PMPI_Type_commit(&type_));
  }
  BytesType(const BytesType&) = delete;
  BytesType& operator=(const BytesType&) = delete;
  ~BytesType() { PMPI_Type_free(&type_); }
  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace hocket::runtime
