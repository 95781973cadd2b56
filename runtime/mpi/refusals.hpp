#pragma once
/// Local errors on which MPI libraries differ, found out by asking the library.
#include <mpi.h>

#include <cstdint>

#include "runtime/mpi/sized_calls.h"

namespace hocket::runtime {

/// The calls of MPI that may be scheduled, in all their forms.
enum class LibraryCall : std::uint8_t {
#define HOCKET_NAMED(Name, ...) Name,
  SIZED_CALLS(HOCKET_NAMED)
#undef HOCKET_NAMED
      all
};

/// Arguments that are in order but for these things.
struct Doubt {
  bool loose_send = false, loose_receive = false;  ///< a datatype that was not committed
  bool alias = false;                              ///< send and receive buffer overlap
  bool several = false;                            ///< with alias: more than one element, which Open MPI may accept
  /// With alias: both sides have the very same arrays, or the same numbers and type.
  bool same_counts = false, same_places = false, same_types = false;

  [[nodiscard]] constexpr std::uint8_t bits() const {
    return static_cast<std::uint8_t>(loose_send | loose_receive << 1 | alias << 2 | same_counts << 3 |
                                     same_places << 4 | same_types << 5 | several << 6);
  }
};

/// True if the MPI library refuses such a call. It is asked once, by a call with one or two elements on this rank
/// alone; what it accepts there it accepts everywhere. Where it cannot be asked, MPICH is taken to refuse all, others
/// nothing.
[[nodiscard]] bool refuses(LibraryCall call, Doubt doubt);

#ifdef MPICH_VERSION
inline constexpr bool is_mpich = true;
#else
inline constexpr bool is_mpich = false;
#endif

/// True if the library refuses null buffers. It cannot be asked: a library that does not check would crash.
inline constexpr bool refuses_nowhere = is_mpich;

/// MPI_DATATYPE_NULL as the type of no elements: MPICH allows it where each message has a type, Open MPI does not.
inline constexpr bool null_types_of_nothing = is_mpich;

/// True if MPI_Reduce accepts MPI_IN_PLACE for the receive buffer also on ranks other than the root. It cannot be
/// asked: a call on one rank alone has only a root.
inline constexpr bool reduces_in_place_anywhere = is_mpich;

/// True if calls among all ranks check in advance that the sizes of a rank's message to itself agree. Other libraries
/// notice only while they copy, when other ranks may be waiting.
#ifdef OPEN_MPI
inline constexpr bool compares_own_sizes = true;
#else
inline constexpr bool compares_own_sizes = false;
#endif

}  // namespace hocket::runtime
