
#include "bindings.hpp"
#include "core/algorithms/baselines/library_calls.hpp"
#include "core/model/predict.hpp"

namespace {

/// A read-only view that keeps the simulation alive.
template <auto member>
auto view(nb::handle_t<Simulation> self) {
  const auto& values = nb::cast<const Simulation&>(self).*member;
  using Value = typename std::remove_cvref_t<decltype(values)>::value_type;
  return nb::ndarray<nb::numpy, const Value, nb::ndim<1>>(values.data(), {values.size()}, self);
}

}  // namespace

void bind_model(nb::module_& m) {
  nb::class_<CostProfile>(m, "CostProfile", "Costs of messages by rule of thumb.")
      .def_ro("name", &CostProfile::name)
      .def_prop_ro("parameters", &costs_of);
  nb::class_<ModelParameters>(m, "ModelParameters", "Fitting; the defaults are an ideal machine.")
      .def(nb::init<double, double, std::uint64_t, double, double, double, double, double, bool, std::vector<double>,
                    SharedRate, SharedRate>(),
           "alpha"_a = 0.0, "receive"_a = 0.0, "eager"_a = ~std::uint64_t{0}, "token"_a = 0.0, "token_work"_a = 0.0,
           "barrier"_a = 0.0, "overhead"_a = 1.0, "memory_rate"_a = std::numeric_limits<double>::infinity(),
           "latency_weighted"_a = false, "latencies"_a = std::vector<double>{},
           "host_shared"_a = SharedRate{1, 1, 1, 1}, "switch_link_shared"_a = SharedRate{1, 1, 1, 1});

  nb::class_<Simulation>(m, "Simulation", "Times in seconds from the start.")
      .def_ro("seconds", &Simulation::seconds, "until the last byte arrives")
      .def_ro("tokens", &Simulation::tokens, "sent from one rank to another")
      .def_prop_ro("phase", &view<&Simulation::phase>, "per transfer")
      .def_prop_ro("posted", &view<&Simulation::posted>, "per transfer: its sender begins with it")
      .def_prop_ro("start", &view<&Simulation::start>, "per transfer: bytes begin to flow")
      .def_prop_ro("end", &view<&Simulation::end>, "per transfer: the last byte has arrived")
      .def_prop_ro("channel_bytes", &view<&Simulation::channel_bytes>, "per channel: bytes carried, with overhead")
      .def_prop_ro("channel_busy", &view<&Simulation::channel_busy>, "per channel: seconds in use")
      .def_prop_ro("phase_start", &view<&Simulation::phase_start>, "per phase: first post")
      .def_prop_ro("phase_end", &view<&Simulation::phase_end>, "per phase: last arrival");

  nb::class_<LibraryCall>(m, "LibraryCall", "An algorithm of MPI libraries.")
      .def_prop_ro("pattern", [](const LibraryCall& call) { return to_string(call.pattern); })
      .def_ro("name", &LibraryCall::name)
      .def_ro("source", &LibraryCall::source)
      .def_prop_ro("flow", [](const LibraryCall& call) { return to_string(call.flow); })
      .def(
          "why_not", [](const LibraryCall& call, std::uint32_t ranks) { return call.why_not(ranks); }, "ranks"_a,
          "empty if it serves so many, else the reason")
      .def(
          "make",
          [](const LibraryCall& call, const Network& network, const Demand& demand) {
            if (!call.why_not(demand.ranks).empty() || demand.pattern != call.pattern ||
                demand.ranks != network.ranks())
              throw InputError(std::string(call.name) + " does not serve this");
            return call.make(network, demand);
          },
          "network"_a, "demand"_a, unlocked(), "its messages, to be simulated")
      .def_static("all", nb::overload_cast<>(&library_calls))
      .def_static("of", nb::overload_cast<const Demand&>(&library_calls), "demand"_a, nb::rv_policy::reference,
                  "those that serve the demand");

  m.def(
      "simulate",
      [](const Network& network, const Schedule& schedule, const Waits* waits, const std::string& flow,
         const ModelParameters& parameters, std::optional<std::uint64_t> steps) {
        const FlowControl by = parse_flow_control(flow);
        return steps ? simulate_within(*steps, network, schedule, waits, by, parameters)
                     : std::optional(simulate(network, schedule, waits, by, parameters));
      },
      "network"_a, "schedule"_a, "waits"_a.none() = nb::none(), "flow"_a = "token", "parameters"_a = ModelParameters{},
      "steps"_a = nb::none(), unlocked(),
      "The time of a schedule on a network. `flow`: barrier, token (= window:1), window:K, free or steps. `waits` "
      "serves\n"
      "token and window; None derives them. None if it takes more steps: times that a flow's rate is looked at anew,\n"
      "times its channels.");
}
