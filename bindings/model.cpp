
#include "bindings.hpp"
#include "core/algorithms/baselines/library_calls.hpp"

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
  nb::class_<CostProfile>(m, "CostProfile", "Costs of messages by rule of thumb: seconds, bytes and bytes per second.")
      .def_ro("name", &CostProfile::name)
      .def_ro("rate", &CostProfile::rate, "of a host's link")
      .def_ro("latency", &CostProfile::latency, "between two hosts")
      .def_ro("send", &CostProfile::send, "of the sender's processor, for each message")
      .def_ro("receive", &CostProfile::receive, "of the receiver's")
      .def_ro("token", &CostProfile::token, "on top of the latency")
      .def_ro("eager", &CostProfile::eager, "longer messages wait for their receiver")
      .def_ro("wire", &CostProfile::wire, "bytes on the wire for each of a message")
      .def_prop_ro("hosts", [](const CostProfile& one) { return one.contention.host; })
      .def_prop_ro("switch_links", [](const CostProfile& one) { return one.contention.switch_link; });
  m.def("profile_of", &profile_of, "network"_a, "The profile nearest to the rate and latency of hosts.");
  nb::class_<ModelParameters>(m, "ModelParameters", "Fitting; the defaults are an ideal machine.")
      .def(nb::init<double, double, std::uint64_t, double, double, double, double, std::uint64_t, double, bool,
                    std::vector<double>, SharedRate, SharedRate>(),
           "alpha"_a = 0.0, "receive"_a = 0.0, "eager"_a = ~std::uint64_t{0}, "token"_a = 0.0, "token_work"_a = 0.0,
           "barrier"_a = 0.0, "overhead"_a = 1.0, "early_release"_a = 0,
           "memory_rate"_a = std::numeric_limits<double>::infinity(), "latency_weighted"_a = false,
           "latencies"_a = std::vector<double>{}, "host_shared"_a = SharedRate{1, 1, 1, 1},
           "switch_link_shared"_a = SharedRate{1, 1, 1, 1})
      .def_rw("alpha", &ModelParameters::alpha, "seconds the sender spends on each message")
      .def_rw("receive", &ModelParameters::receive, "seconds the receiver spends on each message")
      .def_rw("eager", &ModelParameters::eager, "bytes up to which sends are over at once, under steps")
      .def_rw("token_work", &ModelParameters::token_work, "seconds both ends spend on a token")
      .def_rw("latencies", &ModelParameters::latencies,
              "seconds by the channels of a route: none, one, and so on; empty: the network's")
      .def_prop_ro(
          "contention", [](const ModelParameters& p) { return std::pair(p.contention.host, p.contention.switch_link); },
          "the part of a channel's rate that 1, 2, 4, 8 flows carry together: of hosts, of inter-switch links")
      .def_rw("token", &ModelParameters::token, "seconds for a token, on top of the latency of its route")
      .def_rw("barrier", &ModelParameters::barrier, "seconds between two phases")
      .def_rw("overhead", &ModelParameters::overhead, "bytes on the wire per byte of payload")
      .def_rw("early_release", &ModelParameters::early_release,
              "a token leaves when at most this many bytes of its message are missing")
      .def_rw("memory_rate", &ModelParameters::memory_rate, "bytes per second between ranks of one host")
      .def_rw("latency_weighted", &ModelParameters::latency_weighted,
              "flows share in inverse proportion to their latency, as SimGrid's CM02 has it");

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
          "network"_a, "demand"_a, unlocked(), "its messages, to be simulated");
  m.def("library_calls", &library_calls);

  m.def(
      "simulate",
      [](const Network& network, const Schedule& schedule, const Waits* waits, const std::string& flow,
         const ModelParameters& parameters) {
        return simulate(network, schedule, waits, parse_flow_control(flow), parameters);
      },
      "network"_a, "schedule"_a, "waits"_a.none() = nb::none(), "flow"_a = "token", "parameters"_a = ModelParameters{},
      unlocked(),
      "The time of a schedule on a network. `flow`: barrier, token (= window:1), window:K, free or steps.\n"
      "`waits` serves token and window; None derives them.");

  m.def(
      "seconds_within",
      [](std::uint64_t steps, const Network& network, const Schedule& schedule, const Waits* waits,
         const std::string& flow, const ModelParameters& parameters) {
        const auto found = simulate_within(steps, network, schedule, waits, parse_flow_control(flow), parameters);
        return found ? std::optional(found->seconds) : std::nullopt;
      },
      "steps"_a, "network"_a, "schedule"_a, "waits"_a.none(), "flow"_a, "parameters"_a, unlocked(),
      "Its seconds alone, or None if it takes more steps: times that a flow's rate is looked at anew, times its "
      "channels.");

  m.def("transfers_on", &transfers_on, "network"_a, "schedule"_a, "channels"_a, unlocked(),
        "Per listed channel the transfers whose routes contain it, in schedule order.");

  m.def(
      "channel_use",
      [](const Network& network, const Schedule& schedule, std::uint64_t first, std::optional<std::uint64_t> last) {
        const std::uint64_t end = last.value_or(schedule.phases());
        std::vector<std::uint32_t>* use = nullptr;
        {
          const nb::gil_scoped_release release;
          use = new std::vector<std::uint32_t>(channel_use(network, schedule, first, end));
        }
        const nb::capsule owner(use, [](void* p) noexcept { delete static_cast<std::vector<std::uint32_t>*>(p); });
        return nb::ndarray<nb::numpy, std::uint32_t, nb::ndim<2>>(
            use->data(), {static_cast<std::size_t>(end - first), network.channels()}, owner);
      },
      "network"_a, "schedule"_a, "first"_a = 0, "last"_a.none() = nb::none(),
      "Messages by phase (rows), from `first` to before `last`, and channel (columns).");
}
