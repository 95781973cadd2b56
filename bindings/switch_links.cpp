#include "core/network/switch_links.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using hocket::Network;

namespace {

Network network_with_widths(const Network& network, const std::vector<std::pair<std::uint32_t, double>>& widths) {
  std::vector<hocket::SwitchLinkWidth> given;
  for (const auto& [link, width] : widths) {
    if (link >= network.spec().links.size()) throw hocket::InputError("no such link");
    given.push_back({link, width});
  }
  return hocket::with_widths(network, given);
}

}  // namespace

void bind_switch_links(nb::module_& m) {
  using hocket::SwitchLink;
  nb::class_<SwitchLink>(m, "SwitchLink", "A link between switches with at least two hosts on either side.")
      .def_ro("link", &SwitchLink::link, "index into Network.links")
      .def_ro("hosts", &SwitchLink::hosts, "on the side that has fewer")
      .def_ro("level", &SwitchLink::level, "links from that side's end of the inter-switch link to its farthest host");
  m.def("switch_links", &hocket::switch_links, "network"_a,
        "Of a tree, in the order of links; none of other networks.");
  m.def("only_ports_shared", &hocket::only_ports_shared, "network"_a,
        "Whether messages can only be in each other's way at the ports of ranks.");
  m.def(
      "switch_link_pairs",
      [](const Network& n, std::uint32_t link) {
        if (link >= n.spec().links.size()) throw hocket::InputError("no such link");
        return hocket::switch_link_pairs(n, link);
      },
      "network"_a, "link"_a, "Disjoint pairs of hosts (nodes) that find out together how wide the link is.");
  m.def("pair_without_switch_link", &hocket::pair_without_switch_link, "network"_a,
        "Two hosts (nodes) of one switch, in a list; an empty one if there are none.");
  m.def(
      "representatives",
      [](const std::vector<SwitchLink>& switch_links, std::size_t most) {
        return hocket::representatives(switch_links, most);
      },
      "switch_links"_a, "most"_a, "For each inter-switch link, the index of the one that is measured for it.");
  m.def("settled_width", &hocket::settled_width, "measured"_a, "pairs"_a,
        "What a measured width stands for, in hosts' speeds; at most `pairs`.");
  m.def("with_widths", &network_with_widths, "network"_a, "widths"_a,
        "The network with other rates of some links: (link, width in hosts' speeds).");
}
