"""SimGrid platform XML, version 4.1.

A lone cluster becomes a tree, graph or torus. A lone Floyd or Dijkstra zone that wires hosts and routers by
split-duplex links becomes a tree or graph. Everything else becomes explicit routes between all hosts."""

from collections.abc import Callable
from typing import Final

from hocket.errors import NetworkError
from hocket.network.description import NetworkDescription, suggestion
from hocket.network.parts import Channel, Defaults, Link, Routing
from hocket.network.readers.simgrid_cluster import Cluster, Element, describe_cluster, parse, read_cluster
from hocket.network.readers.simgrid_zones import (
    DOWN,
    NONE,
    UP,
    Hop,
    Platform,
    Route,
    Wire,
    Zone,
    backbone_wire,
    host_wire,
)
from hocket.network.source import Source, shown

MAX_ROUTED_HOSTS: Final = 512  # explicit routes grow with the square
MAX_HOPS: Final = 20_000_000

_ROUTINGS: Final = ("FULL", "FLOYD", "DIJKSTRA", "DIJKSTRACACHE", "NONE")
_IGNORED: Final = (
    "prop", "config", "trace", "trace_connect", "storage", "storage_type", "mount", "disk", "model_prop",
    "actor", "process", "argument",
)  # fmt: skip
_KNOWN: Final = ("zone", "AS", "host", "router", "link", "route", "zoneRoute", "ASroute", "cluster")
_DIRECTIONS: Final = {"NONE": NONE, "UP": UP, "DOWN": DOWN}


def sniff(source: Source) -> bool:
    return source.is_file and source.text.lstrip().startswith("<")


def read(source: Source, defaults: Defaults) -> NetworkDescription:
    """The network of a platform file; hosts in the order of the file."""
    root = parse(source)
    if root.tag != "platform":
        raise root.error(f"<{shown(root.tag)[1:-1]}> is not a SimGrid platform", "begin with <platform>")
    if root.get("version", "4.1") not in ("4", "4.0", "4.1"):
        raise root.error(
            f"platform version {shown(root.get('version'))}", "convert it with simgrid_update_xml"
        )
    platform = _Reader(source).read(root)
    clusters = [zone.cluster for zone in platform.zones.values() if zone.cluster is not None]
    if not platform.hosts:
        raise source.error("the platform has no hosts", remedy="add <host> or <cluster>")
    alone = len(clusters) == 1 and len(platform.hosts) == len(clusters[0].hosts)
    if alone and (clusters[0].topology != "FLAT" or clusters[0].is_star):
        return describe_cluster(clusters[0], defaults)
    for cluster in clusters:
        if cluster.topology != "FLAT":
            raise cluster.element.error(
                f"a {cluster.topology} cluster is understood only when it is the whole platform",
                "describe the rest in another file",
            )
    return _plain_graph(platform, defaults) or _routed(platform, defaults, clusters)


class _Reader:
    """Walks the elements into a :class:`Platform`."""

    def __init__(self, source: Source) -> None:
        self.platform = Platform(source)
        self.names: dict[str, Element] = {}
        self.routes: list[tuple[Zone, Element]] = []
        self.actions: dict[str, Callable[[Element, Zone], None]] = {
            "zone": self._zone,
            "AS": self._zone,
            "host": self._host,
            "router": self._router,
            "link": self._link,
            "cluster": self._cluster,
            "route": self._remember,
            "zoneRoute": self._remember,
            "ASroute": self._remember,
        }

    def read(self, root: Element) -> Platform:
        outside = Zone("", "NONE", root, None)
        self._children(root, outside)
        for zone, element in self.routes:
            self._route(zone, element)
        return self.platform

    def _children(self, element: Element, zone: Zone) -> None:
        for child in element.children:
            if (action := self.actions.get(child.tag)) is not None:
                action(child, zone)
            elif child.tag not in _IGNORED:
                raise child.error(
                    f"<{shown(child.tag)[1:-1]}> is not understood",
                    suggestion(child.tag, _KNOWN) or f"known are {', '.join(_KNOWN)}",
                )

    def _claim(self, name: str, element: Element, zone: Zone) -> None:
        if (first := self.names.setdefault(name, element)) is not element:
            raise element.error(
                f"{shown(name)} is defined twice, first at {first.source.at(first.line)}",
                "give each its own id",
            )
        zone.points[name] = element.line

    def _new_zone(self, element: Element, parent: Zone, routing: str) -> Zone:
        name = element.get("id")
        self._claim(name, element, parent)
        zone = Zone(name, routing, element, parent, depth=parent.depth + 1)
        self.platform.zones[name] = zone
        return zone

    def _zone(self, element: Element, parent: Zone) -> None:
        if (routing := element.get("routing", "Full").upper()) not in _ROUTINGS:
            raise element.error(
                f"routing {shown(routing)} is not understood",
                "use Full, Floyd or Dijkstra with explicit routes",
            )
        self._children(element, self._new_zone(element, parent, routing))

    def _place(self, name: str, element: Element, zone: Zone) -> None:
        if zone.parent is None:
            raise element.error(f"{shown(name)} is in no zone", "put a <zone> around it")
        self._claim(name, element, zone)
        self.platform.home[name] = zone

    def _host(self, element: Element, zone: Zone) -> None:
        self._place(element.get("id"), element, zone)
        self.platform.hosts[element.get("id")] = element.line

    def _router(self, element: Element, zone: Zone) -> None:
        self._place(element.get("id"), element, zone)

    def _link(self, element: Element, zone: Zone) -> None:
        name = element.get("id")
        rate, latency = element.rate("bandwidth"), element.time("latency", "0")
        wire = Wire(name, rate, latency, element.policy("sharing_policy", "SHARED"), element.line)
        if (first := self.platform.wires.setdefault(name, wire)) is not wire:
            raise element.error(
                f"link {shown(name)} is defined twice, first in line {first.line}", "rename one"
            )

    def _cluster(self, element: Element, parent: Zone) -> None:
        cluster = read_cluster(element)
        zone = self._new_zone(element, parent, "CLUSTER")
        zone.cluster = cluster
        self._place(cluster.router, element, zone)
        for host in cluster.hosts:
            if host in zone.points:
                raise element.error(f"host {shown(host)} is in the cluster twice", "correct radical")
            self._place(host, element, zone)
            self.platform.hosts[host] = element.line

    def _remember(self, element: Element, zone: Zone) -> None:
        # Links may be defined after the routes that use them.
        self.routes.append((zone, element))

    def _route(self, zone: Zone, element: Element) -> None:
        between_zones = element.tag != "route"
        src, dst = element.get("src"), element.get("dst")
        kind = "zone" if between_zones else "host or router"
        for name in (src, dst):
            if name not in zone.points or (name in self.platform.zones) is not between_zones:
                raise element.error(
                    f"{kind} {shown(name)} is not in zone {shown(zone.name)}",
                    suggestion(name, zone.points) or "define it there",
                )
        gateways = (element.get("gw_src"), element.get("gw_dst")) if between_zones else ("", "")
        hops = [self._hop(child) for child in element.children if child.tag in ("link_ctn", "link_contained")]
        route = Route(hops, *gateways, element.line)
        symmetrical = element.get("symmetrical", "YES").upper() in ("YES", "TRUE", "1")
        for key, value in ((src, dst), route), ((dst, src), route.reversed()):
            if value is route or (symmetrical and src != dst):
                first = zone.routes.setdefault(key, value)
                # The reverse of a route gives way to one that was written out before.
                if first is not value and value is route:
                    raise element.error(
                        f"the route from {shown(key[0])} to {shown(key[1])} is defined twice, first in line "
                        f"{first.line}",
                        'keep one, or write symmetrical="NO"',
                    )

    def _hop(self, element: Element) -> Hop:
        name, direction = element.get("id"), element.get("direction", "NONE").upper()
        if direction not in _DIRECTIONS:
            raise element.error(f"direction {shown(direction)} is not understood", "write UP, DOWN or NONE")
        way = _DIRECTIONS[direction]
        if name not in self.platform.wires:
            base, _, end = name.rpartition("_")
            if base not in self.platform.wires or end not in ("UP", "DOWN"):
                raise element.error(
                    f"no link is called {shown(name)}", suggestion(name, self.platform.wires) or "define it"
                )
            name, way = base, _DIRECTIONS[end]
        if self.platform.wires[name].policy != "SPLITDUPLEX":
            return name, NONE
        return name, way or UP


def _plain_graph(platform: Platform, defaults: Defaults) -> NetworkDescription | None:
    """Read a single shortest-path zone whose routes are single full-duplex links, each with its own two ends."""
    zones = [zone for zone in platform.zones.values() if any(name in platform.home for name in zone.points)]
    if len(zones) != 1 or zones[0].cluster is not None or zones[0].routing in ("FULL", "NONE"):
        return None
    zone, source = zones[0], platform.source
    ends: dict[str, tuple[str, str]] = {}
    for (src, dst), route in zone.routes.items():
        name = route.hops[0][0] if len(route.hops) == 1 else ""
        if not name or platform.wires[name].policy != "SPLITDUPLEX" or (dst, src) not in zone.routes:
            return None
        if zone.routes[dst, src].hops != [(name, -route.hops[0][1])]:
            return None
        if ends.setdefault(name, (src, dst)) not in ((src, dst), (dst, src)):
            return None
    attached = [end for pair in ends.values() for end in pair if end in platform.hosts]
    if len(set(attached)) != len(attached):
        return None
    shape = "tree" if len(ends) < len(zone.points) else "graph"
    result = NetworkDescription(source=source.name, shape="tree" if shape == "tree" else "graph")
    for name, line in zone.points.items():
        if name in platform.hosts:
            result.add_host(name, defaults.ranks, source.at(line))
        else:
            result.add_switch(name, source.at(line))
    for name, (a, b) in ends.items():
        wire = platform.wires[name]
        result.links.append(Link(a, b, wire.rate, wire.latency, source.at(wire.line)))
    return result


def _routed(platform: Platform, defaults: Defaults, clusters: list[Cluster]) -> NetworkDescription:
    source = platform.source
    hosts = list(platform.hosts)
    if len(hosts) > MAX_ROUTED_HOSTS:
        raise source.error(
            f"this platform needs explicit routes between {len(hosts):,} hosts",
            remedy=f"at most {MAX_ROUTED_HOSTS} can be read; write a lone cluster without shared backbone, "
            "or a Floyd zone of SPLITDUPLEX links",
        )
    for cluster in clusters:
        line = cluster.element.line
        for host in cluster.hosts:
            name = host_wire(host)
            platform.wires[name] = Wire(name, cluster.rate, cluster.latency, cluster.policy, line)
        name = backbone_wire(cluster)
        platform.wires[name] = Wire(name, cluster.bb_rate, cluster.bb_latency, cluster.bb_policy, line)
    if len(hosts) * max((len(zone.routes) for zone in platform.zones.values()), default=0) > MAX_HOPS:
        raise _too_large(platform)
    routing, indices = Routing(), dict[Hop, int]()
    total = 0
    for a, src in enumerate(hosts):
        for b, dst in enumerate(hosts):
            if a == b:
                continue
            path: list[int] = []
            for hop in platform.route(src, dst):
                if hop not in indices:
                    indices[hop] = len(routing.channels)
                    routing.channels.append(_channel(platform, hop, len(hosts)))
                path.append(indices[hop])
            total += len(path)
            if total > MAX_HOPS:
                raise _too_large(platform)
            routing.routes.append((a, b, path))
    result = NetworkDescription(source=source.name, shape="routed", routing=routing)
    for name, line in platform.hosts.items():
        result.add_host(name, defaults.ranks, source.at(line))
    return result


def _too_large(platform: Platform) -> NetworkError:
    return platform.source.error(
        "the routes of this platform are too many or too long", remedy="read a part of it"
    )


def _channel(platform: Platform, hop: Hop, hosts: int) -> Channel:
    name, direction = hop
    wire = platform.wires[name]
    where = platform.source.at(wire.line)
    if wire.policy == "SHARED":
        return Channel(name, wire.rate, wire.latency, where)
    if wire.policy == "FATPIPE":
        # Each message may have the full rate, so together they may have that many times as much.
        return Channel(name, min(wire.rate * hosts, max(wire.rate, 1e13)), wire.latency, where)
    return Channel(f"{name} {'up' if direction == UP else 'down'}", wire.rate, wire.latency, where)
