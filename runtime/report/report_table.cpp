#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "runtime/report/json_line.hpp"
#include "runtime/report/report.hpp"
#include "runtime/shim/calls.h"

namespace hocket::runtime {
namespace {

std::string path_of(const link_map& object) {
  if (object.l_name != nullptr && object.l_name[0] != 0) return object.l_name;
  std::string path(4096, 0);  // the program itself has no name
  path.resize(static_cast<std::size_t>(std::max<ssize_t>(0, readlink("/proc/self/exe", path.data(), path.size()))));
  return path;
}

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 24> digits{};
  std::snprintf(digits.data(), digits.size(), "+0x%llx", static_cast<unsigned long long>(value));
  return digits.data();
}

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

std::string row_text(const CallKey& kind, const CallRow& row) {
  JsonLine line;
  line.field("call", call_name(kind.call))
      .field("object", row.site.object)
      .field("offset", row.site.offset)
      .field("function", row.site.function)
      .field("into", row.site.into)
      .field("communicator", kind.ranks)
      .field("least", row.least)
      .field("most", row.most)
      .field("scheduled", kind.outcome.kind == Outcome::Kind::scheduled)
      .field("why", reason(kind.outcome))
      .field("detail", kind.outcome.detail)
      .field("calls", row.calls)
      .field("exchanges", row.exchanges)
      .field("bytes", row.bytes)
      .field("seconds", row.seconds)
      .field("under_way", row.under_way)
      .field("predicted", row.figures.predicted)
      .field("bound", row.figures.bound);
  return line.end();
}

std::string row_text(const ChoiceRow& row) {
  JsonLine line;
  return line.field("choice", row.collective)
      .field("candidate", row.candidate)
      .field("communicator", row.ranks)
      .field("hosts", row.hosts)
      .field("message", row.bytes)
      .field("calls", row.calls)
      .field("trials", row.trials)
      .field("native", row.native)
      .field("predicted", row.predicted)
      .field("measured", row.measured)
      .end();
}

}  // namespace

std::string CallSite::text() const {
  if (object.empty()) return "an unknown place";
  const std::string name = object.substr(object.rfind('/') + 1);
  if (function.empty()) return name + hexadecimal(offset);
  return function + hexadecimal(into) + " (" + name + ")";
}

CallSite call_site(const void* returns_to) {
  const auto address = reinterpret_cast<std::uintptr_t>(returns_to) - 1;  // within the call
  Dl_info info{};
  void* map = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(address), &info, &map, RTLD_DL_LINKMAP) == 0 || map == nullptr) return {};
  const auto& object = *static_cast<const link_map*>(map);
  CallSite site{path_of(object), address - object.l_addr, {}, 0};
  if (info.dli_sname != nullptr) {
    site.function = info.dli_sname;
    site.into = address - reinterpret_cast<std::uintptr_t>(info.dli_saddr);
  }
  return site;
}

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

std::string report_text(const Reporter& reporter, const CallTable& table, std::span<const ChoiceRow> choices,
                        bool finished) {
  JsonLine first;
  std::string text = first.field("hocket_report", 1)
                         .field("rank", reporter.rank)
                         .field("host", reporter.host)
                         .field("pid", reporter.pid)
                         .field("spawned", reporter.spawned)
                         .field("finished", finished)
                         .field("rows", table.size())
                         .field("choices", choices.size())
                         .end();
  for (const auto& [kind, row] : table) text += row_text(kind, row);
  for (const ChoiceRow& row : choices) text += row_text(row);
  return text;
}

}  // namespace hocket::runtime
