#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include "bindings.hpp"
#include "core/two_level/exchange.hpp"
#include "core/two_level/verify.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;

namespace {

void bind_groups(nb::module_& m) {
  nb::class_<HostGroups>(m, "HostGroups", "Which ranks share a host; the first of each carries for all.")
      .def_ro("ranks", &HostGroups::ranks, "the ranks of each host")
      .def_ro("host_of", &HostGroups::host_of, "the host of each rank")
      .def("__len__", &HostGroups::count)
      .def_prop_ro("most", &HostGroups::most, "ranks on the fullest host");
  m.def("groups_of", &groups_of, "network"_a, "The ranks of a network as it numbers them.");
  m.def("one_rank_a_host", &one_rank_a_host, "network"_a, "The same network with one rank on every host.");
}

/// (kind, phase, text) of both levels.
std::vector<std::tuple<std::string, std::uint64_t, std::string>> findings_of_both(const TwoLevelCertificate& c) {
  std::vector<std::tuple<std::string, std::uint64_t, std::string>> found;
  for (const Finding& f : c.between.findings) found.emplace_back(to_string(f.kind), f.phase, f.text);
  for (const MemoryFinding& f : c.findings) found.emplace_back(to_string(f.kind), f.phase, f.text);
  return found;
}

/// Violation counts of both levels (messages between hosts, copies within them), keyed by kind; zero counts are left
/// out.
nb::dict counts_of_both(const TwoLevelCertificate& c) {
  nb::dict counts;
  for (std::size_t i = 0; i < violation_kinds; ++i)
    if (c.between.counts[i] > 0) counts[nb::cast(to_string(static_cast<Violation>(i)))] = c.between.counts[i];
  for (std::size_t i = 0; i < memory_fault_kinds; ++i)
    if (c.counts[i] > 0) counts[nb::cast(to_string(static_cast<MemoryFault>(i)))] = c.counts[i];
  return counts;
}

void bind_certificate(nb::module_& m) {
  nb::class_<TwoLevelCertificate>(m, "TwoLevelCertificate", "What the verifier found in both levels.")
      .def_prop_ro("transfers", [](const TwoLevelCertificate& c) { return c.between.transfers; })
      .def_prop_ro("phases", [](const TwoLevelCertificate& c) { return c.between.phases; })
      .def_prop_ro("worst_channel_use", [](const TwoLevelCertificate& c) { return c.between.worst_channel_use; })
      .def_prop_ro("contention_free", [](const TwoLevelCertificate& c) { return c.between.contention_free(); })
      .def_prop_ro("complete", &TwoLevelCertificate::complete)
      .def_prop_ro("ok", &TwoLevelCertificate::ok)
      .def_prop_ro("counts", &counts_of_both, "violations by kind")
      .def_prop_ro("findings", &findings_of_both, "(kind, phase, text) of the first few of each kind");
}

}  // namespace

void bind_two_level(nb::module_& m) {
  bind_groups(m);
  bind_certificate(m);
  m.def("why_not_two_level", &why_not_two_level, "groups"_a, "demand"_a, "Empty if it can be, else the reason.");
  m.def("scheduled_between", &scheduled_between, "groups"_a, "demand"_a,
        "What is scheduled for it; equal all-to-alls stay such where hosts differ.");
  nb::class_<TwoLevelExchange>(m, "TwoLevelExchange",
                               "Copies into the memory of hosts, a schedule between hosts, and copies back.")
      .def_ro("demand", &TwoLevelExchange::demand, "of the ranks")
      .def_ro("groups", &TwoLevelExchange::groups)
      .def_ro("memory", &TwoLevelExchange::memory, "bytes of each host")
      .def_ro("between", &TwoLevelExchange::between, "the demand of the hosts")
      .def_ro("schedule", &TwoLevelExchange::schedule, "between the hosts");
  m.def("two_level", &aggregate, "groups"_a, "demand"_a, "schedule"_a, nb::call_guard<nb::gil_scoped_release>(),
        "The exchange in two levels, by a schedule between hosts.");
  m.def("verify_two_level", &verify_two_level, "between"_a, "exchange"_a, "waits"_a.none(), "bound"_a,
        "ports"_a = PortModel::one_port, nb::call_guard<nb::gil_scoped_release>(),
        "Both levels: contention between hosts, and every byte through the memory of hosts. `bound`: bytes of memory\n"
        "that a host may use.");

  nb::class_<TwoLevelTime>(m, "TwoLevelTime", "Seconds.")
      .def_ro("put", &TwoLevelTime::put)
      .def_ro("between", &TwoLevelTime::between)
      .def_ro("take", &TwoLevelTime::take)
      .def_prop_ro("seconds", &TwoLevelTime::seconds);
  m.def("two_level_seconds", &two_level_seconds, "between"_a, "exchange"_a, "waits"_a, "costs"_a, "memory"_a, "steps"_a,
        nb::call_guard<nb::gil_scoped_release>(), "None if the simulation takes more steps.");
}
