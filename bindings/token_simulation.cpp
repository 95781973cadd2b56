#include "core/model/token_simulation.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "network_form.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;

namespace {

const TokenSimulation& with_run(const FormSimulation& simulation, std::size_t run) {
  if (run >= simulation.times().runs()) throw InputError("there is no run " + std::to_string(run));
  return simulation.times();
}

/// Copied: the next phases change them.
auto ends(const FormSimulation& simulation, std::size_t run) {
  const TokenSimulation& times = with_run(simulation, run);
  auto* ends = new std::vector<double>;
  const nb::capsule owner(ends, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  for (Rank rank = 0; rank < times.ranks(); ++rank) ends->push_back(times.end(rank, run));
  return nb::ndarray<nb::numpy, double, nb::ndim<1>>(ends->data(), {ends->size()}, owner);
}

}  // namespace

void bind_token_simulation(nb::module_& m) {
  nb::class_<Away>(m, "Away", "When ranks do nothing: single delays, and noise.")
      .def(
          "__init__",
          [](Away* self, std::uint32_t ranks, const std::vector<std::tuple<Rank, double, double>>& absences,
             double delay, double part, std::uint64_t seed) {
            std::vector<Absence> all;
            for (const auto& [rank, begin, seconds] : absences) all.push_back({rank, begin, seconds});
            new (self) Away(ranks, std::move(all), part != 0 ? std::optional(Noise{delay, part, seed}) : std::nullopt);
          },
          "ranks"_a, "absences"_a = std::vector<std::tuple<Rank, double, double>>{}, "delay"_a = 0.0, "part"_a = 0.0,
          "seed"_a = 1,
          "`absences`: (rank, begin, seconds). Noise keeps every rank away for `part` of the time, `delay` seconds "
          "each time, by a Poisson process. Raises InputError.")
      .def(
          "after",
          [](const Away& away, Rank rank, double time) {
            if (rank >= away.ranks()) throw InputError("there is no rank " + std::to_string(rank));
            if (!(time >= 0 && std::isfinite(time))) throw InputError("a time must be 0 or more seconds");
            return away.after(rank, time);
          },
          "rank"_a, "time"_a, "when a rank does what it would do at that time")
      .def("noise_seconds", &Away::noise_seconds, "rank"_a, "until"_a, "that noise keeps the rank away until then");

  nb::class_<FormSimulation>(m, "FormSimulation", "An all-to-all by tokens in closed form, simulated phase by phase.")
      .def(
          "__init__",
          [](FormSimulation* self, const bindings::NetworkForm& rows, double bytes, std::uint32_t window, double alpha,
             double token, std::optional<double> latency, std::vector<Away> runs) {
            if (runs.empty()) runs.emplace_back();
            new (self)
                FormSimulation(rows.network, *rows.found.form, {bytes, window, alpha, token, latency}, std::move(runs));
          },
          "rows"_a, "bytes"_a, "window"_a = 1, "alpha"_a = 0.0, "token"_a = 0.0, "latency"_a = nb::none(),
          "runs"_a = std::vector<Away>{}, nb::keep_alive<1, 2>(),
          "`latency`: seconds of every route between hosts; None: the network's. `runs`: in which ranks are away, at "
          "once; none: one in which nobody is. Raises InputError.")
      .def("advance", &FormSimulation::advance, "phases"_a = ~std::uint64_t{0},
           nb::call_guard<nb::gil_scoped_release>(), "Goes on by so many phases, or to the end.")
      .def_prop_ro("phases", &FormSimulation::phases, "that are over")
      .def_prop_ro("messages", &FormSimulation::messages, "that are over")
      .def(
          "seconds", [](const FormSimulation& s, std::size_t run) { return with_run(s, run).seconds(run); },
          "run"_a = 0, "until the last message so far is over")
      .def(
          "posted",
          [](const FormSimulation& s, Rank rank, std::size_t run) {
            const TokenSimulation& times = with_run(s, run);
            if (rank >= times.ranks()) throw InputError("there is no rank " + std::to_string(rank));
            return times.posted(rank, run);
          },
          "rank"_a, "run"_a = 0, "when the rank's processor is done with posting its last message so far, or 0")
      .def("ends", &ends, "run"_a = 0, "per rank: the end of the last message that it has sent, or 0");
}
