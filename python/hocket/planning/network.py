"""Networks as the Python API shows them (docs/c-and-python.md)."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from os import PathLike
from typing import Any, NamedTuple, Self

from hocket import _core
from hocket.errors import NetworkError
from hocket.network import Defaults, read_network
from hocket.network.graphs import description_of, graph_of, quantity
from hocket.network.parts import MAX_RANKS
from hocket.planning.arguments import path_of, whole
from hocket.units import parse_rate, parse_time


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
