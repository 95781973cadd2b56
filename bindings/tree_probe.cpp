#include "core/network/tree_probe.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using hocket::Bottleneck;
using hocket::TreeProbe;
using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

void bind_tree_probe(nb::module_& m) {
  nb::class_<Bottleneck>(m, "Bottleneck", "Hosts that share one rate to all others.")
      .def_prop_ro(
          "hosts",
          [](const Bottleneck& b) {
            std::vector<std::uint32_t> hosts;
            for (std::uint32_t host = 0; host < b.hosts.size(); ++host)
              if (b.hosts[host]) hosts.push_back(host);
            return hosts;
          },
          "at most half of all, in order")
      .def_ro("out", &Bottleneck::out, "bytes per second to all others; infinite if its hosts do not use it up")
      .def_ro("into", &Bottleneck::in, "bytes per second from all others");
  nb::class_<TreeProbe>(m, "TreeProbe", "Which streams to measure next, and the tree that their rates tell.")
      .def(nb::init<std::uint32_t, std::uint64_t, std::uint32_t>(), "hosts"_a, "seed"_a, "most"_a,
           "most: rounds that may be asked for, about")
      .def_static(
          "checking",
          [](std::vector<double> out, std::vector<double> into,
             const std::vector<std::tuple<std::vector<std::uint32_t>, double, double>>& bottlenecks,
             std::uint64_t seed) {
            hocket::MeasuredTree known{std::move(out), std::move(into), {}};
            for (const auto& [hosts, from, to] : bottlenecks) {
              Bottleneck each{hocket::HostSet(known.out.size(), 0), from, to};
              for (const std::uint32_t host : hosts) {
                if (host >= each.hosts.size()) throw hocket::InputError("a bottleneck of a host that is not there");
                each.hosts[host] = 1;
              }
              known.bottlenecks.push_back(std::move(each));
            }
            return TreeProbe(std::move(known), seed);
          },
          "out"_a, "into"_a, "bottlenecks"_a, "seed"_a,
          "asks for the permutations alone that check what is known: rates of hosts; hosts, out and into of "
          "bottlenecks")
      .def(
          "next",
          [](const TreeProbe& p) {
            Pairs pairs;
            for (const hocket::Stream& stream : p.next()) pairs.emplace_back(stream.from, stream.to);
            return pairs;
          },
          "streams (from, to) that go on at once; none when all is done")
      .def_prop_ro("doing", &TreeProbe::doing)
      .def("add", &TreeProbe::add, "rates"_a, nb::call_guard<nb::gil_scoped_release>(), "bytes per second of each")
      .def_prop_ro(
          "out", [](const TreeProbe& p) { return p.tree().out; }, "bytes per second of each host")
      .def_prop_ro("into", [](const TreeProbe& p) { return p.tree().in; })
      .def_prop_ro(
          "bottlenecks", [](const TreeProbe& p) { return p.tree().bottlenecks; }, "nested or disjoint")
      .def_prop_ro("rounds", &TreeProbe::rounds)
      .def_prop_ro("errors", &TreeProbe::errors, "relative, of each permutation that was not used")
      .def_prop_ro("by_pairing", &TreeProbe::by_pairing, "how much bottlenecks differ by who sends to whom")
      .def_prop_ro("by_repeat", &TreeProbe::by_repeat, "and when the same is repeated");
}
