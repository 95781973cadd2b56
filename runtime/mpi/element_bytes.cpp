#include "runtime/mpi/element_bytes.hpp"

namespace hocket::runtime::detail {

std::size_t ask_size(MPI_Datatype type) {
  const std::size_t bytes = bytes_of(1, type);
  if (is_predefined(type)) last_size = {type, bytes};
  return bytes;
}

}  // namespace hocket::runtime::detail
