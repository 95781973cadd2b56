#pragma once
/// The size of datatypes, for calls that are to cost nothing.
#include <mpi.h>

#include <cstddef>

#include "runtime/mpi/packing.hpp"

namespace hocket::runtime {

namespace detail {
/// The predefined type that this thread asked about last. A derived one may be freed, and its handle become another's.
struct KnownSize {
  MPI_Datatype type{};  ///< zero bits: no type of any MPI. MPI_DATATYPE_NULL is no constant in Open MPI
  std::size_t bytes = 0;
};
[[gnu::tls_model("initial-exec")]] inline thread_local constinit KnownSize last_size;
std::size_t ask_size(MPI_Datatype type);
}  // namespace detail

/// True if `type` is known to be predefined: it is the one that this thread asked about last.
[[nodiscard]] inline bool quickly_predefined(MPI_Datatype type) { return type == detail::last_size.type; }

/// Bytes that `count` elements hold, as bytes_of(); no MPI call for the type of this thread's last call, if MPI defines
/// it.
[[nodiscard]] inline std::size_t quick_bytes_of(MPI_Count count, MPI_Datatype type) {
  const std::size_t element = type == detail::last_size.type ? detail::last_size.bytes : detail::ask_size(type);
  return static_cast<std::size_t>(count) * element;
}

/// The mean size of a message where ranks divide so many bytes; 0 only of none, or ranks whose counts differ would be
/// served in different ways.
[[nodiscard]] inline std::size_t rounded_up(std::size_t bytes, std::size_t messages) {
  return (bytes + messages - 1) / messages;
}

}  // namespace hocket::runtime
