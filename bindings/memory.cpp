#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <numeric>
#include <tuple>

#include "bindings.hpp"
#include "core/error.hpp"
#include "core/model/memory_profile.hpp"
#include "elements.hpp"
#include "sort/core/costs/copy_transfer.hpp"
#include "sort/core/elements/move.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;
using namespace hocket::bindings;

namespace {

/// (work, ranks, width, parts, bytes, seconds)
using FigureRow = std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t, double>;
using Figures = std::map<std::string, double>;

Work work_named(const std::string& wanted) {
  for (std::size_t i = 0; i < works; ++i)
    if (wanted == name(static_cast<Work>(i))) return static_cast<Work>(i);
  throw InputError("there is no work '" + wanted + "'");
}

void make_profile(MemoryProfile* self, const std::string& origin, std::uint32_t cores, std::pair<double, double> wire,
                  const std::vector<FigureRow>& rows) {
  std::vector<WorkFigure> figures;
  for (const auto& [work, ranks, width, parts, bytes, seconds] : rows)
    figures.push_back({work_named(work), {ranks, width, parts, bytes}, seconds});
  new (self) MemoryProfile(origin, cores, {wire.first, wire.second}, std::move(figures));
}

std::vector<FigureRow> figure_rows(const MemoryProfile& profile) {
  std::vector<FigureRow> rows;
  for (const auto& [work, shape, seconds] : profile.figures())
    rows.emplace_back(name(work), shape.ranks, shape.width, shape.parts, shape.bytes, seconds);
  return rows;
}

TransferTable table_of(const Figures& figures) {
  TransferTable table;
  for (const auto& [transfer, rate] : figures) table.set(transfer, rate);
  return table;
}

/// Runs of `run` bytes, one behind the other in `target`: Work::pull.
std::vector<double> copy_runs(const Source& source, const Vector<const std::uint64_t>& begins, std::size_t run,
                              const Target& target, std::size_t repeat) {
  check_apart(source, target);
  check(run > 0 && run <= target.size() && begins.size() <= target.size() / run, "the target has no room for the runs");
  for (const std::uint64_t begin : span_of(begins))
    check(begin <= source.size() && run <= source.size() - begin, "a run reaches beyond its source");
  return timed(repeat, [&] {
    std::byte* to = bytes_of(target);
    for (const std::uint64_t begin : span_of(begins)) {
      copy(bytes_of(source) + begin, to, run);
      to += run;
    }
  });
}

/// Work::pack.
std::vector<double> pack_records(std::size_t key_width, const Source& keys, std::size_t payload_width,
                                 const Source& payload, const Target& records, std::size_t repeat) {
  const std::size_t n = elements_in(keys, key_width);
  check(n == elements_in(payload, payload_width) && n * (key_width + payload_width) == records.size(),
        "as many keys as payloads and records are wanted");
  check_apart(keys, records);
  check_apart(payload, records);
  return timed(repeat,
               [&] { pack(key_width, bytes_of(keys), payload_width, bytes_of(payload), n, bytes_of(records)); });
}

/// Sums of what comes before, in place: Work::scan.
std::vector<double> scan(const Vector<std::uint64_t>& counts, std::size_t repeat) {
  return timed(repeat, [&] {
    const std::span<std::uint64_t> values = span_of(counts);
    std::exclusive_scan(values.begin(), values.end(), values.begin(), std::uint64_t{0});
  });
}

void bind_profile(nb::module_& m) {
  nb::class_<MemoryProfile>(m, "Profile", "What memory operations and messages cost on a machine.")
      .def("__init__", &make_profile, "origin"_a, "cores"_a, "wire"_a, "figures"_a,
           "`wire`: bytes/s, seconds. `figures`: (work, ranks, width, parts, bytes, seconds).")
      .def_static("parse", &MemoryProfile::parse, "text"_a)
      .def_static("built_in", &MemoryProfile::built_in, nb::rv_policy::reference)
      .def("text", &MemoryProfile::text)
      .def(
          "seconds",
          [](const MemoryProfile& profile, const std::string& work, std::uint32_t ranks, std::uint32_t width,
             std::uint64_t parts,
             std::uint64_t bytes) { return profile.seconds(work_named(work), {ranks, width, parts, bytes}); },
          "work"_a, nb::kw_only(), "ranks"_a = 1, "width"_a = 1, "parts"_a = 1, "bytes"_a = 1)
      .def_prop_ro("origin", &MemoryProfile::origin)
      .def_prop_ro("cores", &MemoryProfile::cores)
      .def_prop_ro("wire",
                   [](const MemoryProfile& profile) { return std::pair(profile.wire().rate, profile.wire().latency); })
      .def_prop_ro("figures", &figure_rows);
  m.attr("WORKS") = [] {
    nb::list names;
    for (std::size_t i = 0; i < works; ++i) names.append(name(static_cast<Work>(i)));
    return nb::tuple(names);
  }();
}

}  // namespace

void bind_memory(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("memory", "The copy-transfer model and what is predicted by it.");
  m.def(
      "throughput",
      [](std::string_view composition, const Figures& figures) {
        return Composition::parse(composition).throughput(table_of(figures));
      },
      "composition"_a, "figures"_a, "MB/s of basic transfers composed, such as wC1 o (1S0 || Nd || 0R1) o 1Cw.");
  m.def(
      "composition", [](std::string_view text) { return Composition::parse(text).text(); }, "text"_a,
      "As it is understood.");
  m.def("copy_runs", &copy_runs, "source"_a, "begins"_a, "run"_a, "target"_a, "repeat"_a = 1,
        "Seconds of each repetition.");
  m.def("pack", &pack_records, "key_width"_a, "keys"_a, "payload_width"_a, "payload"_a, "records"_a, "repeat"_a = 1,
        "Seconds of each repetition.");
  m.def("scan", &scan, "counts"_a, "repeat"_a = 1, "Seconds of each repetition.");
  bind_profile(m);
}
