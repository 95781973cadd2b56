#include "core/network/switch_links.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using hocket::Network;

void bind_switch_links(nb::module_& m) {
  using hocket::SwitchLink;
  nb::class_<SwitchLink>(m, "SwitchLink", "A link between switches with at least two hosts on either side.")
      .def_ro("link", &SwitchLink::link, "index into Network.links")
      .def_ro("hosts", &SwitchLink::hosts, "on the side that has fewer")
      .def_ro("level", &SwitchLink::level, "links from that side's end of the inter-switch link to its farthest host");
  m.def("switch_links", &hocket::switch_links, "network"_a,
        "Of a tree, in the order of links; none of other networks.");
  m.def(
      "switch_link_pairs",
      [](const Network& n, std::uint32_t link) {
        if (link >= n.spec().links.size()) throw hocket::InputError("no such link");
        return hocket::switch_link_pairs(n, link);
      },
      "network"_a, "link"_a, "Disjoint pairs of hosts (nodes) that find out together how wide the link is.");
  m.def("settled_width", &hocket::settled_width, "measured"_a, "pairs"_a,
        "What a measured width stands for, in hosts' speeds; at most `pairs`.");
}
