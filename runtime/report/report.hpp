#pragma once
/// Records of the outcome of the program's calls, for the summary at exit (HOCKET_REPORT) and the log (HOCKET_LOG=2).
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/plan/settings.hpp"
#include "runtime/report/report_table.hpp"

namespace hocket::runtime {

class Exchange;

/// Calls of this process that were scheduled, for hocket_scheduled_calls().
inline std::atomic<std::uint64_t> scheduled_calls = 0;

namespace detail {
void note_native(FallbackReason why, std::uint64_t bytes, std::uint64_t of_root, const std::string& detail);
void note_scheduled(const Exchange& exchange, std::uint64_t bytes, std::uint64_t message, bool has_root);
}  // namespace detail

/// Each call tells once what became of it, before it returns. `bytes`: what this rank sends to others in it, or each
/// time that its request starts; of an all-gather, what it contributes times the other ranks. `message`: bytes of one,
/// on average, which the plan was made for others of; of irregular calls it was made for exactly theirs. Calls with a
/// root tell the same message on all ranks (`of_root`), whoever sends it. `detail`: why, in words, where somebody has
/// found them.
inline void note_native(FallbackReason why, std::uint64_t bytes = 0, std::uint64_t of_root = 0,
                        const std::string& detail = {}) {
  if (reporting) [[unlikely]]
    detail::note_native(why, bytes, of_root, detail);
}
inline void note_scheduled(const Exchange& exchange, std::uint64_t bytes, std::uint64_t message = 0,
                           bool has_root = false) {
  scheduled_calls.fetch_add(1, std::memory_order_relaxed);
  if (reporting) [[unlikely]]
    detail::note_scheduled(exchange, bytes, message, has_root);
}

/// Adds a row to the report. One rank of a communicator calls this when the communicator is freed or MPI ends.
void note_choice(ChoiceRow row);

/// An exchange that outlives the call that asked for it: its time counts from each start to its end.
class Followed {
 public:
  /// The account of the MPI call that this thread is in.
  [[nodiscard]] static Followed this_call();
  void started();
  void over();

  struct Account;

 private:
  std::shared_ptr<Account> account_;  ///< null: nobody wants to know
};

}  // namespace hocket::runtime
