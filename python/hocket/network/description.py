"""Output of a reader: nodes and links in the order of the file, each with its place.

Readers only translate a file format into this; every check on the network itself (cycles, unconnected parts, hosts
wired twice, rates) is made once, by the core, when :meth:`NetworkDescription.build` is called, and the place is looked
up here. Only the names are checked here, because the core knows nodes by number."""

from __future__ import annotations

import difflib
import importlib
import itertools
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from hocket._core import Network
from hocket.errors import NetworkError, Where
from hocket.network.lids import choose_lids
from hocket.network.parts import (
    MAX_NAME,
    MAX_NODES,
    Channel,
    Defaults,
    Fabric,
    Forwarding,
    Grid,
    Link,
    Node,
    Routing,
    Shape,
    Wiring,
    beside,
    distances,
)
from hocket.network.paths import Paths, settled
from hocket.network.source import shown
from hocket.system.text import folded

_AS_GRAPH: Final = (
    "describe it by [[link]] tables in Hocket's TOML with shape = \"graph\" ('hocket help networks')"
)


def explained(
    nodes: Sequence[Node], links: Sequence[Link], shape: Shape, message: str, node: int, link: int
) -> tuple[str, str]:
    """Problem and remedy for the core's ``message`` on a node and a link (-1: on none)."""
    if shape == "tree" and link >= 0 and message.endswith("closes a cycle"):
        return message, f"remove one link of the cycle; if it is wired so, {_AS_GRAPH}"
    alone = _alone(nodes, links) if node >= 0 and "is not connected to" in message else []
    if alone:
        hosts = "a host is" if len(alone) == 1 else f"{len(alone):,} hosts are"
        return (
            f"{message}: {hosts} wired to nothing",
            f'in Hocket\'s TOML, add switch = "…" to each, or hosts = "{shown(folded(alone))[1:-1]}" to a [[switch]]',
        )
    if shape == "graph" and node >= 0 and "is not connected to" in message and joined(nodes, links):
        return (
            f"{message}: only hosts that do not forward lie between them",
            "say which hosts pass on what is for others: forward = true",
        )
    what = "this link" if link >= 0 else "this host or switch" if node >= 0 else "the network"
    return message, f"correct {what}"


def joined(nodes: Sequence[Node], links: Sequence[Link]) -> bool:
    """True if links join all nodes, whether hosts forward or not."""
    return len(distances(beside(nodes, links), [nodes[0].name])) == len(nodes)


def _alone(nodes: Sequence[Node], links: Sequence[Link]) -> list[str]:
    ends = {end for link in links for end in (link.a, link.b)}
    return [host.name for host in nodes if host.is_host and host.name not in ends]


@dataclass(slots=True)
class NetworkDescription:
    """A network as a file tells it. Hosts are numbered in the order of ``nodes``.

    ``shape`` says how messages travel: along the one path of a ``tree``, along shortest paths of a
    ``graph`` (or its ``forwarding`` tables), dimension by dimension in a ``grid`` (``grid`` is set, ``nodes``
    and ``links`` are empty), or by the explicit routes of a ``routed`` network (``routing`` is set, ``links``
    is empty). ``notes``: what the reader has left out or chosen, a line each for the user.

    ``paths``: ways by source ports, found in the running network; messages of a ``graph`` take those chosen.

    ``wiring`` stands for ``nodes`` and ``links`` until somebody asks for one of them; then they are made, and count."""

    nodes: list[Node] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    source: str = ""
    shape: Shape = "tree"
    grid: Grid | None = None
    routing: Routing | None = None
    forwarding: Forwarding | None = None
    fabric: Fabric | None = None
    notes: list[str] = field(default_factory=list)
    wiring: Wiring | None = None
    paths: Paths | None = None

    def __post_init__(self) -> None:
        if self.wiring is not None:
            del self.nodes, self.links

    if not TYPE_CHECKING:  # to mypy every name would be an attribute

        def __getattr__(self, name: str) -> Any:
            if name not in ("nodes", "links") or self.wiring is None:
                raise AttributeError(name)
            self._wire(self.wiring)
            return getattr(self, name)

    def _wire(self, wiring: Wiring) -> None:
        spec, where = wiring.make(), wiring.where
        names, ranks = spec.names, spec.ranks
        self.wiring, self.nodes, self.links = None, [], []
        for name, count in zip(names, ranks, strict=True):
            self._add(name, count, where)
        kind = type(wiring.host_rate)  # all are in proportion to it, stated or assumed
        self.links = [
            Link(names[a], names[b], kind(rate), latency, where) for a, b, rate, latency in spec.links
        ]

    def add_switch(self, name: str, where: Where | None = None) -> None:
        self._add(name, 0, where)

    def add_host(
        self, name: str, ranks: int = 1, where: Where | None = None, ports: int = 1, forwards: bool = False
    ) -> None:
        self._add(name, ranks, where, ports, forwards)

    def _add(
        self, name: str, ranks: int, where: Where | None, ports: int = 1, forwards: bool = False
    ) -> None:
        if len(self.nodes) >= 2 * MAX_NODES:
            raise NetworkError(
                f"the network has more than {2 * MAX_NODES:,} hosts and switches",
                where=where,
                remedy="describe a part of it",
            )
        if len(name) > MAX_NAME:
            raise NetworkError(
                f"the name {shown(name)} has {len(name):,} characters",
                where=where,
                remedy=f"a name has at most {MAX_NAME}",
            )
        self.nodes.append(Node(name, ranks, where, ports, forwards))

    def wire(self, upper: str, lower: str, defaults: Defaults, where: Where | None) -> None:
        """Add a link of whose rate the source says nothing."""
        self.links.append(Link(upper, lower, defaults.rate, defaults.latency, where, rate_given=False))

    @property
    def hosts(self) -> list[Node]:
        """The hosts in rank order (empty for a grid whose hosts the core names)."""
        return [node for node in self.nodes if node.ranks > 0]

    def uplinks(self) -> list[int]:
        """The links between two switches, by index."""
        switches = {node.name for node in self.nodes if not node.is_host}
        return [index for index, link in enumerate(self.links) if {link.a, link.b} <= switches]

    def name_indices(self) -> dict[str, int]:
        """The index of each node by name; two nodes of one name are an error that tells both places."""
        indices = {node.name: index for index, node in enumerate(self.nodes)}
        if len(indices) != len(self.nodes):
            raise self._twice()
        return indices

    def _twice(self) -> NetworkError:
        seen: dict[str, Node] = {}
        for node in self.nodes:
            if (first := seen.setdefault(node.name, node)) is not node:
                return NetworkError(
                    f"{_kind(node)} {node.name!r} is defined twice, first at {first.where or self.source} "
                    f"as a {_kind(first)}",
                    where=node.where,
                    remedy="give each host and switch one name and one place",
                )
        raise AssertionError("called without a duplicate")

    def link_ends(self) -> tuple[Sequence[int], Sequence[int]]:
        """Node indices of both ends of every link, in little memory; an unknown name is an error."""
        indices = self.name_indices()
        try:
            a = array("I", (indices[link.a] for link in self.links))
            return a, array("I", (indices[link.b] for link in self.links))
        except KeyError:
            pass
        link, name = next((k, n) for k in self.links for n in (k.a, k.b) if n not in indices)
        raise NetworkError(
            f"no host or switch is called {shown(name)}",
            where=link.where,
            remedy=suggestion(name, indices) or "define it or correct the name",
        )

    def build(self) -> Network:
        """The network of the core, all checks passed."""
        core: Any = importlib.import_module("hocket._core")
        try:
            network: Network = self._build(core)
            if self.forwarding is not None and self.forwarding.choose:
                return choose_lids(network, self.forwarding).network
            return network if self.paths is None else settled(network, self.paths)
        except core.RouteProblem as problem:  # an entry of the forwarding tables
            message, node, _, entry = problem.args
            assert self.forwarding is not None
            place, remedy = self.forwarding.place(node, entry)
            raise NetworkError(str(message), where=place, remedy=remedy) from None
        except core.InputError as problem:  # a NetworkProblem says which node and link
            message, node, link = (*problem.args, -1, -1)[:3]
            where = self._place(node, link)
            what, remedy = explained(self.nodes, self.links, self.shape, str(message), node, link)
            raise NetworkError(what, where=where, remedy=remedy) from None

    def _build(self, core: Any) -> Network:
        if self.grid is not None:
            grid = self.grid
            extra: dict[str, Any] = {}
            if grid.names is not None:
                extra["names"] = grid.names
            if grid.ranks != 1:
                extra["ranks"] = grid.ranks
            if grid.ports != 1:
                extra["ports"] = grid.ports
            if grid.ties is not None:
                ties = grid.ties
                extra["ties"] = core.Network.ties_by_rule(ties, grid.sides) if isinstance(ties, str) else ties
            network: Network = core.Network.grid(grid.kind, grid.sides, grid.rate, grid.latency, **extra)
            return network
        if self.wiring is not None and self.forwarding is None:
            network = core.Network.of_spec(self.wiring.make())
            return network
        names = [node.name for node in self.nodes]
        ranks = [node.ranks for node in self.nodes]
        several = any(node.ports != 1 for node in self.nodes)
        ports = [node.ports for node in self.nodes] if several else []
        if self.routing is not None:
            self.name_indices()
            channels = self.routing.channels
            network = core.Network.routed(
                names, ranks, [channel.name for channel in channels], [channel.rate for channel in channels],
                [channel.latency for channel in channels], self.routing.routes, ports,
            )  # fmt: skip
            return network
        a, b = self.link_ends()
        rates, latencies = [link.rate for link in self.links], [link.latency for link in self.links]
        if self.shape == "graph":
            hops = self.forwarding.hops if self.forwarding is not None else []
            forwards = [int(node.forwards and node.is_host) for node in self.nodes]
            network = core.Network.graph(
                names, ranks, a, b, rates, latencies, hops, ports, forwards if any(forwards) else []
            )
        else:
            network = core.Network.tree(names, ranks, a, b, rates, latencies, ports)
        return network

    def _place(self, node: int, link: int) -> Where | None:
        if self.wiring is not None:
            return self.wiring.where
        places: list[Sequence[Node | Link | Channel]] = []
        if link >= 0:
            places.append(self.routing.channels if self.routing is not None else self.links)
            places[-1] = places[-1][link : link + 1]
        if node >= 0:
            places.append(self.nodes[node : node + 1])
        for item in itertools.chain.from_iterable(places):
            if item.where is not None:
                return item.where
        return Where(self.source) if self.source else None


def _kind(node: Node) -> str:
    return "host" if node.ranks > 0 else "switch"


def suggestion(name: str, known: Iterable[str]) -> str:
    """``did you mean …?`` for a near miss, else nothing."""
    # difflib is quadratic in the lengths and linear in the names; both are the file's to choose.
    if len(name) > 100:
        return ""
    near = difflib.get_close_matches(name, list(itertools.islice(known, 2000)), n=1)
    return f"did you mean {near[0]!r}?" if near else ""
