/// Parts of networks, schedules, two-level exchanges and choices.
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include "core/algorithms/all_gather/ring_form.hpp"
#include "core/algorithms/all_to_all/tree_phases.hpp"
#include "core/algorithms/irregular/proposals.hpp"
#include "core/choose/chooser.hpp"
#include "core/choose/forecast.hpp"
#include "core/choose/kept_timings.hpp"
#include "core/choose/request.hpp"
#include "core/error.hpp"
#include "core/model/simulate.hpp"
#include "core/network/switch_links.hpp"
#include "core/order/order.hpp"
#include "core/plan/plan.hpp"
#include "core/schedule/bounds.hpp"
#include "core/schedule/shared_channels.hpp"
#include "core/schedule/verify.hpp"
#include "core/schedule/waits.hpp"
#include "core/two_level/exchange.hpp"
#include "testing.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;

namespace {

Network network_with_widths(const Network& network, const std::vector<std::pair<std::uint32_t, double>>& widths) {
  std::vector<hocket::SwitchLinkWidth> given;
  for (const auto& [link, width] : widths) {
    if (link >= network.spec().links.size()) throw hocket::InputError("no such link");
    given.push_back({link, width});
  }
  return hocket::with_widths(network, given);
}

using CopyRow = std::tuple<Rank, std::uint64_t, Rank, Rank, std::uint64_t, std::uint64_t>;
using CarryRow = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;
using SumRow = std::tuple<Rank, std::uint64_t, std::uint64_t, std::vector<std::uint64_t>>;

CopyRow tuple_of(const LocalCopy& c) {
  return {c.rank, c.at, c.piece.origin, c.piece.target, c.piece.offset, c.piece.length};
}
CarryRow tuple_of(const Carry& c) { return {c.from, c.to, c.length}; }
SumRow tuple_of(const LocalSum& s) { return {s.rank, s.to, s.length, s.from}; }

LocalCopy from_tuple(const CopyRow& row) {
  const auto& [rank, at, origin, target, offset, length] = row;
  return {rank, at, {origin, target, offset, length}};
}
Carry from_tuple(const CarryRow& row) { return {std::get<0>(row), std::get<1>(row), std::get<2>(row)}; }
LocalSum from_tuple(const SumRow& row) {
  return {std::get<0>(row), std::get<1>(row), std::get<2>(row), std::get<3>(row)};
}

/// A list of an exchange as tuples, to be read and to be changed.
template <auto member, class Row>
void bind_rows(nb::class_<TwoLevelExchange>& type, const char* name, const char* doc) {
  type.def_prop_rw(
      name,
      [](const TwoLevelExchange& x) {
        std::vector<Row> rows;
        std::ranges::transform(x.*member, std::back_inserter(rows), [](const auto& one) { return tuple_of(one); });
        return rows;
      },
      [](TwoLevelExchange& x, const std::vector<Row>& rows) {
        (x.*member).clear();
        std::ranges::transform(rows, std::back_inserter(x.*member), [](const Row& one) { return from_tuple(one); });
      },
      doc);
}

using TurnTuple = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

/// A class of the product, to be given more members.
template <class Bound>
nb::class_<Bound> known() {
  return nb::borrow<nb::class_<Bound>>(nb::type<Bound>());
}

void add_to_networks(nb::module_& m) {
  using hocket::SwitchLink;
  m.def("price_channels", &price_channels, "network"_a, "demand"_a, nb::call_guard<nb::gil_scoped_release>(),
        "A bound of an all-to-all for all routes, by prices that grow where cheapest ways are busy; None: too large.");
  m.def(
      "switch_link_pairs",
      [](const Network& n, std::uint32_t link) {
        if (link >= n.spec().links.size()) throw hocket::InputError("no such link");
        return hocket::switch_link_pairs(n, link);
      },
      "network"_a, "link"_a, "Disjoint pairs of hosts (nodes) that find out together how wide the link is.");
  m.def("only_ports_shared", &hocket::only_ports_shared, "network"_a,
        "Whether messages can only be in each other's way at the ports of ranks.");
  m.def("pair_without_switch_link", &hocket::pair_without_switch_link, "network"_a,
        "Two hosts (nodes) of one switch, in a list; an empty one if there are none.");
  m.def(
      "representatives",
      [](const std::vector<SwitchLink>& switch_links, std::size_t most) {
        return hocket::representatives(switch_links, most);
      },
      "switch_links"_a, "most"_a, "For each inter-switch link, the index of the one that is measured for it.");
  m.def("with_widths", &network_with_widths, "network"_a, "widths"_a,
        "The network with other rates of some links: (link, width in hosts' speeds).");
  m.def(
      "reordered",
      [](const Network& network, const std::vector<Rank>& given, const std::vector<order::Call>& calls) {
        const order::Order found = order::reordered(network, given, calls);
        return std::pair(found.place, found.how);
      },
      "network"_a, "given"_a, "calls"_a, nb::call_guard<nb::gil_scoped_release>(),
      "The place of each rank, and how it was found.");
}

void add_to_schedules(nb::module_& m) {
  m.def(
      "filled_channels",
      [](const Network& network, const Schedule& schedule, bool exactly) {
        const SharedChannels shared(network, exactly ? Claiming::exactly : Claiming::alike,
                                    each_transfer(network, schedule));
        return std::vector<bool>(shared.filled().begin(), shared.filled().end());
      },
      "network"_a, "schedule"_a, "exactly"_a,
      "Of which channels transfers take no more than their share, by either way to claim.");
  m.def("local_waits", &local_waits, "network"_a, "schedule"_a, nb::call_guard<nb::gil_scoped_release>(),
        "By the rule that every rank can follow for itself; None where it does not hold.");
  nb::class_<algorithms::Proposals>(m, "Proposals",
                                    "Phases that ranks agreed on with their partners, and what it took.")
      .def_ro("phase_of", &algorithms::Proposals::phase_of, "per message, by sender and receiver")
      .def_ro("phases", &algorithms::Proposals::phases)
      .def_ro("rounds", &algorithms::Proposals::rounds)
      .def_ro("most_exchanged", &algorithms::Proposals::most_exchanged, "proposals of the busiest rank, either way")
      .def_ro("most_bytes", &algorithms::Proposals::most_bytes, "that the busiest rank keeps");
  m.def(
      "propose",
      [](const Demand& demand, std::uint64_t seed) {
        if (!demand.by_matrix()) throw InputError("proposals are for irregular demands");
        return algorithms::propose(demand.matrix, seed);
      },
      "demand"_a, "seed"_a = 1, nb::call_guard<nb::gil_scoped_release>(),
      "What the algorithm 'proposals' does, with its rounds; of any number of ranks.");
  nb::class_<TreePhases>(m, "TreePhases", "The tree schedule in closed form (Faraj and Yuan, section 4).")
      .def(nb::init<const Network&>(), "network"_a)
      .def_prop_ro("phases", &TreePhases::phases)
      .def_prop_ro("branches", &TreePhases::branches)
      .def(
          "phase",
          [](const TreePhases& t, const Network& n, Rank src, Rank dst) {
            if (src >= n.ranks() || dst >= n.ranks() || src == dst) throw InputError("no such message");
            return t.phase(src, dst);
          },
          "network"_a, "src"_a, "dst"_a);
  m.def(
      "verify_ring",
      [](const Network& network, const std::vector<Rank>& order, const Demand& demand,
         const std::vector<TurnTuple>& turn) {
        std::vector<TurnWait> waits;
        for (const auto& [waiting, releasing, capacity] : turn) waits.push_back({waiting, releasing, capacity});
        return verify_ring(network, order, demand.pattern, waits);
      },
      "network"_a, "order"_a, "demand"_a, "turn_waits"_a = std::vector<TurnTuple>{},
      "Of a ring in an order of one's own, and with waits, sorted, of one's own.");
  m.def(
      "decode_program",
      [](const nb::bytes& data, Rank rank) {
        return PlanFile({static_cast<const std::uint8_t*>(data.data()), data.size()}).program(rank);
      },
      "data"_a, "rank"_a, "One rank's program, without reading the others.");
}

void add_to_models(nb::module_& m) {
  known<ModelParameters>()
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
      .def_rw("memory_rate", &ModelParameters::memory_rate, "bytes per second between ranks of one host")
      .def_rw("latency_weighted", &ModelParameters::latency_weighted,
              "flows share in inverse proportion to their latency, as SimGrid's CM02 has it");
  known<CostProfile>()
      .def_ro("rate", &CostProfile::rate, "of a host's link")
      .def_ro("latency", &CostProfile::latency, "between two hosts")
      .def_ro("send", &CostProfile::send, "of the sender's processor, for each message")
      .def_ro("receive", &CostProfile::receive, "of the receiver's")
      .def_ro("token", &CostProfile::token, "on top of the latency")
      .def_ro("eager", &CostProfile::eager, "longer messages wait for their receiver")
      .def_ro("wire", &CostProfile::wire, "bytes on the wire for each of a message")
      .def_prop_ro("hosts", [](const CostProfile& one) { return one.contention.host; })
      .def_prop_ro("switch_links", [](const CostProfile& one) { return one.contention.switch_link; });
  m.def("cost_profiles", [] { return std::vector<CostProfile>(cost_profiles().begin(), cost_profiles().end()); });
}

void add_to_two_levels(nb::module_& m) {
  m.def(
      "group_by_host", [](const std::vector<std::uint32_t>& host_of) { return group_by_host(host_of); }, "host_of"_a,
      "From a number for each rank, equal on one host.");
  m.def("demand_between", &demand_between, "groups"_a, "demand"_a, "What hosts exchange for their ranks.");
  known<HostGroups>()
      .def_rw("ranks", &HostGroups::ranks)
      .def("runs", &runs_two_level, "demand"_a, "host_memory"_a, "Whether runs aggregate it in so much memory.");
  nb::class_<TwoLevelExchange> exchange = known<TwoLevelExchange>();
  exchange.def_rw("groups", &TwoLevelExchange::groups)
      .def_rw("memory", &TwoLevelExchange::memory)
      .def_rw("schedule", &TwoLevelExchange::schedule);
  bind_rows<&TwoLevelExchange::puts, CopyRow>(exchange, "puts", "(rank, at, origin, target, offset, length)");
  bind_rows<&TwoLevelExchange::takes, CopyRow>(exchange, "takes", "(rank, at, origin, target, offset, length)");
  bind_rows<&TwoLevelExchange::carries, CarryRow>(exchange, "carries", "(from, to, length), transfer by transfer");
  bind_rows<&TwoLevelExchange::sums, SumRow>(exchange, "sums", "(rank, to, length, [from, …])");
}

void add_to_choices(nb::module_& m) {
  m.def("exact_log", &exact_log, "x"_a);
  m.def("exact_exp", &exact_exp, "x"_a);
  nb::class_<Belief>(m, "Belief", "What is believed of one candidate.")
      .def_ro("seconds", &Belief::seconds, "expected")
      .def_ro("spread", &Belief::spread, "standard deviation of its logarithm")
      .def_ro("calls", &Belief::calls)
      .def_ro("timed", &Belief::timed);
  known<Decision>()
      .def_ro("timed", &Decision::timed)
      .def_ro("limit", &Decision::limit, "seconds; then it gives up its order");
  known<Chooser>()
      .def("recall", &Chooser::recall, "candidate"_a, "seconds"_a)
      .def("seen", &Chooser::seen, "candidate"_a, "calls"_a, "seconds"_a)
      .def("fix_native", &Chooser::fix_native)
      .def("noise", &Chooser::noise, "candidate"_a)
      .def_prop_ro("calls", &Chooser::calls)
      .def_prop_ro("trials", &Chooser::trials)
      .def_prop_ro("beliefs", [](const Chooser& chooser) {
        const auto beliefs = chooser.beliefs();
        return std::vector<Belief>(beliefs.begin(), beliefs.end());
      });
  m.def("size_class", &size_class, "bytes"_a, "Half an octave.");
  m.def(
      "kept_timings_text", [](const std::vector<KeptTimings>& timings) { return kept_timings_text(timings); },
      "timings"_a);
  m.def(
      "merge",
      [](const std::vector<KeptTimings>& kept, const std::vector<KeptTimings>& learned) {
        return merge(kept, learned);
      },
      "kept"_a, "learned"_a);
  m.def("setup_seconds", &setup_seconds, "ranks"_a, "agreement"_a);
  m.def("opening_seconds", &opening_seconds, "ranks"_a);
  m.def("may_open_connections", &may_open_connections, "seconds"_a, "ranks"_a, "wire_seconds"_a);
  m.def(
      "forecast",
      [](std::uint64_t phases, double wire, std::uint32_t window, double step, double native, std::uint64_t segments,
         bool rendezvous) { return forecast({phases, wire, window, segments, rendezvous}, {step, native}); },
      "phases"_a, "wire_seconds"_a, "window"_a, "step_seconds"_a, "native_seconds"_a = 0.0, "segments"_a = 1,
      "rendezvous"_a = false);
  nb::class_<Candidate>(m, "Candidate", "A way in which a call can be served.")
      .def_ro("name", &Candidate::name)
      .def_ro("window", &Candidate::window, "messages of a rank that may be unacknowledged; 0: the library's own call")
      .def_ro("free", &Candidate::free, "nobody waits for a turn")
      .def_ro("large", &Candidate::large, "segments of large_segment bytes")
      .def_ro("two_level", &Candidate::two_level, "one message between two hosts")
      .def_ro("all_lead", &Candidate::all_lead, "every rank of a host carries some of its aggregates");
  m.attr("large_segment") = large_segment;
  m.def(
      "offered",
      [](std::size_t bytes, int ranks, std::uint32_t usual_window, std::size_t segment) {
        const CallFacts facts{.bytes = bytes, .ranks = ranks, .usual_window = usual_window, .segment = segment};
        std::vector<Candidate> found;
        for (const Candidate& one : all_candidates)
          if (is_offered(one, facts)) found.push_back(one);
        return found;
      },
      "bytes"_a, "ranks"_a, "usual_window"_a, "segment"_a,
      "The candidates of a call whose messages have segments as usual, in the table's order; aggregates need hosts "
      "with several ranks.");
  m.def("simulated_seconds", &simulated_seconds, "network"_a, "schedule"_a, "candidate"_a, "costs"_a,
        "None: the library carries the messages, or there are too many.", nb::call_guard<nb::gil_scoped_release>());
  m.def("costs_of_steps", &costs_of_steps, "network"_a, "step_seconds"_a, "overhead"_a);
  m.def("in_a_crowd", &in_a_crowd, "seconds"_a, "native_seconds"_a, "candidate"_a);
}

}  // namespace

void add_to_core(nb::module_& m) {
  add_to_networks(m);
  add_to_schedules(m);
  add_to_models(m);
  add_to_two_levels(m);
  nb::module_ choose = nb::borrow<nb::module_>(m.attr("choose"));
  add_to_choices(choose);
}
