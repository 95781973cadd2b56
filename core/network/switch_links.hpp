#pragma once
/// The links between switches of a tree, and which hosts must talk to find out how wide one is.
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/network/network.hpp"

namespace hocket {

/// A link with at least two hosts on either side. A link with fewer carries no more than that host's own link: no
/// schedule gains or loses by its width.
struct SwitchLink {
  std::uint32_t link = 0;   ///< index into NetworkSpec::links
  std::uint32_t hosts = 0;  ///< on the side that has fewer
  std::uint32_t level = 0;  ///< links from that side's end of the inter-switch link to its farthest host
  bool operator==(const SwitchLink&) const = default;
};

/// The network's inter-switch links with at least two hosts on either side, in the order of links. Hosts are nodes with
/// ranks; none where the network is no tree.
[[nodiscard]] std::vector<SwitchLink> switch_links(const Network& network);

/// True if messages can only contend at the ports of ranks, whoever sends to whom: a tree with one rank a host, all of
/// one speed, and with inter-switch links that carry as many messages as there are hosts on the side that has fewer.
/// Where every rank sends and receives one message at a time nothing else needs to be kept in order.
[[nodiscard]] bool only_ports_shared(const Network& network);

using HostPair = std::pair<Node, Node>;

/// Disjoint pairs of hosts, one on each side of the link, as many as the side with fewer hosts has; the host of that
/// side is the first of each pair. Partners are the nearest ones, taken from the switches there in proportion to their
/// hosts, so that the load of no other link comes closer to its width than that of this one where oversubscription does
/// not decrease towards the root. In any tree all pairs together draw at most what the link carries.
[[nodiscard]] std::vector<HostPair> switch_link_pairs(const Network& network, std::uint32_t link);

/// Two hosts whose route to each other crosses no Inter-switch link, if there are such.
[[nodiscard]] std::vector<HostPair> pair_without_switch_link(const Network& network);

/// The inter-switch link that is measured in place of each: itself, if they are no more than `most`; else the first one
/// of its level with as many hosts; or, where these are too many, too, the first one of its level.
[[nodiscard]] std::vector<std::size_t> representatives(std::span<const SwitchLink> switch_links, std::size_t most);

/// The link width that a measurement stands for, in hosts' speeds. Measurements differ somewhat from the rates of the
/// wires, mostly downwards. Within 8 % of all pairs the width is that many (or more: nobody knows); within 8 % of a
/// usual share of them (1/1.5, 1/2, 1/3, 1/4, 1/6, 1/8), or else of a whole number, it is that; otherwise it keeps two
/// digits.
[[nodiscard]] double settled_width(double measured, std::uint32_t pairs);
/// True if all pairs ran at full speed: the link may be wider still.
[[nodiscard]] inline bool carries_all(double measured, std::uint32_t pairs) {
  return settled_width(measured, pairs) >= pairs;
}

/// Width of a link in hosts' speeds.
struct SwitchLinkWidth {
  std::uint32_t link;
  double width;
};
/// The network with other rates of some links: width × host_rate().
[[nodiscard]] Network with_widths(const Network& network, std::span<const SwitchLinkWidth> widths);

}  // namespace hocket
