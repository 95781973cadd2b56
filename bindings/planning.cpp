#include <nanobind/stl/function.h>

#include "bindings.hpp"
#include "core/choose/chooser.hpp"
#include "core/choose/kept_timings.hpp"
#include "core/choose/request.hpp"
#include "core/model/predict.hpp"

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
          "before"_a, "window"_a = 1)
      .def_static(
          "derive",
          [](const Network& network, const Schedule& schedule, std::uint32_t window) {
            return derive_waits(network, schedule, window);
          },
          "network"_a, "schedule"_a, "window"_a = 1, unlocked());
}

void bind_verifier(nb::module_& m) {
  nb::enum_<PortModel>(m, "PortModel")
      .value("one_port", PortModel::one_port)
      .value("all_port", PortModel::all_port)
      .def_static(
          "of",
          [](std::string_view algorithm, std::string_view pattern) {
            return ports_of(algorithm, parse_pattern(pattern));
          },
          "algorithm"_a, "pattern"_a,
          "that the algorithm keeps; the strictest for one that this version does not know");
  nb::class_<Certificate>(m, "Certificate", "What the verifier found.")
      .def_ro("transfers", &Certificate::transfers)
      .def_ro("phases", &Certificate::phases)
      .def_ro("worst_channel_use", &Certificate::worst_channel_use)
      .def_prop_ro("contention_free", &Certificate::contention_free)
      .def_prop_ro("complete", &Certificate::complete)
      .def_prop_ro("ok", &Certificate::ok)
      .def_prop_ro(
          "counts", [](const Certificate& c) { return counts_by_kind(c); }, "violations by kind")
      .def_prop_ro(
          "findings", [](const Certificate& c) { return findings_of(c); },
          "(kind, phase, text) of the first few of each kind");
  m.def("verify", &verify, "network"_a, "demand"_a, "schedule"_a, "ports"_a = PortModel::one_port, unlocked());

  m.def("verify_waits", &verify_waits, "network"_a, "schedule"_a, "waits"_a, "certificate"_a, unlocked(),
        "Adds what it finds to the certificate.");
}

void bind_request(nb::module_& m) {
  nb::class_<RunCosts>(m, "RunCosts", "By which the ways in which a run may serve a call are predicted.")
      .def(
          "__init__",
          [](RunCosts* self, const Network& network, decltype(RunCosts::of_messages) of_messages,
             decltype(RunCosts::memory) memory) {
            if (!of_messages)
              of_messages = [costs = costs_of(profile_of(network))](std::uint64_t, std::uint64_t) { return costs; };
            new (self) RunCosts{std::move(of_messages), std::move(memory), runtime::usual_segment, host_memory()};
          },
          "network"_a, "of_messages"_a.none(), "memory"_a,
          "`of_messages`: ModelParameters for messages of so many bytes in segments of so many, 0: not cut; None: by\n"
          "the network's cost profile. `memory`: the Profile of memory, asked where ranks share hosts.");
  m.def(
      "plan_exchange",
      [](std::shared_ptr<const Network> network, const Demand& demand, std::optional<std::uint32_t> window,
         const std::string& algorithm, double alpha, std::uint64_t seed) {
        Plan made = plan_exchange(*network, demand, {algorithm, {alpha, seed}, window});
        made.network = std::move(network);
        return made;
      },
      "network"_a, "demand"_a, "window"_a = nb::none(), "algorithm"_a = "", "alpha"_a = 0.0, "seed"_a = 1, unlocked(),
      "The schedule that serves the demand best, or that of the named algorithm; without a window its waits are those "
      "of a run. Raises InputError.");
  m.def(
      "plan",
      [](std::shared_ptr<const Network> network, const Demand& demand, std::optional<std::uint32_t> window,
         const std::string& algorithm, double alpha, std::uint64_t seed, bool whole, std::uint64_t most_steps,
         bool two_level, bool bounds, std::optional<RunCosts> costs, std::uint64_t most_compared) {
        return plan({std::move(network),
                     demand,
                     {algorithm, {alpha, seed}, window, whole, most_steps},
                     two_level,
                     bounds,
                     std::move(costs),
                     most_compared});
      },
      "network"_a, "demand"_a, "window"_a = nb::none(), "algorithm"_a = "", "alpha"_a = 0.0, "seed"_a = 1,
      "whole"_a = false, "most_steps"_a = limits::most_simulation_steps, "two_level"_a = false, "bounds"_a = false,
      "costs"_a = nb::none(), "most_compared"_a = 0, unlocked(),
      "The same, predicted by at most so many steps of simulation, and verified: all that a user means by planning. "
      "`whole`: ranks pass on no parts of an all-to-all's messages. `two_level`: one message between two hosts "
      "for all their ranks. `bounds`: those of any routes, too. By `costs` a forecast is made; up to `most_compared` "
      "messages alternatives are simulated for it.");
}

}  // namespace

void bind_planning(nb::module_& m) {
  bind_waits(m);
  bind_verifier(m);
  nb::module_ limits = m.def_submodule("limits", "By which planning chooses (core/limits.hpp).");
  limits.attr("max_explicit_ranks") = algorithms::max_explicit_ranks;
  limits.attr("reference_bytes") = limits::reference_bytes;
  limits.attr("most_simulation_steps") = limits::most_simulation_steps;
  limits.attr("most_ranks_planned_for_run") = limits::most_ranks_planned_for_run;
  limits.attr("most_messages_compared") = limits::most_messages_compared;
  limits.attr("most_ranks_searched_for_waits") = limits::most_ranks_searched_for_waits;
  bind_request(m);
}

namespace {

void bind_groups(nb::module_& m) {
  nb::class_<HostGroups>(m, "HostGroups", "Which ranks share a host; the first of each carries for all.")
      .def_ro("ranks", &HostGroups::ranks, "the ranks of each host")
      .def_ro("host_of", &HostGroups::host_of, "the host of each rank")
      .def("__len__", &HostGroups::count)
      .def_ro("most", &HostGroups::most, "ranks on the fullest host")
      .def("why_not", &why_not_two_level, "demand"_a, "empty if it can be exchanged in two levels, else the reason")
      .def("scheduled_between", &scheduled_between, "demand"_a,
           "what is scheduled for it; equal all-to-alls stay such where hosts differ");
}

void bind_certificate(nb::module_& m) {
  nb::class_<TwoLevelCertificate>(m, "TwoLevelCertificate", "What the verifier found in both levels.")
      .def_prop_ro("transfers", [](const TwoLevelCertificate& c) { return c.between.transfers; })
      .def_prop_ro("phases", [](const TwoLevelCertificate& c) { return c.between.phases; })
      .def_prop_ro("worst_channel_use", [](const TwoLevelCertificate& c) { return c.between.worst_channel_use; })
      .def_prop_ro("contention_free", [](const TwoLevelCertificate& c) { return c.between.contention_free(); })
      .def_prop_ro("complete", &TwoLevelCertificate::complete)
      .def_prop_ro("ok", &TwoLevelCertificate::ok)
      .def_prop_ro(
          "counts", [](const TwoLevelCertificate& c) { return counts_by_kind(c.between, c); }, "violations by kind")
      .def_prop_ro(
          "findings", [](const TwoLevelCertificate& c) { return findings_of(c.between, c); },
          "(kind, phase, text) of the first few of each kind");
}

}  // namespace

void bind_two_level(nb::module_& m) {
  bind_groups(m);
  bind_certificate(m);
  nb::class_<TwoLevelExchange>(m, "TwoLevelExchange",
                               "Copies into the memory of hosts, a schedule between hosts, and copies back.")
      .def(
          "__init__",
          [](TwoLevelExchange* self, const HostGroups& groups, const Demand& demand, const Schedule& schedule) {
            nb::gil_scoped_release release;
            new (self) TwoLevelExchange(aggregate(groups, demand, schedule));
          },
          "groups"_a, "demand"_a, "schedule"_a, "By a schedule between hosts.")
      .def_ro("demand", &TwoLevelExchange::demand, "of the ranks")
      .def_ro("groups", &TwoLevelExchange::groups)
      .def_ro("memory", &TwoLevelExchange::memory, "bytes of each host")
      .def_ro("between", &TwoLevelExchange::between, "the demand of the hosts")
      .def_ro("schedule", &TwoLevelExchange::schedule, "between the hosts")
      .def(
          "predict",
          [](const TwoLevelExchange& exchange, const Network& between, const Waits& waits, const ModelParameters& costs,
             const MemoryProfile& memory,
             std::uint64_t steps) { return two_level_seconds(between, exchange, waits, costs, memory, steps); },
          "between"_a, "waits"_a, "costs"_a, "memory"_a, "steps"_a, unlocked(),
          "None if the simulation takes more steps.");
  m.def("verify_two_level", &verify_two_level, "between"_a, "exchange"_a, "waits"_a.none(), "bound"_a,
        "ports"_a = PortModel::one_port, unlocked(),
        "Both levels: contention between hosts, and every byte through the memory of hosts. `bound`: bytes of memory\n"
        "that a host may use.");

  nb::class_<TwoLevelTime>(m, "TwoLevelTime", "Seconds.")
      .def_ro("put", &TwoLevelTime::put)
      .def_ro("between", &TwoLevelTime::between)
      .def_ro("take", &TwoLevelTime::take)
      .def_prop_ro("seconds", &TwoLevelTime::seconds);
  nb::class_<TwoLevelPlan>(m, "TwoLevelPlan", "What a plan of one rank a host is for the ranks.")
      .def_ro("exchange", &TwoLevelPlan::exchange)
      .def_ro("certificate", &TwoLevelPlan::certificate, "of both levels")
      .def_ro("time", &TwoLevelPlan::time, "None if the simulation would take too many steps")
      .def_ro("direct_messages", &TwoLevelPlan::direct_messages, "of ranks, one by one, that leave their host")
      .def_ro("direct_seconds", &TwoLevelPlan::direct_seconds, "with these")
      .def_ro("faster_up_to", &TwoLevelPlan::faster_up_to,
              "bytes of a message or contribution up to which aggregates are faster; 0: none; None: not known");
}

namespace {

void bind_kept_timings(nb::module_& m) {
  nb::class_<CandidateTimings>(m, "CandidateTimings", "One way of carrying a call out, as it was measured.")
      .def(nb::init<std::string, std::uint64_t, double, double>(), "name"_a, "calls"_a = 0, "seconds"_a = 0,
           "spread"_a = 0)
      .def_ro("name", &CandidateTimings::name)
      .def_ro("calls", &CandidateTimings::calls)
      .def_ro("seconds", &CandidateTimings::seconds, "of a typical call")
      .def_ro("spread", &CandidateTimings::spread, "standard deviation of its logarithm")
      .def("__eq__", [](const CandidateTimings& a, const CandidateTimings& b) { return a == b; })
      .def("__hash__", [](const CandidateTimings& a) { return std::hash<std::string>{}(a.name); });
  nb::class_<KeptTimings>(m, "KeptTimings", "What was learned under one key.")
      .def(nb::init<std::string, std::string, std::uint32_t, std::string, std::string, std::vector<CandidateTimings>,
                    std::uint32_t, std::uint32_t, std::string>(),
           "place"_a, "call"_a, "size_class"_a, "layout"_a, "winner"_a, "candidates"_a, "ranks"_a = 0, "hosts"_a = 0,
           "mpi"_a = "unknown")
      .def_ro("place", &KeptTimings::place)
      .def_ro("call", &KeptTimings::call)
      .def_ro("size_class", &KeptTimings::size_class)
      .def_ro("layout", &KeptTimings::layout)
      .def_ro("winner", &KeptTimings::winner)
      .def_ro("candidates", &KeptTimings::candidates)
      .def_ro("ranks", &KeptTimings::ranks, "0: not told")
      .def_ro("hosts", &KeptTimings::hosts, "0: not told")
      .def_ro("mpi", &KeptTimings::mpi)
      .def("__eq__", [](const KeptTimings& a, const KeptTimings& b) { return a == b; })
      .def("__hash__", [](const KeptTimings& a) { return std::hash<std::string>{}(a.place + a.call); });
  m.def("least_bytes", &least_bytes, "size_class"_a);
  m.def("parse_kept_timings", &parse_kept_timings, "text"_a);
}

void bind_chooser(nb::module_& m) {
  nb::class_<Decision>(m, "Decision", "Who serves a call.").def_ro("candidate", &Decision::candidate);
  nb::class_<Chooser>(m, "Chooser", "The choice between candidates of one key; 0 is the library's own call.")
      .def(nb::init<std::span<const double>, double, double, double>(), "predicted"_a, "agree_seconds"_a = 0.0,
           "setup_seconds"_a = 0.0, "opening_seconds"_a = std::numeric_limits<double>::infinity())
      .def("next", &Chooser::next)
      .def("learn", &Chooser::learn, "seconds"_a)
      .def_prop_ro("best", &Chooser::best);
}

}  // namespace

void bind_choose(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("choose", "Which way of carrying out a call is used, by timings.");
  bind_kept_timings(m);
  bind_chooser(m);
}
