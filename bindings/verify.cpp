#include "core/schedule/verify.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "bindings.hpp"
#include "core/error.hpp"
#include "core/schedule/waits.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;

namespace {

void bind_waits(nb::module_& m) {
  nb::class_<Waits>(m, "Waits", "Which transfer waits for which earlier ones.")
      .def_ro("window", &Waits::window)
      .def_ro("derived", &Waits::derived, "waits before redundant ones were removed")
      .def("__len__", &Waits::size)
      .def("of",
           [](const Waits& w, std::uint64_t transfer) {
             if (transfer + 1 >= w.begin.size()) throw InputError("no such transfer");
             return std::vector<std::uint32_t>(w.of(transfer).begin(), w.of(transfer).end());
           })
      .def_static(
          "from_lists",
          [](const std::vector<std::vector<std::uint32_t>>& before, std::uint32_t window) {
            Waits waits;
            waits.window = window;
            waits.begin = {0};
            for (const auto& list : before) {
              waits.before.insert(waits.before.end(), list.begin(), list.end());
              waits.begin.push_back(waits.before.size());
            }
            waits.derived = waits.before.size();
            return waits;
          },
          "before"_a, "window"_a = 1);
  m.def(
      "derive_waits",
      [](const Network& network, const Schedule& schedule, std::uint32_t window) {
        return derive_waits(network, schedule, window);
      },
      "network"_a, "schedule"_a, "window"_a = 1, nb::call_guard<nb::gil_scoped_release>());
}

void bind_verifier(nb::module_& m) {
  nb::enum_<PortModel>(m, "PortModel").value("one_port", PortModel::one_port).value("all_port", PortModel::all_port);
  nb::class_<Certificate>(m, "Certificate", "What the verifier found.")
      .def_ro("transfers", &Certificate::transfers)
      .def_ro("phases", &Certificate::phases)
      .def_ro("worst_channel_use", &Certificate::worst_channel_use)
      .def_prop_ro("contention_free", &Certificate::contention_free)
      .def_prop_ro("complete", &Certificate::complete)
      .def_prop_ro("ok", &Certificate::ok)
      .def_prop_ro(
          "counts",
          [](const Certificate& c) {
            nb::dict counts;
            for (std::size_t i = 0; i < violation_kinds; ++i)
              if (c.counts[i] > 0) counts[nb::cast(to_string(static_cast<Violation>(i)))] = c.counts[i];
            return counts;
          },
          "violations by kind")
      .def_prop_ro(
          "findings",
          [](const Certificate& c) {
            std::vector<std::tuple<std::string, std::uint64_t, std::string>> findings;
            for (const Finding& f : c.findings) findings.emplace_back(to_string(f.kind), f.phase, f.text);
            return findings;
          },
          "(kind, phase, text) of the first few of each kind");
  m.def("verify", &verify, "network"_a, "demand"_a, "schedule"_a, "ports"_a = PortModel::one_port,
        nb::call_guard<nb::gil_scoped_release>());

  m.def(
      "verify_waits",
      [](const Network& n, const Schedule& s, const Waits& w, Certificate& c) { verify_waits(n, s, w, c); },
      "network"_a, "schedule"_a, "waits"_a, "certificate"_a, nb::call_guard<nb::gil_scoped_release>(),
      "Adds what it finds to the certificate.");
}

}  // namespace

void bind_verify(nb::module_& m) {
  bind_waits(m);
  bind_verifier(m);
}
