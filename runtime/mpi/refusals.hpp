#pragma once
/// What the MPI library takes for an error that one rank can see alone, where MPI libraries differ. It is asked.
#include <mpi.h>

#include <cstdint>

#include "runtime/mpi/globally_sized.h"
#include "runtime/mpi/locally_sized.h"

namespace hocket::runtime {

/// The calls of MPI that may be scheduled, in all their forms.
enum class LibraryCall : std::uint8_t {
#define HOCKET_NAMED(Name, ...) Name,
  GLOBALLY_SIZED_CALLS(HOCKET_NAMED) LOCALLY_SIZED_CALLS(HOCKET_NAMED)
#undef HOCKET_NAMED
      all
};

/// Arguments that are in order but for these things.
struct Doubt {
  bool loose_send = false, loose_receive = false;  ///< a datatype that was not committed
  bool alias = false;                              ///< what is sent lies where something is received
  bool several = false;                            ///< of an alias: more than one element, which Open MPI may let pass
  /// Of an alias: both sides have the very same arrays, or the same numbers and type.
  bool same_counts = false, same_places = false, same_types = false;

  [[nodiscard]] constexpr std::uint8_t bits() const {
    return static_cast<std::uint8_t>(loose_send | loose_receive << 1 | alias << 2 | same_counts << 3 |
                                     same_places << 4 | same_types << 5 | several << 6);
  }
};

/// Whether the MPI library refuses such a call. It is asked once, in a call of one or two elements of this rank alone:
/// what it does not refuse there it does not refuse anywhere. Where there is nobody to ask, MPICH refuses all, others
/// nothing.
[[nodiscard]] bool refuses(LibraryCall call, Doubt doubt);

/// Whether it looks for buffers that are nowhere. Asking one that does not would end the program.
#ifdef MPICH_VERSION
inline constexpr bool refuses_nowhere = true;
#else
inline constexpr bool refuses_nowhere = false;
#endif

/// MPI_DATATYPE_NULL as the type of no elements: MPICH allows it where each message has a type, Open MPI does not.
#ifdef MPICH_VERSION
inline constexpr bool null_types_of_nothing = true;
#else
inline constexpr bool null_types_of_nothing = false;
#endif

/// Whether MPI_IN_PLACE means the receive buffer in MPI_Reduce on ranks without a result, too. Only the root can be
/// asked about alone.
#ifdef MPICH_VERSION
inline constexpr bool reduces_in_place_anywhere = true;
#else
inline constexpr bool reduces_in_place_anywhere = false;
#endif

/// Whether it compares what a rank sends to itself with what it expects from there, in calls with everybody. Those that
/// do not find out while they copy, when others may wait for them.
#ifdef OPEN_MPI
inline constexpr bool compares_own_sizes = true;
#else
inline constexpr bool compares_own_sizes = false;
#endif

}  // namespace hocket::runtime
