#pragma once
/// What becomes of the program's calls: for the summary at the end (HOCKET_REPORT) and the log (HOCKET_LOG=2).
#include <cstdint>
#include <memory>

#include "exchange.hpp"

namespace hocket::runtime {

/// Why the MPI library serves a call.
enum class Why : std::uint8_t {
  small,              ///< messages below the limit
  few_ranks,          ///< fewer than three, or all of them on one host: nothing could collide
  intercommunicator,  ///< or no communicator
  erroneous,          ///< arguments that the MPI library is to judge
  no_place,           ///< a rank whose host the network does not know, no plan, or settings that differ
  no_plan,            ///< the exchange cannot be planned, or its plan was refused
  new_sizes,          ///< an irregular exchange seen for the first time
  not_worth,          ///< a schedule would not gain
  not_asked,          ///< irregular exchanges have gained nothing for a while
  sizes_unknown,      ///< nonblocking, and only all ranks together know the sizes
  not_ready,          ///< nonblocking, and the communicator has no plan yet
  forwards,           ///< a rank must forward while the program is elsewhere, and MPI is not there for several threads
  topology,           ///< a neighbourhood that is left to the MPI library
};

/// Whether anybody wants to know.
extern const bool reporting;

namespace detail {
void note_native(Why why, std::uint64_t bytes);
void note_scheduled(const Exchange& exchange, std::uint64_t bytes);
}  // namespace detail

/// Each call tells once what became of it, before it returns. `bytes`: what this rank sends to others in it, or each
/// time that its request starts; of an all-gather, what it contributes times the other ranks.
inline void note_native(Why why, std::uint64_t bytes = 0) {
  if (reporting) [[unlikely]]
    detail::note_native(why, bytes);
}
inline void note_scheduled(const Exchange& exchange, std::uint64_t bytes) {
  if (reporting) [[unlikely]]
    detail::note_scheduled(exchange, bytes);
}

/// An exchange that outlives the call that asked for it: its time counts from each start to its end.
class Followed {
 public:
  /// Of the call that this thread is in.
  [[nodiscard]] static Followed this_call();
  void started();
  void over();

  struct Account;

 private:
  std::shared_ptr<Account> account_;  ///< null: nobody wants to know
};

}  // namespace hocket::runtime
