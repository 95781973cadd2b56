#pragma once
/// Records of the outcome of the program's calls, for the summary at exit (HOCKET_REPORT) and the log (HOCKET_LOG=2).
#include <atomic>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/plan/planned.hpp"
#include "runtime/plan/settings.hpp"

namespace hocket::runtime {

// One rank's account of the program's calls, and its file (docs/formats.md).

/// The reason why the MPI library serves a call.
enum class FallbackReason : std::uint8_t {
  small,              ///< messages below the limit
  few_ranks,          ///< fewer than three, or all of them on one host: nothing could collide
  intercommunicator,  ///< or no communicator
  erroneous,          ///< arguments that the MPI library is to judge
  no_place,           ///< a rank whose host the network does not know, no plan, or settings that differ
  no_plan,            ///< the exchange cannot be planned, or its plan was refused
  new_sizes,          ///< an irregular exchange that is planned when its sizes come again
  not_asked,          ///< irregular exchanges have gained nothing for a while
  sizes_unknown,      ///< only all ranks together know the sizes, and a rank need not wait for others
  not_ready,          ///< nonblocking, and the communicator has no plan yet
  forwards,           ///< a rank must forward while the program is elsewhere, and MPI is not there for several threads
  topology,           ///< a neighbourhood that is left to the MPI library
  left_alone,         ///< the program wants it so: hocket_leave_alone
  operation,          ///< a reduction whose elements are not to be combined in any order, or whose types are not served
  two_level,          ///< blocking calls like it are aggregated host by host, which this form cannot be
  faster,             ///< the MPI library's own call is faster here, or nothing has proven to be faster than it yet
};

/// Scheduled, or why not.
struct Outcome {
  enum class Kind : std::uint8_t { untold, native, scheduled };
  Kind kind = Kind::untold;
  FallbackReason why = {};  ///< set for native calls
  /// Scheduled: the algorithm ("switch-ring", "aggregates by switch-ring"); native: the reason in words.
  std::string detail = {};
  auto operator<=>(const Outcome&) const = default;
};

/// The place in the program at which a call was made.
struct CallSite {
  std::string object;        ///< path of the program or library; empty if unknown
  std::uint64_t offset = 0;  ///< the call's offset in the object, as addr2line expects it
  std::string function;      ///< empty if the object does not name it
  std::uint64_t into = 0;    ///< bytes from the beginning of the function

  /// "solver+0x11d8" or "exchange+0x1f (libsolver.so)".
  [[nodiscard]] std::string text() const;
};

/// `returns_to`: the address behind the call.
[[nodiscard]] CallSite call_site(const void* returns_to);

/// "small", "few_ranks", …; empty for calls that are scheduled.
[[nodiscard]] std::string_view reason(const Outcome& outcome);

/// The key by which calls are grouped into rows.
struct CallKey {
  int call = 0;  ///< number in calls.h
  const void* returns_to = nullptr;
  int ranks = 0;       ///< communicator size
  int size_class = 0;  ///< bits of the bytes per message; 0: empty ones
  Outcome outcome;
  auto operator<=>(const CallKey&) const = default;
};

/// Totals of one exchange. `bytes` counts those sent to other ranks.
struct Exchanged {
  std::uint64_t bytes = 0;
  Figures figures;
};

struct CallRow {
  CallSite site;
  std::uint64_t calls = 0, exchanges = 0, bytes = 0;
  std::uint64_t least = ~std::uint64_t{0}, most = 0;  ///< bytes per message
  double seconds = 0;                                 ///< in the calls
  double under_way = 0;  ///< seconds from start to end of nonblocking and persistent operations
  Figures figures;

  void add(const Exchanged& exchanged, std::uint64_t times = 1);
};

/// The timings kept for calls of one kind and size on one communicator.
struct ChoiceRow {
  std::string collective, candidate;  ///< "all-to-all", "window-2"; who serves them by now
  int ranks = 0, hosts = 0;
  std::uint64_t bytes = 0;  ///< message size in the first of these calls
  std::uint64_t calls = 0, trials = 0;
  double native = 0;     ///< seconds of a call, by the MPI library; 0: not known, as below
  double predicted = 0;  ///< seconds of a call by the candidate, from the model
  double measured = 0;
};

using CallTable = std::map<CallKey, CallRow>;

/// The name of a call in calls.h, such as "MPI_Alltoall".
[[nodiscard]] std::string_view call_name(int call);
/// The index of a call's communicator argument.
[[nodiscard]] int communicator_argument(int call);
/// True if the call creates a persistent request.
[[nodiscard]] bool is_persistent(int call);
[[nodiscard]] bool is_of_neighbours(int call);

/// JSON lines that a rank writes for `hocket run --report` (docs/formats.md).
/// The identity of this process.
struct Reporter {
  std::string host;
  long pid = 0;
  int rank = -1;         ///< rank in the launcher's job; -1: unknown
  bool in_world = true;  ///< MPI_Finalize will end its calls
  bool spawned = false;  ///< started by MPI_Comm_spawn, in an MPI_COMM_WORLD of its own
};

/// `finished`: there will be no more calls.
[[nodiscard]] std::string report_text(const Reporter& reporter, const CallTable& table,
                                      std::span<const ChoiceRow> choices, bool finished);

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
