#include "bindings.hpp"
#include "core/network/alternatives.hpp"
#include "core/network/switch_links.hpp"
#include "core/schedule/bounds.hpp"
#include "core/two_level/exchange.hpp"

template <>
inline constexpr auto fields<Equipment> = std::tuple(&Equipment::rate, &Equipment::latency, &Equipment::ranks);

namespace {

using Names = std::vector<std::string>;
using Numbers = std::vector<std::uint32_t>;
using Reals = std::vector<double>;
using Hops = std::vector<std::tuple<std::uint32_t, std::optional<std::uint32_t>, std::uint32_t>>;
using Routes = std::vector<RouteSpec>;

Network build_linked(Shape shape, Names names, Numbers ranks, const Numbers& a, const Numbers& b, const Reals& rates,
                     const Reals& latencies, Numbers ports, const Hops& next_hops = {}, Numbers forwards = {}) {
  if (a.size() != b.size() || a.size() != rates.size() || a.size() != latencies.size())
    throw InputError("the lists that describe the links differ in length");
  NetworkSpec spec;
  spec.shape = shape;
  spec.names = std::move(names);
  spec.ranks = std::move(ranks);
  spec.links.reserve(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) spec.links.push_back({a[i], b[i], rates[i], latencies[i]});
  spec.ports = std::move(ports);
  spec.forwards = std::move(forwards);
  for (const auto& [at, to, channel] : next_hops)
    spec.next_hops.push_back({at, to.value_or(HopSpec::every_host), channel});
  nb::gil_scoped_release release;
  return Network::with_routes(std::move(spec));
}

Shape grid_shape(const std::string& kind) {
  if (kind == "torus") return Shape::torus;
  if (kind == "mesh") return Shape::mesh;
  if (kind == "hypercube") return Shape::hypercube;
  throw InputError("'" + kind + "' is not torus, mesh or hypercube");
}

Network build_grid(const std::string& kind, const Numbers& sides, double rate, double latency, Names names,
                   std::uint32_t ranks, Names ties, std::uint32_t ports) {
  NetworkSpec spec = grid_spec(grid_shape(kind), sides, rate, latency);
  if (!ties.empty()) spec.ties = std::move(ties);
  if (!names.empty()) {
    if (names.size() != spec.names.size()) throw InputError("a grid needs one name per host");
    spec.names = std::move(names);
  }
  spec.ranks.assign(spec.names.size(), ranks);
  if (ports != 1) spec.ports.assign(spec.names.size(), ports);
  return Network::with_routes(std::move(spec));
}

Network build_routed(Names names, Numbers ranks, const Names& channels, const Reals& rates, const Reals& latencies,
                     Routes routes, Numbers ports) {
  if (channels.size() != rates.size() || channels.size() != latencies.size())
    throw InputError("the lists that describe the channels differ in length");
  NetworkSpec spec;
  spec.shape = Shape::routed;
  spec.names = std::move(names);
  spec.ranks = std::move(ranks);
  spec.ports = std::move(ports);
  for (std::size_t i = 0; i < channels.size(); ++i) spec.channels.push_back({channels[i], rates[i], latencies[i]});
  spec.routes = std::move(routes);
  return Network::with_routes(std::move(spec));
}

Channel checked(const Network& network, Channel channel) {
  if (channel >= network.channels()) throw InputError("no such channel");
  return channel;
}

Hops next_hops_of(const Network& network) {
  Hops hops;
  for (const HopSpec& hop : network.spec().next_hops)
    hops.emplace_back(hop.at, hop.to == HopSpec::every_host ? std::nullopt : std::optional(hop.to), hop.channel);
  return hops;
}

std::vector<std::pair<Node, Node>> links_of(const Network& network) {
  std::vector<std::pair<Node, Node>> links;
  for (const LinkSpec& link : network.spec().links) links.emplace_back(link.a, link.b);
  return links;
}

NetworkSpec fat_tree(const Numbers& down, const Numbers& up, const Numbers& cables, const Equipment& equipment,
                     Names names) {
  NetworkSpec spec = fat_tree_spec(down, up, cables, equipment);
  if (names.empty()) return spec;
  if (names.size() != spec.names.size()) throw InputError("a fat tree needs one name per node");
  spec.names = std::move(names);
  return spec;
}

void bind_families(nb::module_& m) {
  // `equipment` of all links and hosts: (rate, latency, ranks a host).
  nb::class_<NetworkSpec>(m, "NetworkSpec", "Nodes and links of a family of networks, unchecked.")
      .def_static("tree", &tree_spec, "parents"_a, "hosts"_a, "equipment"_a,
                  "A tree of switches, each with the one above it, -1 for none, and its number of hosts.")
      .def_static(
          "fat_tree", &fat_tree, "down"_a, "up"_a, "cables"_a, "equipment"_a, "names"_a = Names{},
          "An extended generalised fat tree; a level each of children, parents and parallel cables. `names`: of "
          "all nodes, level by level from the hosts.")
      .def_static("dragonfly", &dragonfly_spec, "groups"_a, "routers"_a, "hosts"_a, "between"_a, "equipment"_a,
                  "Groups of routers with hosts, and links between any two groups.")
      .def_static("dragonfly_plus", &dragonfly_plus_spec, "groups"_a, "leaves"_a, "hosts"_a, "spines"_a, "between"_a,
                  "equipment"_a, "Groups of leaves with hosts and spines, and links between any two groups.")
      .def_ro("names", &NetworkSpec::names)
      .def_ro("ranks", &NetworkSpec::ranks, "per node, 0 for a switch")
      .def_ro("links", &NetworkSpec::links, "(node, node, rate, latency) per link, in bytes per second and seconds");
}

}  // namespace

void bind_network(nb::module_& m) {
  nb::enum_<Shape>(m, "Shape")
      .value("tree", Shape::tree)
      .value("graph", Shape::graph)
      .value("torus", Shape::torus)
      .value("mesh", Shape::mesh)
      .value("hypercube", Shape::hypercube)
      .value("routed", Shape::routed);

  nb::class_<Network>(m, "Network", "Hosts, switches and directed channels; immutable and checked.")
      .def_prop_ro("shape", &Network::shape)
      .def_prop_ro("nodes", &Network::nodes)
      .def_prop_ro("ranks", &Network::ranks)
      .def_prop_ro("channels", &Network::channels)
      .def_prop_ro("names", [](const Network& n) { return n.spec().names; })
      .def(
          "name_of",
          [](const Network& n, Node node) {
            if (node >= n.nodes()) throw InputError("no such node");
            return n.spec().names[node];
          },
          "node"_a, "one of `names`, of which each reading makes a list anew")
      .def_prop_ro("ranks_per_node", [](const Network& n) { return n.spec().ranks; })
      .def_prop_ro("links", &links_of, "(node, node) per link; channel 2i goes from the first to the second")
      .def_prop_ro("sides", [](const Network& n) { return n.spec().sides; })
      .def_prop_ro("ties", [](const Network& n) { return n.spec().ties; })
      .def_prop_ro(
          "ports", [](const Network& n) { return n.spec().ports; },
          "messages that each rank of a host sends, and receives, at once, per node; none: one")
      .def_prop_ro(
          "forwards", [](const Network& n) { return n.spec().forwards; },
          "1 for hosts that pass on what is for others, per node; none: no host does, or all of a grid")
      .def_prop_ro("next_hops", &next_hops_of, "forwarding tables: (node, destination or None for all others, channel)")
      .def_prop_ro("hosts", &Network::hosts)
      .def_prop_ro("host_rate", &Network::host_rate, "full host speed, bytes per second")
      .def_prop_ro("equal_rates", &Network::equal_rates)
      .def("host_of",
           [](const Network& n, Rank rank) {
             if (rank >= n.ranks()) throw InputError("no such rank");
             return n.host_of(rank);
           })
      .def(
          "rate", [](const Network& n, Channel c) { return n.rate(checked(n, c)); }, "bytes per second")
      .def(
          "latency", [](const Network& n, Channel c) { return n.latency(checked(n, c)); }, "seconds")
      .def(
          "capacity", [](const Network& n, Channel c) { return n.capacity(checked(n, c)); },
          "messages at full host speed that the channel carries at once")
      .def("channel_name", [](const Network& n, Channel c) { return n.channel_name(checked(n, c)); })
      .def(
          "route",
          [](const Network& n, Rank src, Rank dst) {
            if (src >= n.ranks() || dst >= n.ranks()) throw InputError("no such rank");
            return n.route(src, dst);
          },
          "src"_a, "dst"_a, "the channels from one rank to another, in order")
      .def(
          "match_host", [](const Network& n, const Names& names) { return match_host(n, names).hosts; }, "names"_a,
          "hosts that a machine of these names may be, the best name first: one, none, or several if it is not certain")
      .def("restricted_to", &Network::restricted_to, "ranks_per_node"_a,
           "the same network and routes with fewer ranks, as a smaller communicator sees it")
      .def("rerouted", &rerouted, "routes"_a, "explicit routes (from, to, channels), and its own for all other pairs")
      .def(
          "equal_ways",
          [](const Network& n, Node src, Node dst, std::size_t most) {
            if (src >= n.nodes() || dst >= n.nodes()) throw InputError("no such host");
            return equal_ways(n.spec(), src, dst, most);
          },
          "src"_a, "dst"_a, "most"_a, "the shortest ways between two hosts of a graph, as channels")
      .def("switch_links", &switch_links, "of a tree, in the order of links; none of other networks")
      .def("balanced", &balance_routes, "demand"_a, unlocked(),
           "with other ties (torus) or next hops (graph) where those even the loads, else as it is; the next hops of a "
           "graph without tables, written out")
      .def("host_groups", &groups_of)
      .def("one_rank_a_host", &one_rank_a_host, "the same network with one rank on every host")
      .def("cost_profile", &profile_of, "the profile nearest to the rate and latency of hosts")
      .def_static(
          "tree",
          [](Names names, Numbers ranks, const Numbers& a, const Numbers& b, const Reals& rates, const Reals& latencies,
             Numbers ports) {
            return build_linked(Shape::tree, std::move(names), std::move(ranks), a, b, rates, latencies,
                                std::move(ports));
          },
          "names"_a, "ranks"_a, "link_a"_a, "link_b"_a, "rates"_a, "latencies"_a, "ports"_a = Numbers{},
          "A tree of switches. Ports: messages that each rank of a host sends, and receives, at once, per node; none: "
          "one.")
      .def_static(
          "graph",
          [](Names names, Numbers ranks, const Numbers& a, const Numbers& b, const Reals& rates, const Reals& latencies,
             const Hops& next_hops, Numbers ports, Numbers forwards) {
            return build_linked(Shape::graph, std::move(names), std::move(ranks), a, b, rates, latencies,
                                std::move(ports), next_hops, std::move(forwards));
          },
          "names"_a, "ranks"_a, "link_a"_a, "link_b"_a, "rates"_a, "latencies"_a, "next_hops"_a = Hops{},
          "ports"_a = Numbers{}, "forwards"_a = Numbers{},
          "Any connected graph, routed along shortest paths, or by forwarding tables: (node, destination, channel), "
          "the "
          "destination None for every one that has no entry of its own and no link to the node. Ports as of a tree; "
          "forwards: 1 for hosts that pass on what is for others, per node.")
      .def_static("grid", &build_grid, "kind"_a, "sides"_a, "rate"_a, "latency"_a, "names"_a = Names{}, "ranks"_a = 1,
                  "ties"_a = Names{}, "ports"_a = 1,
                  "A torus, mesh or hypercube; hosts are named by their coordinates unless names are given; ties by "
                  "parity unless given, one text of '+' and '-' per side.")
      .def_static("ties_by_rule", &ties_by_rule, "rule"_a, "sides"_a, "The ties of a torus: \"up\" or \"parity\".")
      .def_static("routed", &build_routed, "names"_a, "ranks"_a, "channel_names"_a, "channel_rates"_a,
                  "channel_latencies"_a, "routes"_a, "ports"_a = Numbers{},
                  "Hosts, channels and explicit routes. Ports as of a tree.")
      .def_static(
          "of_spec",
          [](std::unique_ptr<NetworkSpec, nb::deleter<NetworkSpec>> spec) {
            nb::gil_scoped_release release;
            return Network::with_routes(std::move(*spec));
          },
          "spec"_a, "With all checks made; it takes over the specification, which is of no use afterwards.");

  nb::class_<SwitchLink>(m, "SwitchLink", "A link between switches with at least two hosts on either side.")
      .def_ro("link", &SwitchLink::link, "index into Network.links")
      .def_ro("hosts", &SwitchLink::hosts, "on the side that has fewer")
      .def_ro("level", &SwitchLink::level, "links from that side's end of the inter-switch link to its farthest host")
      .def_static("settled_width", &settled_width, "measured"_a, "pairs"_a,
                  "What a measured width stands for, in hosts' speeds; at most `pairs`.");
  m.def("least_load", &least_load, "rates"_a, "items"_a, unlocked(),
        "For each item the option (channels) such that the fullest channel carries little; its number.");
  m.def("disjoint_ways", &disjoint_ways, "channels"_a, "items"_a, "budget"_a, unlocked(),
        "For each item the option (channels) such that no channel is in two of them; None where none is found.");
  bind_families(m);
}

void bind_tree_probe(nb::module_& m) {
  nb::class_<TreeProbe> probe(m, "TreeProbe", "Which streams to measure next, and the tree that their rates tell.");
  nb::class_<Bottleneck>(probe, "Bottleneck", "Hosts that share one rate to all others.")
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
  probe
      .def(nb::init<std::uint32_t, std::uint64_t, std::uint32_t>(), "hosts"_a, "seed"_a, "most"_a,
           "most: rounds that may be asked for, about")
      .def_static(
          "checking",
          [](std::vector<double> out, std::vector<double> into,
             const std::vector<std::tuple<std::vector<std::uint32_t>, double, double>>& bottlenecks,
             std::uint64_t seed) {
            MeasuredTree known{std::move(out), std::move(into), {}};
            for (const auto& [hosts, from, to] : bottlenecks) {
              Bottleneck each{HostSet(known.out.size(), 0), from, to};
              for (const std::uint32_t host : hosts) {
                if (host >= each.hosts.size()) throw InputError("a bottleneck of a host that is not there");
                each.hosts[host] = 1;
              }
              known.bottlenecks.push_back(std::move(each));
            }
            return TreeProbe(std::move(known), seed);
          },
          "out"_a, "into"_a, "bottlenecks"_a, "seed"_a,
          "asks for the permutations alone that check what is known: rates of hosts; hosts, out and into of "
          "bottlenecks")
      .def("next", &TreeProbe::next, "streams (from, to) that go on at once; none when all is done")
      .def_prop_ro("doing", &TreeProbe::doing)
      .def("add", &TreeProbe::add, "rates"_a, unlocked(), "bytes per second of each")
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
