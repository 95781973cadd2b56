#pragma once
/// Datatypes: their sizes, their elements as plain bytes, and types that stay alive.
#include <mpi.h>

#include <cstddef>
#include <optional>

#include "runtime/mpi/mpi_call.hpp"

namespace hocket::runtime {

/// Bytes that `count` elements hold; the same on both sides of every message.
[[nodiscard]] std::size_t bytes_of(MPI_Count count, MPI_Datatype type);

/// True for types predefined by MPI, which cannot be freed.
[[nodiscard]] bool is_predefined(MPI_Datatype type);

/// False of types that the program has made and not committed, as far as MPI tells.
[[nodiscard]] bool committed(MPI_Datatype type);

/// The memory layout of a datatype's elements.
struct Layout {
  std::size_t size = 0;     ///< bytes that one holds
  MPI_Aint extent = 0;      ///< bytes from one element to the next
  MPI_Aint true_lower = 0;  ///< offset of its first byte
  bool run = false;         ///< its bytes lie back to back, in the order in which they are sent

  /// True if `count` elements are one contiguous run from true_lower on.
  [[nodiscard]] bool runs(MPI_Count count) const {
    return run && (count == 1 || extent == static_cast<MPI_Aint>(size));
  }
};

[[nodiscard]] Layout layout_of(MPI_Datatype type);

/// Both MPI families pack a homogeneous job's data as the bare bytes of the type map, in order.
void pack(const void* elements, MPI_Count count, MPI_Datatype type, std::byte* bytes, MPI_Comm comm);
void unpack(const std::byte* bytes, void* elements, MPI_Count count, MPI_Datatype type, MPI_Comm comm);

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

/// A datatype that the program may free while the runtime still needs it. Keeps it alive by making one of it: a
/// duplicate would copy the program's attributes, and call the functions that it has given for that.
class HeldType {
 public:
  explicit HeldType(MPI_Datatype type) : type_(type) {
    if (type != MPI_DATATYPE_NULL && !is_predefined(type)) made_.emplace(run_of(1, type));
  }
  [[nodiscard]] MPI_Datatype get() const { return made_ ? made_->get() : type_; }

 private:
  MPI_Datatype type_;
  std::optional<MadeType> made_;
};

/// A place to ask the MPI library something: a communicator of this rank alone, its own only neighbour, whose errors
/// the program does not hear of. MPI_COMM_NULL in programs that only open sessions: they have nothing to make one of.
[[nodiscard]] MPI_Comm alone();

}  // namespace hocket::runtime
