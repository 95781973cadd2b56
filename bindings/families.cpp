#include "core/network/families.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "bindings.hpp"
#include "core/network/network.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using hocket::Network;
using hocket::NetworkSpec;

namespace {

using Numbers = std::vector<std::uint32_t>;

/// (node, node, rate, latency) per link.
nb::list links_of(const NetworkSpec& spec) {
  nb::list links;
  for (const hocket::LinkSpec& link : spec.links) links.append(nb::make_tuple(link.a, link.b, link.rate, link.latency));
  return links;
}

NetworkSpec fat_tree(const Numbers& down, const Numbers& up, const Numbers& cables, double rate, double latency,
                     std::uint32_t ranks, std::vector<std::string> names) {
  NetworkSpec spec = hocket::fat_tree_spec(down, up, cables, {rate, latency, ranks});
  if (names.empty()) return spec;
  if (names.size() != spec.names.size()) throw hocket::InputError("a fat tree needs one name per node");
  spec.names = std::move(names);
  return spec;
}

}  // namespace

void bind_families(nb::module_& m) {
  nb::class_<NetworkSpec>(m, "NetworkSpec", "Nodes and links of a family of networks, unchecked.")
      .def_prop_ro("names", [](const NetworkSpec& s) { return s.names; })
      .def_prop_ro(
          "ranks", [](const NetworkSpec& s) { return s.ranks; }, "per node, 0 for a switch")
      .def_prop_ro("links", &links_of, "(node, node, rate, latency) per link, in bytes per second and seconds");
  m.def(
      "build",
      [](std::unique_ptr<NetworkSpec, nb::deleter<NetworkSpec>> spec) {
        nb::gil_scoped_release release;
        return Network(std::move(*spec));
      },
      "spec"_a, "The network, with all checks made; it takes over the specification, which is of no use afterwards.");

  m.def(
      "tree_spec",
      [](const std::vector<std::int32_t>& parents, const Numbers& hosts, double rate, double latency,
         std::uint32_t ranks) { return hocket::tree_spec(parents, hosts, {rate, latency, ranks}); },
      "parents"_a, "hosts"_a, "rate"_a, "latency"_a, "ranks"_a,
      "A tree of switches, each with the one above it, -1 for none, and its number of hosts.");
  m.def(
      "fat_tree_spec", &fat_tree, "down"_a, "up"_a, "cables"_a, "rate"_a, "latency"_a, "ranks"_a,
      "names"_a = std::vector<std::string>{},
      "An extended generalised fat tree; a level each of children, parents and parallel cables. `names`: of all nodes, "
      "level by level from the hosts.");
  m.def(
      "dragonfly_spec",
      [](std::uint32_t groups, std::uint32_t routers, std::uint32_t hosts, std::uint32_t between, double rate,
         double latency, std::uint32_t ranks) {
        return hocket::dragonfly_spec(groups, routers, hosts, between, {rate, latency, ranks});
      },
      "groups"_a, "routers"_a, "hosts"_a, "between"_a, "rate"_a, "latency"_a, "ranks"_a,
      "Groups of routers with hosts, and links between any two groups.");
  m.def(
      "dragonfly_plus_spec",
      [](std::uint32_t groups, std::uint32_t leaves, std::uint32_t hosts, std::uint32_t spines, std::uint32_t between,
         double rate, double latency, std::uint32_t ranks) {
        return hocket::dragonfly_plus_spec(groups, leaves, hosts, spines, between, {rate, latency, ranks});
      },
      "groups"_a, "leaves"_a, "hosts"_a, "spines"_a, "between"_a, "rate"_a, "latency"_a, "ranks"_a,
      "Groups of leaves with hosts and spines, and links between any two groups.");
}
