#pragma once
/// One rank's account of the program's calls.
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "runtime/plan/planned.hpp"
#include "runtime/report/call_site.hpp"
#include "runtime/report/outcome.hpp"

namespace hocket::runtime {

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

}  // namespace hocket::runtime
