#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "bindings.hpp"
#include "core/algorithms/plan_exchange.hpp"
#include "core/algorithms/registry.hpp"
#include "core/error.hpp"
#include "core/limits.hpp"
#include "core/model/predict.hpp"
#include "core/schedule/verify.hpp"
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

void bind_planning(nb::module_& m) {
  bind_waits(m);
  bind_verifier(m);
  m.attr("MAX_EXPLICIT_RANKS") = algorithms::max_explicit_ranks;
  m.attr("REFERENCE_BYTES") = limits::reference_bytes;
  m.attr("MOST_SIMULATION_STEPS") = limits::most_simulation_steps;
  m.attr("MOST_RANKS_PLANNED_FOR_RUN") = limits::most_ranks_planned_for_run;
  m.attr("MOST_MESSAGES_COMPARED") = limits::most_messages_compared;
  m.attr("MOST_RANKS_SEARCHED_FOR_WAITS") = limits::most_ranks_searched_for_waits;
  m.def(
      "run_window", [](const Demand& demand) { return run_window(demand); }, "demand"_a,
      "Messages that a rank may have unacknowledged unless the user says otherwise.");

  nb::class_<Prediction>(m, "Prediction")
      .def_ro("seconds", &Prediction::seconds)
      .def_prop_ro("kind", [](const Prediction& p) { return to_string(p.kind); }, "simulated, by phases or by load");
  m.def("seconds_by_phases", &seconds_by_phases, "network"_a, "phases"_a, "bytes"_a, "alphas"_a = 0.0,
        "tokens"_a = true, "Seconds of phases one after the other in which no message shares a channel.");

  nb::class_<PlannedExchange>(m, "PlannedExchange", "The schedule that serves a demand on a network, and its waits.")
      .def_ro("algorithm", &PlannedExchange::algorithm, nb::rv_policy::reference)
      .def_ro("schedule", &PlannedExchange::schedule)
      .def_ro("waits", &PlannedExchange::waits)
      .def_ro("bounds", &PlannedExchange::bounds)
      .def_ro("bound_phases", &PlannedExchange::bound_phases, "no schedule of the algorithm's port model has fewer")
      .def_ro("bound_seconds", &PlannedExchange::bound_seconds,
              "no schedule takes less time, per-message costs counted")
      .def_ro("prediction", &PlannedExchange::prediction, "of plan()")
      .def_ro("certificate", &PlannedExchange::certificate, "of plan(): of schedule and waits")
      .def_ro("plan_seconds", &PlannedExchange::plan_seconds)
      .def_ro("verify_seconds", &PlannedExchange::verify_seconds)
      .def(
          "predict",
          [](const PlannedExchange& p, const Network& network, const Demand& demand, double alpha,
             std::uint64_t most_steps) { return predict(network, demand, p, alpha, most_steps); },
          "network"_a, "demand"_a, "alpha"_a, "most_steps"_a, nb::call_guard<nb::gil_scoped_release>(),
          "Its time under pair-wise tokens, for what it was planned with; an estimate beyond so many simulation "
          "steps.");
  m.def(
      "plan_exchange",
      [](const Network& network, const Demand& demand, std::optional<std::uint32_t> window,
         const std::string& algorithm, double alpha, std::uint64_t seed,
         bool whole) { return plan_exchange(network, demand, {algorithm, {alpha, seed}, window, whole}); },
      "network"_a, "demand"_a, "window"_a = nb::none(), "algorithm"_a = "", "alpha"_a = 0.0, "seed"_a = 1,
      "whole"_a = false, nb::call_guard<nb::gil_scoped_release>(),
      "The schedule that serves the demand best, or that of the named algorithm; without a window its waits are "
      "those of a run. Whole: ranks pass on no parts of an all-to-all's messages. Raises InputError.");
  m.def(
      "plan",
      [](const Network& network, const Demand& demand, std::optional<std::uint32_t> window,
         const std::string& algorithm, double alpha, std::uint64_t seed, bool whole, std::uint64_t most_steps) {
        return plan(network, demand, {algorithm, {alpha, seed}, window, whole}, most_steps);
      },
      "network"_a, "demand"_a, "window"_a, "algorithm"_a, "alpha"_a, "seed"_a, "whole"_a, "most_steps"_a,
      nb::call_guard<nb::gil_scoped_release>(),
      "The same, verified and predicted, by a simulation of at most so many steps: all that a user means by planning.");
  m.def(
      "least_of",
      [](const Algorithm& algorithm, const Network& network, const Demand& demand, const Bounds& bounds, double alpha) {
        const Least least = least_of(algorithm, network, demand, bounds, alpha);
        return std::pair(least.phases, least.seconds);
      },
      "algorithm"_a, "network"_a, "demand"_a, "bounds"_a, "alpha"_a = 0.0, nb::call_guard<nb::gil_scoped_release>(),
      "No schedule of the algorithm has fewer phases, and none takes fewer seconds; of ways of its own, on any "
      "routes.");
  m.def("least_phases", &least_phases, "network"_a, "demand"_a, "bounds"_a, "ports"_a,
        "No schedule of this port model has fewer phases.");
  m.def("least_seconds", &least_seconds, "network"_a, "demand"_a, "bounds"_a, "alpha"_a = 0.0,
        "No schedule takes less time if a message costs its sender `alpha` seconds.");
}
