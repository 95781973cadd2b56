"""Parts of network descriptions (hosts, switches, links, grids, routes, tables) and their defaults."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeVar

from hocket.errors import Where

if TYPE_CHECKING:
    from hocket._core import NetworkSpec

Key = TypeVar("Key")


class AssumedRate(float):
    """Default rate (bytes per second), used where the file states none; readers pass it on unchanged, which
    marks it."""


DEFAULT_RATE = AssumedRate(125e6)  # gigabit Ethernet
DEFAULT_LATENCY = 5e-6  # seconds per channel
MAX_LATENCY = 10.0
MAX_NODES = 1_000_000  # hosts, and as many switches
MAX_NAME = 255  # characters, as in DNS
MAX_RANKS = 65_536  # per host
MAX_PORTS = 1_024
MAX_ENTRIES = 2_000_000  # of forwarding tables
Shape = Literal["tree", "graph", "grid", "routed"]
GridKind = Literal["torus", "mesh", "hypercube"]


@dataclass(frozen=True, slots=True)
class Defaults:
    """Defaults for a link or host whose file states nothing, and the user's statements about uplinks.

    Uplinks are the links between two switches. ``uplink_rate`` (bytes/s) is the rate of each. ``oversubscription`` is
    what the links below a switch carry over what its uplinks carry, all of them together: one number per level from the
    leaves up, the last for all further levels. ``"auto"`` leaves uplinks to the file, to what was measured, and last to
    an assumption. Both are more than the file's word.

    ``ports`` and ``forwards`` are those of hosts (:class:`Node`).

    ``forwarding`` is the path of a file with the forwarding tables that switches route by. ``latency_given``: the user
    states the latency, so that no reader assumes a more fitting one. ``lids``: where ports have several (lmc > 0),
    messages go to the base one, or to one chosen for each pair of hosts. ``topology``: the one that counts of a file
    with several."""

    rate: float = DEFAULT_RATE
    latency: float = DEFAULT_LATENCY
    ranks: int = 1
    uplink_rate: float | None = None
    oversubscription: tuple[float, ...] | Literal["auto"] = "auto"
    forwarding: str | None = None
    latency_given: bool = False
    ports: int = 1
    forwards: bool = False
    lids: Literal["base", "chosen"] = "base"
    topology: str | None = None


@dataclass(slots=True)
class Node:
    """A host (with ``ranks`` >= 1 MPI ranks) or a switch (``ranks`` == 0).

    ``ports``: messages that each of its ranks sends, and receives, at once. ``forwards``: it passes on what is for
    others, as a switch does."""

    name: str
    ranks: int = 0
    where: Where | None = None
    ports: int = 1
    forwards: bool = False

    @property
    def is_host(self) -> bool:
        return self.ranks > 0


@dataclass(slots=True)
class Link:
    """A full-duplex link: two channels of ``rate`` bytes/s and ``latency`` seconds each.

    ``rate_given``: the source states this rate, or a default for all its links. Slurm's files do not."""

    a: str
    b: str
    rate: float = DEFAULT_RATE
    latency: float = DEFAULT_LATENCY
    where: Where | None = None
    rate_given: bool = True


@dataclass(slots=True)
class Grid:
    """A torus or mesh of ``sides``, or a hypercube of ``sides[0]`` dimensions.

    Hosts are numbered in row-major order: the last side runs fastest.

    ``names`` are the hosts' names in that order; ``None`` leaves naming to the core. ``ties`` say which way messages of
    a torus go that are half-way round: a rule of the core, or one row of signs per side."""

    kind: GridKind
    sides: list[int]
    rate: float = DEFAULT_RATE
    latency: float = DEFAULT_LATENCY
    names: list[str] | None = None
    ranks: int = 1
    ties: str | list[str] | None = None
    ports: int = 1


@dataclass(frozen=True, slots=True)
class Wiring:
    """Nodes and links that the core wires, all at one place: ``make`` gives its specification of them.

    ``uplinks``: the number of links between two switches, and ``uplink_rates`` the different rates of these (bytes/s);
    ``host_rate``: of hosts' links."""

    shape: Shape
    make: Callable[[], NetworkSpec]
    uplinks: int
    uplink_rates: tuple[float, ...]
    host_rate: float
    where: Where


@dataclass(slots=True)
class Channel:
    """Direction of a link, or a medium that both directions share."""

    name: str
    rate: float
    latency: float
    where: Where | None = None


@dataclass(slots=True)
class Routing:
    """Explicit routes: ``(source host, target host, channels)``, all by index."""

    channels: list[Channel] = field(default_factory=list)
    routes: list[tuple[int, int, list[int]]] = field(default_factory=list)


@dataclass(slots=True)
class Forwarding:
    """Forwarding tables: ``(node, destination host or None for all others, channel)``, all by index, where channel 2i
    is link i from a to b and 2i + 1 back; and the line of each in ``file``.

    ``tables``: the line where a node's table begins, where the file has one for each. ``remedy_missing`` and
    ``remedy_circle`` are for messages that do not arrive. ``further``: entries, like ``hops``, for further lids of the
    hosts (lmc > 0), by the number of the lid after the base one; ``choose``: messages go by those chosen."""

    file: str
    hops: list[tuple[int, int | None, int]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    tables: dict[int, int] = field(default_factory=dict)
    remedy_missing: str = "add a line at,to,next"
    remedy_circle: str = "correct this step or another of the circle"
    further: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)
    choose: bool = False

    def place(self, node: int, entry: int) -> tuple[Where, str]:
        """Place of the core's complaint, and its remedy."""
        if entry >= 0:
            return Where(self.file, self.lines[entry]), self.remedy_circle
        return Where(self.file, self.tables.get(node, 0)), self.remedy_missing


@dataclass(slots=True)
class Fabric:
    """Numbering of an InfiniBand network by its subnet manager; forwarding tables use these numbers.

    ``switches``: node of each guid. ``ports``: the channel that leaves by a port, by (node, port). ``lids``: host and
    guid of the port that has this (base) lid, 0 where none was given; ``host_lids``: the lid of each host;
    ``further_lids``: host of each further lid (lmc > 0), and its number after the base lid. ``guids``: all switches of
    the subnet, also those that no message of these hosts comes to."""

    switches: dict[int, int]
    ports: dict[tuple[int, int], int]
    lids: dict[int, tuple[int, int]]
    guids: set[int]
    host_lids: dict[int, int] = field(default_factory=dict)
    further_lids: dict[int, tuple[int, int]] = field(default_factory=dict)


def around(nodes: Iterable[Key], links: Iterable[tuple[Key, Key]]) -> dict[Key, list[Key]]:
    """The nodes that each node is wired to, in the order of the links."""
    found: dict[Key, list[Key]] = {node: [] for node in nodes}
    for a, b in links:
        found[a].append(b)
        found[b].append(a)
    return found


def beside(nodes: Sequence[Node], links: Sequence[Link]) -> dict[str, list[str]]:
    """The same of a description, by names."""
    return around((node.name for node in nodes), ((link.a, link.b) for link in links))


def distances(wired: Mapping[Key, Iterable[Key]], starts: Iterable[Key]) -> dict[Key, int]:
    """Links from the nearest of the starts to each node that can be reached."""
    found = dict.fromkeys(starts, 0)
    reached = list(found)
    for node in reached:  # grows
        for other in wired[node]:
            if other not in found:
                found[other] = found[node] + 1
                reached.append(other)
    return found


def without_dead_ends(wired: Mapping[str, Iterable[str]], hosts: Collection[str]) -> dict[str, set[str]]:
    """Rest of a network (:func:`beside`) when ends that are no hosts are taken off, one after the other: the
    nodes that a message may pass."""
    left = {name: set(others) for name, others in wired.items()}
    ends = [name for name in left if name not in hosts and len(left[name]) < 2]
    for name in ends:  # grows
        for other in left.pop(name, set()):
            left[other].discard(name)
            if other not in hosts and len(left[other]) < 2:
                ends.append(other)
    return left
