#include "runtime/report/report_table.hpp"

#include <array>

#include "runtime/shim/calls.h"

namespace hocket::runtime {
namespace {

struct Call {
  std::string_view name;
  int arguments;
};

constexpr Call calls[] = {
#define CALL(mpi_name, runtime_name, arguments) {"MPI_" #mpi_name, arguments},
    CALLS(CALL)
#undef CALL
};

/// In the order of FallbackReason.
constexpr std::array<std::string_view, 16> reasons = {
    "small",         "few_ranks", "intercommunicator", "erroneous", "no_place",   "no_plan",   "new_sizes", "not_asked",
    "sizes_unknown", "not_ready", "forwards",          "topology",  "left_alone", "operation", "two_level", "faster"};
static_assert(reasons.size() == static_cast<std::size_t>(FallbackReason::faster) + 1);

}  // namespace

std::string_view reason(const Outcome& outcome) {
  switch (outcome.kind) {
    case Outcome::Kind::scheduled:
      return "";
    case Outcome::Kind::native:
      return reasons[static_cast<std::size_t>(outcome.why)];
    case Outcome::Kind::untold:
      break;
  }
  return "untold";
}

void CallRow::add(const Exchanged& exchanged, std::uint64_t times) {
  exchanges += times;
  bytes += exchanged.bytes * times;
  figures.predicted += exchanged.figures.predicted * static_cast<double>(times);
  figures.bound += exchanged.figures.bound * static_cast<double>(times);
}

std::string_view call_name(int call) { return calls[call].name; }

bool is_persistent(int call) { return calls[call].name.find("_init") != std::string_view::npos; }

bool is_of_neighbours(int call) { return calls[call].name.find("eighbor_") != std::string_view::npos; }

int communicator_argument(int call) {
  const int last = calls[call].arguments - 1;
  if (is_persistent(call)) return last - 2;  // an info and the request come behind it
  return calls[call].name.starts_with("MPI_I") ? last - 1 : last;
}

}  // namespace hocket::runtime
