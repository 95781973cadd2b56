#include "bindings.hpp"
#include "core/algorithms/plan_exchange.hpp"
#include "core/two_level/verify.hpp"

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
      "network"_a, "schedule"_a, "window"_a = 1, unlocked());
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
          "counts", [](const Certificate& c) { return counts_by_kind(c); }, "violations by kind")
      .def_prop_ro(
          "findings", [](const Certificate& c) { return findings_of(c); },
          "(kind, phase, text) of the first few of each kind");
  m.def("verify", &verify, "network"_a, "demand"_a, "schedule"_a, "ports"_a = PortModel::one_port, unlocked());

  m.def("verify_waits", &verify_waits, "network"_a, "schedule"_a, "waits"_a, "certificate"_a, unlocked(),
        "Adds what it finds to the certificate.");
}

template <Plan (*make)(const Network&, const Demand&, const ScheduleOptions&)>
void bind_planner(nb::module_& m, const char* name, const char* doc) {
  m.def(
      name,
      [](std::shared_ptr<const Network> network, const Demand& demand, std::optional<std::uint32_t> window,
         const std::string& algorithm, double alpha, std::uint64_t seed, bool whole, std::uint64_t most_steps) {
        Plan made = make(*network, demand, {algorithm, {alpha, seed}, window, whole, most_steps});
        made.network = std::move(network);
        return made;
      },
      "network"_a, "demand"_a, "window"_a = nb::none(), "algorithm"_a = "", "alpha"_a = 0.0, "seed"_a = 1,
      "whole"_a = false, "most_steps"_a = limits::most_simulation_steps, unlocked(), doc);
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
  m.def("run_window", nb::overload_cast<const Demand&>(&run_window), "demand"_a,
        "Messages that a rank may have unacknowledged unless the user says otherwise.");

  nb::class_<Prediction>(m, "Prediction")
      .def_ro("seconds", &Prediction::seconds)
      .def_prop_ro("kind", [](const Prediction& p) { return to_string(p.kind); }, "simulated, by phases or by load");
  m.def("seconds_by_phases", &seconds_by_phases, "network"_a, "phases"_a, "bytes"_a, "alphas"_a = 0.0,
        "tokens"_a = true, "Seconds of phases one after the other in which no message shares a channel.");

  bind_planner<plan_exchange>(
      m, "plan_exchange",
      "The schedule that serves the demand best, or that of the named algorithm; without a window its waits are "
      "those of a run. Whole: ranks pass on no parts of an all-to-all's messages. Raises InputError.");
  bind_planner<plan>(
      m, "plan",
      "The same, predicted by at most so many steps of simulation, and verified: all that a user means by planning.");
  m.def(
      "least_of",
      [](const Algorithm& algorithm, const Network& network, const Demand& demand, const Bounds& bounds, double alpha) {
        const Least least = least_of(algorithm, network, demand, bounds, alpha);
        return std::pair(least.phases, least.seconds);
      },
      "algorithm"_a, "network"_a, "demand"_a, "bounds"_a, "alpha"_a = 0.0, unlocked(),
      "No schedule of the algorithm has fewer phases, and none takes fewer seconds; of ways of its own, on any "
      "routes.");
  m.def("least_phases", &least_phases, "network"_a, "demand"_a, "bounds"_a, "ports"_a,
        "No schedule of this port model has fewer phases.");
  m.def("least_seconds", &least_seconds, "network"_a, "demand"_a, "bounds"_a, "alpha"_a = 0.0,
        "No schedule takes less time if a message costs its sender `alpha` seconds.");
}

namespace {

void bind_groups(nb::module_& m) {
  nb::class_<HostGroups>(m, "HostGroups", "Which ranks share a host; the first of each carries for all.")
      .def_ro("ranks", &HostGroups::ranks, "the ranks of each host")
      .def_ro("host_of", &HostGroups::host_of, "the host of each rank")
      .def("__len__", &HostGroups::count)
      .def_ro("most", &HostGroups::most, "ranks on the fullest host");
  m.def("groups_of", &groups_of, "network"_a, "The ranks of a network as it numbers them.");
  m.def("one_rank_a_host", &one_rank_a_host, "network"_a, "The same network with one rank on every host.");
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
  m.def("why_not_two_level", &why_not_two_level, "groups"_a, "demand"_a, "Empty if it can be, else the reason.");
  m.def(
      "vectors_held",
      [](const HostGroups& groups, const std::string& pattern) { return vectors_held(groups, parse_pattern(pattern)); },
      "groups"_a, "pattern"_a, "Vectors of a call that the memory of the fullest host holds; 0: not known.");
  m.def("scheduled_between", &scheduled_between, "groups"_a, "demand"_a,
        "What is scheduled for it; equal all-to-alls stay such where hosts differ.");
  nb::class_<TwoLevelExchange>(m, "TwoLevelExchange",
                               "Copies into the memory of hosts, a schedule between hosts, and copies back.")
      .def_ro("demand", &TwoLevelExchange::demand, "of the ranks")
      .def_ro("groups", &TwoLevelExchange::groups)
      .def_ro("memory", &TwoLevelExchange::memory, "bytes of each host")
      .def_ro("between", &TwoLevelExchange::between, "the demand of the hosts")
      .def_ro("schedule", &TwoLevelExchange::schedule, "between the hosts");
  m.def("two_level", &aggregate, "groups"_a, "demand"_a, "schedule"_a, unlocked(),
        "The exchange in two levels, by a schedule between hosts.");
  m.def("verify_two_level", &verify_two_level, "between"_a, "exchange"_a, "waits"_a.none(), "bound"_a,
        "ports"_a = PortModel::one_port, unlocked(),
        "Both levels: contention between hosts, and every byte through the memory of hosts. `bound`: bytes of memory\n"
        "that a host may use.");

  nb::class_<TwoLevelTime>(m, "TwoLevelTime", "Seconds.")
      .def_ro("put", &TwoLevelTime::put)
      .def_ro("between", &TwoLevelTime::between)
      .def_ro("take", &TwoLevelTime::take)
      .def_prop_ro("seconds", &TwoLevelTime::seconds);
  m.def("two_level_seconds", &two_level_seconds, "between"_a, "exchange"_a, "waits"_a, "costs"_a, "memory"_a, "steps"_a,
        unlocked(), "None if the simulation takes more steps.");
}
