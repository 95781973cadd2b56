"""Networks as the Python API shows them (docs/c-and-python.md)."""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from os import PathLike, fspath
from typing import Any, Final, NamedTuple, Self

from hocket import _core
from hocket.errors import HocketError, MissingToolError, NetworkError, UsageError, Where
from hocket.network import read_network
from hocket.network.description import NetworkDescription
from hocket.network.parts import MAX_PORTS, MAX_RANKS, Defaults, Link
from hocket.system.text import shown
from hocket.units import MAX_SECONDS, parse_bytes, parse_rate, parse_time

MOST_BYTES: Final = 2**50


@contextmanager
def typed() -> Iterator[None]:
    """Convert the core's input errors to UsageError."""
    try:
        yield
    except _core.InputError as problem:
        raise UsageError(str(problem.args[0])) from None


def path_of(value: str | PathLike[str], what: str) -> str:
    path = fspath(value) if isinstance(value, str | PathLike) else None
    if not isinstance(path, str):
        raise UsageError(f"{what} is {value!r}", remedy="give a str or a pathlib.Path")
    return path


def seconds_of(value: float | str, name: str) -> float:
    seconds = parse_time(value) if isinstance(value, str) else value
    if isinstance(seconds, bool) or not isinstance(seconds, float | int) or not 0 <= seconds <= MAX_SECONDS:
        raise UsageError(
            f"{name} {value!r}", remedy=f"give 0 to {MAX_SECONDS:.0f} seconds, or text such as '5us'"
        )
    return float(seconds)


def size_of(value: int | str | None) -> int:
    if value is None:
        raise UsageError("the demand needs a size", remedy="give bytes=65536, or text such as '64KiB'")
    return whole(parse_bytes(value) if isinstance(value, str) else value, "bytes", 1, MOST_BYTES)


def contributions_of(sizes: Sequence[int], ranks: int) -> list[int]:
    if isinstance(sizes, str | bytes) or not isinstance(sizes, Iterable):
        raise UsageError(f"contributions {sizes!r}", remedy="give a list of sizes, one for each rank")
    checked = [whole(size, f"contribution of rank {rank}", 0, MOST_BYTES) for rank, size in enumerate(sizes)]
    if len(checked) != ranks:
        raise UsageError(f"{len(checked)} contributions for {ranks} ranks", remedy="give one for each rank")
    return checked


def whole(value: int, name: str, least: int, most: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or not least <= number <= most:
        raise UsageError(f"{name} {value!r}", remedy=f"give a whole number from {least} to {most}")
    return number


_NAME: Final = "the graph"


def description_of(graph: Any, defaults: Defaults) -> NetworkDescription:
    """Read a ``networkx.Graph`` or ``MultiGraph``. Hosts are numbered in the order of its nodes.

    ``ranks`` of a node: 1 or more make it a host, 0 or nothing a switch. If no node has ``ranks``, those with
    at most one link are hosts; if all have several, all are hosts, and pass on what is for others. ``forward`` and
    ``ports`` of a node: :class:`hocket.network.parts.Node`. ``rate`` and ``latency`` of an edge: bytes/s and seconds,
    or text with a unit.
    """
    if not all(callable(getattr(graph, name, None)) for name in ("is_directed", "nodes", "edges", "degree")):
        raise NetworkError(
            f"{type(graph).__name__} is not a graph of networkx", remedy="give a networkx.Graph"
        )
    if graph.is_directed():
        raise NetworkError(
            "a directed graph: links carry both directions at the rate of one edge",
            where=Where(_NAME),
            remedy="give graph.to_undirected()",
        )
    description = NetworkDescription(source=_NAME)
    nodes = list(graph.nodes(data=True))
    told = any("ranks" in attributes for _, attributes in nodes)
    direct = not told and all(graph.degree(node) > 1 for node, _ in nodes)
    for node, attributes in nodes:
        by_degree = defaults.ranks if direct or graph.degree(node) <= 1 else 0
        ranks = _number(node, "ranks", attributes.get("ranks", 0), 0, MAX_RANKS) if told else by_degree
        ports = _number(node, "ports", attributes.get("ports", defaults.ports), 1, MAX_PORTS)
        forwards = attributes.get("forward", direct or defaults.forwards)
        if not isinstance(forwards, bool):
            raise NetworkError(
                f"forward = {shown(repr(forwards))[1:-1]}",
                where=Where(f"{_NAME}, node {_short(node)}"),
                remedy="give True or False",
            )
        description.add_host(str(node), ranks, Where(f"{_NAME}, node {_short(node)}"), ports, forwards)
    for a, b, attributes in graph.edges(data=True):
        where = Where(f"{_NAME}, edge {_short(a)} - {_short(b)}")
        rate = quantity(attributes.get("rate", defaults.rate), parse_rate, "rate", where)
        latency = quantity(attributes.get("latency", defaults.latency), parse_time, "latency", where)
        description.links.append(Link(str(a), str(b), rate, latency, where))
    if not description.hosts:
        raise NetworkError(
            "no node is a host", where=Where(_NAME), remedy="give hosts the attribute ranks, as in ranks=1"
        )
    forwarding = any(node.is_host and node.forwards for node in description.nodes)
    description.shape = "tree" if len(description.links) == len(nodes) - 1 and not forwarding else "graph"
    return description


def graph_of(network: _core.Network) -> Any:
    """Nodes with ``ranks`` (0: a switch), edges with ``rate`` in bytes/s and ``latency`` in seconds.

    A ``MultiGraph`` where several links join the same two nodes, else a ``Graph``. A graph has no routes.
    """
    if network.shape.name == "routed":
        raise UsageError(
            "a network of explicit routes is not a graph", remedy="its routes do not say where channels begin"
        )
    try:
        networkx = importlib.import_module("networkx")
    except ImportError:
        raise MissingToolError("networkx is not installed", remedy="pip install networkx") from None
    names = network.names
    parallel = len({frozenset(link) for link in network.links}) < len(network.links)
    graph = networkx.MultiGraph() if parallel else networkx.Graph()
    graph.add_nodes_from((name, {"ranks": n}) for name, n in zip(names, network.ranks_per_node, strict=True))
    for key, values in (("ports", network.ports), ("forward", map(bool, network.forwards))):
        for name, ranks, value in zip(names, network.ranks_per_node, values, strict=False):
            if ranks:
                graph.nodes[name][key] = value
    for index, (a, b) in enumerate(network.links):
        graph.add_edge(names[a], names[b], rate=network.rate(2 * index), latency=network.latency(2 * index))
    return graph


def quantity(value: Any, parse: Callable[[str], float], what: str, where: Where | None = None) -> float:
    """A number, or text with a unit; bytes per second or seconds."""
    try:
        return parse(value) if isinstance(value, str) else float(operator.truediv(value, 1))
    except HocketError as problem:
        raise NetworkError(problem.what, where=where, remedy=problem.remedy) from None
    except (TypeError, ValueError, OverflowError):
        raise NetworkError(
            f"{what} {shown(repr(value))[1:-1]} is not a number", where=where, remedy=f"give a {what}"
        ) from None


def _number(node: Any, name: str, value: Any, least: int, most: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if isinstance(value, bool) or not least <= number <= most:
        raise NetworkError(
            f"{name} = {shown(repr(value))[1:-1]}",
            where=Where(f"{_NAME}, node {_short(node)}"),
            remedy=f"give a whole number from {least}{' (a switch)' if least == 0 else ''} to {most}",
        )
    return number


def _short(node: Any) -> str:
    return shown(str(node))[1:-1]


class Channel(NamedTuple):
    """Direction of a link."""

    number: int
    name: str
    rate: float
    """Bytes per second."""
    latency: float
    """Seconds."""


class Network:
    """Hosts, switches and links, and the route of every message. Immutable.

    ``source``: the path of a network file, or a short form such as ``"chain:2,2"`` (docs/networks.md).
    ``rate`` and ``latency`` are those of links, ``ranks_per_host`` that of hosts, where the source says none;
    by default 1 Gbit/s, 5 us and 1. ``forwarding``: a file with the forwarding tables of the switches. Raises
    :class:`hocket.NetworkError`.
    """

    def __init__(
        self,
        source: str | PathLike[str],
        *,
        rate: float | str | None = None,
        latency: float | str | None = None,
        ranks_per_host: int | None = None,
        forwarding: str | PathLike[str] | None = None,
    ) -> None:
        defaults = _defaults(rate, latency, ranks_per_host)
        if forwarding is not None:
            defaults = replace(defaults, forwarding=path_of(forwarding, "forwarding"))
        text = path_of(source, "a network's source")
        self._set(read_network(text, defaults), text)

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        *,
        rate: float | str | None = None,
        latency: float | str | None = None,
        ranks_per_host: int | None = None,
    ) -> Self:
        """The network of an undirected networkx graph, named by the texts of its nodes.

        Nodes: ``ranks`` of 1 or more makes a host with as many ranks, 0 or nothing a switch. If no node of
        the graph has it, nodes with at most one link are hosts of ``ranks_per_host`` ranks. Edges: ``rate``
        (bytes/s) and ``latency`` (seconds), or text with a unit. Hosts and with them ranks are numbered in
        the order of the nodes. Messages take the only path of a tree, else a shortest one.
        """
        network = cls.__new__(cls)
        network._set(description_of(graph, _defaults(rate, latency, ranks_per_host)).build(), "the graph")
        return network

    @classmethod
    def _of_core(cls, core: _core.Network, source: str) -> Self:
        network = cls.__new__(cls)
        network._set(core, source)
        return network

    def _set(self, core: _core.Network, source: str) -> None:
        self._core = core
        self._source = source

    def __repr__(self) -> str:
        return f"<hocket.Network {self._source}: {len(self.hosts)} hosts, {self.ranks} ranks>"

    @property
    def ranks(self) -> int:
        """The number of MPI ranks on all hosts."""
        return int(self._core.ranks)

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """The names of the hosts, in the order of their ranks."""
        names = self._core.names
        return tuple(names[host] for host in self._core.hosts)

    @cached_property
    def channels(self) -> tuple[Channel, ...]:
        """Directed channels; channel 2i and 2i + 1 are the two directions of link i."""
        return tuple(self._channel(index) for index in range(self._core.channels))

    @property
    def host_rate(self) -> float:
        """Full speed of a host, in bytes per second."""
        return float(self._core.host_rate)

    def host_of(self, rank: int) -> str:
        """The name of the host that a rank is on."""
        return str(self._core.name_of(self._core.host_of(self._rank(rank))))

    def route(self, src: int, dst: int) -> tuple[Channel, ...]:
        """The channels that a message from rank ``src`` to rank ``dst`` takes, in order; none within a host."""
        return tuple(self._channel(index) for index in self._core.route(self._rank(src), self._rank(dst)))

    def to_networkx(self) -> Any:
        """A networkx graph with the attributes that :meth:`from_networkx` reads, without the routes.

        A ``MultiGraph`` where several links join the same two nodes, else a ``Graph``.
        """
        return graph_of(self._core)

    def _channel(self, index: int) -> Channel:
        core = self._core
        return Channel(index, core.channel_name(index), core.rate(index), core.latency(index))

    def _rank(self, rank: int) -> int:
        return whole(rank, "rank", 0, self.ranks - 1)


def network_of(given: Network | str | PathLike[str]) -> Network:
    if isinstance(given, Network):
        return given
    if isinstance(given, str | PathLike):
        return Network(given)
    raise NetworkError(
        f"{type(given).__name__} is not a network",
        remedy="give a hocket.Network; its from_networkx() makes one of a graph",
    )


def _defaults(rate: float | str | None, latency: float | str | None, ranks_per_host: int | None) -> Defaults:
    known = Defaults()
    return Defaults(
        known.rate if rate is None else quantity(rate, parse_rate, "rate"),
        known.latency if latency is None else quantity(latency, parse_time, "latency"),
        known.ranks if ranks_per_host is None else whole(ranks_per_host, "ranks_per_host", 1, MAX_RANKS),
        latency_given=latency is not None,
    )
