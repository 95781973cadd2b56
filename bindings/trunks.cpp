#include "core/network/trunks.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using hocket::Network;

namespace {

Network network_with_widths(const Network& network, const std::vector<std::pair<std::uint32_t, double>>& widths) {
  std::vector<hocket::TrunkWidth> given;
  for (const auto& [link, width] : widths) {
    if (link >= network.spec().links.size()) throw hocket::InputError("no such link");
    given.push_back({link, width});
  }
  return hocket::with_widths(network, given);
}

}  // namespace

void bind_trunks(nb::module_& m) {
  using hocket::Trunk;
  nb::class_<Trunk>(m, "Trunk", "A link between switches with at least two hosts on either side.")
      .def_ro("link", &Trunk::link, "index into Network.links")
      .def_ro("hosts", &Trunk::hosts, "on the side that has fewer")
      .def_ro("level", &Trunk::level, "links from that side's end of the trunk to its farthest host");
  m.def("trunks", &hocket::trunks, "network"_a, "Of a tree, in the order of links; none of other networks.");
  m.def("only_ports_shared", &hocket::only_ports_shared, "network"_a,
        "Whether messages can only be in each other's way at the ports of ranks.");
  m.def(
      "trunk_pairs",
      [](const Network& n, std::uint32_t link) {
        if (link >= n.spec().links.size()) throw hocket::InputError("no such link");
        return hocket::trunk_pairs(n, link);
      },
      "network"_a, "link"_a, "Disjoint pairs of hosts (nodes) that find out together how wide the link is.");
  m.def("pair_without_trunk", &hocket::pair_without_trunk, "network"_a,
        "Two hosts (nodes) of one switch, in a list; an empty one if there are none.");
  m.def(
      "representatives",
      [](const std::vector<Trunk>& trunks, std::size_t most) { return hocket::representatives(trunks, most); },
      "trunks"_a, "most"_a, "For each trunk, the index of the one that is measured for it.");
  m.def("settled_width", &hocket::settled_width, "measured"_a, "pairs"_a,
        "What a measured width stands for, in hosts' speeds; at most `pairs`.");
  m.def("with_widths", &network_with_widths, "network"_a, "widths"_a,
        "The network with other rates of some links: (link, width in hosts' speeds).");
}
