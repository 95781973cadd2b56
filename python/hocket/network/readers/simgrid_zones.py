"""SimGrid's zones: which links a message between two hosts crosses."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

from hocket.errors import NetworkError
from hocket.network.description import suggestion
from hocket.network.readers.simgrid_cluster import Cluster, Element
from hocket.network.source import Source, shown

UP, NONE, DOWN = 1, 0, -1
Hop = tuple[str, int]  # a link's name, and the direction it is crossed in


@dataclass(slots=True)
class Wire:
    """A ``<link>``."""

    name: str
    rate: float
    latency: float
    policy: str
    line: int


@dataclass(slots=True)
class Route:
    """A ``<route>`` or ``<zoneRoute>``; gateways are empty where the end is a host or router."""

    hops: list[Hop]
    gateway_src: str
    gateway_dst: str
    line: int

    def reversed(self) -> Route:
        hops = [(name, -direction) for name, direction in reversed(self.hops)]
        return Route(hops, self.gateway_dst, self.gateway_src, self.line)


@dataclass(slots=True)
class Zone:
    """A zone; ``points`` are the names of its own hosts and routers and of its child zones."""

    name: str
    routing: str
    element: Element
    parent: Zone | None
    points: dict[str, int] = field(default_factory=dict)
    routes: dict[tuple[str, str], Route] = field(default_factory=dict)
    cluster: Cluster | None = None
    depth: int = 0
    neighbours: dict[str, list[str]] = field(default_factory=dict)
    trees: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass(slots=True)
class Platform:
    """Zones, links and hosts of a platform file."""

    source: Source
    zones: dict[str, Zone] = field(default_factory=dict)
    wires: dict[str, Wire] = field(default_factory=dict)
    hosts: dict[str, int] = field(default_factory=dict)
    home: dict[str, Zone] = field(default_factory=dict)

    def route(self, src: str, dst: str) -> list[Hop]:
        """The links from one host or router to another."""
        if src == dst:
            return []
        src_zone, dst_zone = self.home[src], self.home[dst]
        src_point, dst_point = src, dst
        while src_zone is not dst_zone:
            if src_zone.depth >= dst_zone.depth and src_zone.parent is not None:
                src_point, src_zone = src_zone.name, src_zone.parent
            elif dst_zone.parent is not None:
                dst_point, dst_zone = dst_zone.name, dst_zone.parent
            else:
                raise src_zone.element.error(
                    f"no zone holds both {shown(src)} and {shown(dst)}", "put a <zone> around them"
                )
        hops: list[Hop] = []
        for begin, end, part in self._local(src_zone, src_point, dst_point):
            hops += self.route(src, self._gateway(part, begin, part.gateway_src, src_zone))
            hops += part.hops
            src = self._gateway(part, end, part.gateway_dst, src_zone)
        return hops + self.route(src, dst)

    def _gateway(self, route: Route, point: str, gateway: str, zone: Zone) -> str:
        if point not in self.zones or self.zones[point].parent is not zone:
            return gateway or point
        if gateway in self.home and self._point_above(gateway, zone) == point:
            return gateway
        raise self.source.error(
            f"gateway {shown(gateway)} is not a host or router in zone {shown(point)}",
            route.line,
            suggestion(gateway, self.home) or "correct gw_src and gw_dst",
        )

    def _point_above(self, name: str, zone: Zone) -> str:
        """The point of ``zone`` that is or holds ``name``."""
        at: Zone | None = self.home[name]
        while at is not None and at is not zone:
            name, at = at.name, at.parent
        return name if at is zone else ""

    def _local(self, zone: Zone, src: str, dst: str) -> list[tuple[str, str, Route]]:
        """The routes between points of ``zone`` that lead from ``src`` to ``dst``."""
        if zone.cluster is not None:
            return [(src, dst, self._through_cluster(zone.cluster, src, dst))]
        if zone.routing == "FULL":
            if (route := zone.routes.get((src, dst))) is None:
                raise self._no_route(zone, src, dst)
            return [(src, dst, route)]
        return self._shortest(zone, src, dst)

    def _no_route(self, zone: Zone, src: str, dst: str) -> NetworkError:
        return zone.element.error(
            f"zone {shown(zone.name)} has no route from {shown(src)} to {shown(dst)}", "add the route"
        )

    @staticmethod
    def _through_cluster(cluster: Cluster, src: str, dst: str) -> Route:
        hops: list[Hop] = []
        if src != cluster.router:
            hops.append((host_wire(src), UP))
        if cluster.bb_rate:
            hops.append((backbone_wire(cluster), NONE))
        if dst != cluster.router:
            hops.append((host_wire(dst), DOWN))
        return Route(hops, "", "", cluster.element.line)

    def _shortest(self, zone: Zone, src: str, dst: str) -> list[tuple[str, str, Route]]:
        """The declared routes of a path of fewest links; of equal ones, the first in the file."""
        if not zone.neighbours:
            for a, b in zone.routes:
                zone.neighbours.setdefault(a, []).append(b)
        if src not in zone.trees:
            zone.trees[src] = _shortest_tree(zone, src)
        before = zone.trees[src]
        if dst not in before:
            raise self._no_route(zone, src, dst)
        path: list[tuple[str, str, Route]] = []
        while dst != src:
            path.append((before[dst], dst, zone.routes[before[dst], dst]))
            dst = before[dst]
        return path[::-1]


def _shortest_tree(zone: Zone, src: str) -> dict[str, str]:
    """Dijkstra's algorithm: the point before each point on the way from ``src``."""
    best: dict[str, int] = {src: 0}
    before: dict[str, str] = {}
    queue: list[tuple[int, int, str]] = [(0, 0, src)]
    serial = 0
    while queue:
        cost, _, point = heapq.heappop(queue)
        if cost > best[point]:
            continue
        for neighbour in zone.neighbours.get(point, ()):
            total = cost + len(zone.routes[point, neighbour].hops)
            if neighbour not in best or total < best[neighbour]:
                best[neighbour], before[neighbour] = total, point
                serial += 1
                heapq.heappush(queue, (total, serial, neighbour))
    return before


def host_wire(host: str) -> str:
    """The link of a cluster's host; the prefix keeps it apart from the links of the file."""
    return f"cluster link of {host}"


def backbone_wire(cluster: Cluster) -> str:
    return f"cluster backbone of {cluster.name}"
