"""Networks from networkx graphs and back (docs/c-and-python.md). networkx itself is imported only to make a graph."""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from hocket.errors import HocketError, MissingToolError, NetworkError, UsageError, Where
from hocket.network.description import NetworkDescription
from hocket.network.parts import MAX_PORTS, MAX_RANKS, Defaults, Link
from hocket.system.text import shown
from hocket.units import parse_rate, parse_time

if TYPE_CHECKING:
    from hocket._core import Network

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


def graph_of(network: Network) -> Any:
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
