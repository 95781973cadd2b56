"""Places in pictures: the channels of each row, each in exactly one, and the nodes of a network. Hosts of a leaf switch
become one mark where there are many."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hocket import _core
from hocket._core import Network, Simulation
from hocket.network.families import coordinates_of, dimension_of, node_at, sides_of
from hocket.network.parts import around, distances


class Group(Enum):
    """Position of a channel in the network."""

    SWITCH_LINK = "between switches"
    UP = "from hosts"
    DOWN = "to hosts"
    LINK = "channels"  # hosts are wired to each other, or the network is a list of routes


@dataclass(frozen=True)
class Band:
    """Channels of one kind, in the order of the picture's rows."""

    name: str
    channels: list[int]
    group: Group = Group.LINK


@dataclass(frozen=True)
class Row:
    """Channels of a band that share a row of the picture."""

    band: Band
    channels: list[int]


def group_of(links: list[tuple[int, int]], ranks: list[int], channel: int) -> Group:
    """Position of a channel, from the network's links and its ranks per node."""
    if not links:
        return Group.LINK
    source, sink = _ends(links, channel)
    if ranks[source] == 0 and ranks[sink] == 0:
        return Group.SWITCH_LINK
    if ranks[source] > 0 and ranks[sink] > 0:
        return Group.LINK
    return Group.UP if ranks[source] > 0 else Group.DOWN


def _ends(links: list[tuple[int, int]], channel: int) -> tuple[int, int]:
    a, b = links[channel // 2]
    return (a, b) if channel % 2 == 0 else (b, a)


def bands(network: Network) -> list[Band]:
    """Grids: by dimension and direction, the channels of a line of nodes next to each other. Other networks:
    by where a channel lies, those between switches also by level and direction."""
    if network.shape not in (_core.Shape.torus, _core.Shape.mesh, _core.Shape.hypercube):
        return _bands_by_level(network)
    sides = sides_of(network)
    found: dict[tuple[int, bool], list[tuple[list[int], int, int]]] = {}
    for link, ends in enumerate(network.links):
        first, dimension = coordinates_of(ends[0], sides), dimension_of(ends, sides)
        line = [x for d, x in enumerate(first) if d != dimension]
        # Links run from a coordinate to the next one.
        found.setdefault((dimension, True), []).append((line, first[dimension], 2 * link))
        found.setdefault((dimension, False), []).append((line, first[dimension], 2 * link + 1))
    return [
        Band(f"dimension {dimension + 1} {'up' if up else 'down'}", [c for *_, c in sorted(rows)])
        for (dimension, up), rows in sorted(found.items(), key=lambda item: (item[0][0], not item[0][1]))
    ]


def _bands_by_level(network: Network) -> list[Band]:
    links, ranks = network.links, network.ranks_per_node
    levels = node_levels(links, ranks)
    kinds: dict[tuple[Group, int, int], list[int]] = {}
    for channel in range(network.channels):
        group, pair = group_of(links, ranks, channel), (0, 0)
        if group is Group.SWITCH_LINK:
            source, sink = (levels[node] for node in _ends(links, channel))
            pair = (source, sink) if source != sink else (0, 0)
        kinds.setdefault((group, *pair), []).append(channel)
    order = list(Group)
    return [
        Band(f"switch level {source} → {sink}" if source != sink else group.value, channels, group)
        for (group, source, sink), channels in sorted(
            kinds.items(), key=lambda item: (order.index(item[0][0]), item[0][1:])
        )
    ]


def node_levels(links: list[tuple[int, int]], ranks: list[int]) -> list[int]:
    """Links from each node to the nearest host: 0 for hosts, 1 for leaf switches."""
    nodes = range(len(ranks))
    level = distances(around(nodes, links), (node for node in nodes if ranks[node]))
    return [level.get(node, -1) for node in nodes]


def share_out(network: Network, busy: NDArray[np.float64], most: int) -> list[Row]:
    """Divide all channels among at most ``most`` rows, but at least one row for each band.

    Bands with few channels have a row for each; others divide the rest into rows of nearly equal numbers of channels:
    in the band's order, or by ``busy``, their times, where the order says nothing."""
    found = bands(network)
    room, parts = most, {}
    for place, band in enumerate(sorted(found, key=lambda band: len(band.channels))):
        parts[band.name] = max(1, min(len(band.channels), room // (len(found) - place)))
        room -= parts[band.name]
    rows = []
    for band in found:
        channels, count = band.channels, parts[band.name]
        if band.name == Group.LINK.value and count < len(channels):
            # Rounded, so that channels of equal time keep the network's order.
            channels = sorted(channels, key=lambda c: (-float(f"{float(busy[c]):.6e}"), c))
        cuts = [len(channels) * part // count for part in range(count + 1)]
        rows += [Row(band, channels[a:b]) for a, b in pairwise(cuts)]
    return rows


def counts(rows: list[Row]) -> str:
    """Number of channels and of rows, as text."""
    channels = sum(len(row.channels) for row in rows)
    return f"{channels:,} channel{'s' * (channels != 1)} in {len(rows):,} row{'s' * (len(rows) != 1)}"


def label(network: Network, row: Row, most: int = 22) -> str:
    """The name of the row's first channel, cut in the middle if it is long, and how many more there are."""
    name = network.channel_name(row.channels[0]).replace("->", "→")
    more = f" +{len(row.channels) - 1:,} more" if len(row.channels) > 1 else ""
    room = most - len(more)
    return (name if len(name) <= room else f"{name[: room // 2 - 1]}…{name[-(room // 2) :]}") + more


def utilisation_of(simulation: Simulation, network: Network, channel: int) -> float:
    """Bytes carried over what the channel could have carried in the whole time; 0 to 1."""
    if simulation.seconds <= 0:
        return 0.0
    return float(simulation.channel_bytes[channel] / (network.rate(channel) * simulation.seconds))


def bound_seconds(simulation: Simulation, network: Network) -> float:
    """The time that the busiest channel needs for its bytes alone: no schedule on these routes is faster."""
    carried = simulation.channel_bytes
    return max([0.0, *(float(carried[c]) / float(network.rate(c)) for c in range(network.channels))])


MOST_HOSTS: Final = 160  # more are drawn by leaf switch
_GAP: Final = 0.8  # between the hosts of two leaf switches
_STUB: Final = 0.4


@dataclass(frozen=True, slots=True)
class Mark:
    """Mark for one node, or for all hosts of a leaf switch."""

    x: float
    y: float
    name: str
    nodes: tuple[int, ...]
    hosts: bool


@dataclass(frozen=True, slots=True)
class Line:
    """The links between two marks. ``stub``: which way a link that is not drawn whole leaves ``a``, and against
    which it leaves ``b``; else zeros. ``bend``: how far its middle lies above the straight line."""

    a: int  # marks
    b: int
    links: tuple[int, ...]
    stub: tuple[float, float] = (0.0, 0.0)
    bend: float = 0.0


@dataclass(frozen=True, slots=True)
class Picture:
    marks: list[Mark]
    lines: list[Line]
    height: int  # pixels
    square: bool  # whether both axes have one scale
    note: str = ""


def picture(network: Network) -> Picture | None:
    """None for networks of which only routes are known."""
    if not network.links:
        return None
    if network.shape.name in ("torus", "mesh", "hypercube"):
        return _grid(network)
    ranks = network.ranks_per_node
    direct = sum(ranks[a] > 0 and ranks[b] > 0 for a, b in network.links)
    return _circle(network) if 2 * direct > len(network.links) else _levels(network)


def _grid(network: Network) -> Picture:
    """Planes of the last two dimensions, next to each other by the dimensions before."""
    sides = sides_of(network)
    plane = [*([1] if len(sides) == 1 else []), *sides][-2:]
    before = sides[:-2]
    across = math.ceil(math.sqrt(math.prod(before))) if before else 1
    ranks = network.ranks_per_node

    def place(node: int) -> tuple[float, float]:
        found = coordinates_of(node, sides)
        row, column = (0, *found)[-2:]
        down, right = divmod(node_at(found[: len(before)], before), across)
        return float(column + right * (plane[1] + 1)), -float(row + down * (plane[0] + 1))

    places = [place(node) for node in range(network.nodes)]
    marks = [
        Mark(x, y, network.name_of(node), (node,), ranks[node] > 0) for node, (x, y) in enumerate(places)
    ]
    along = {len(sides) - 1: (_STUB, 0.0), len(sides) - 2: (0.0, -_STUB)}
    lines = []
    for link, (a, b) in enumerate(network.links):
        dimension = dimension_of((a, b), sides)
        # Links run from a coordinate to the next, and from the last to the first.
        step = coordinates_of(a, sides)[dimension] - coordinates_of(b, sides)[dimension]
        near = dimension in along and abs(step) == 1
        lines.append(
            Line(a, b, (link,), (0.0, 0.0) if near else along.get(dimension, (_STUB * 0.7, _STUB * 0.7)))
        )
    tall = max(y for _, y in places) - min(y for _, y in places)
    wide = max(x for x, _ in places) - min(x for x, _ in places)
    note = (
        "Links round the torus are stubs at both ends." if any(line.stub != (0, 0) for line in lines) else ""
    )
    if before:
        note = (
            "A block is a plane of the last two dimensions; links of the others, and round the torus, are stubs "
            "at both ends."
        )
    return Picture(marks, lines, round(min(900, max(260, 900 * (tall + 1) / (wide + 2)))), True, note)


def _circle(network: Network) -> Picture:
    ranks = network.ranks_per_node
    turn = 2 * math.pi / max(network.nodes, 1)
    marks = [
        Mark(math.sin(turn * node), math.cos(turn * node), name, (node,), ranks[node] > 0)
        for node, name in enumerate(network.names)
    ]
    return Picture(marks, [Line(a, b, (link,)) for link, (a, b) in enumerate(network.links)], 640, True)


def _levels(network: Network) -> Picture:
    """Hosts at the bottom, switches above them by their distance from hosts."""
    levels = node_levels(network.links, network.ranks_per_node)
    near = around(range(network.nodes), network.links)
    together = len(network.hosts) > MOST_HOSTS
    groups = _host_groups(network, near)
    x: dict[int, float] = {}
    marks: list[Mark] = []
    mark_of: dict[int, int] = {}
    at = 0.0
    for leaf, hosts in groups:
        for some in [hosts] if together else [[host] for host in hosts]:
            for host in some:
                x[host], mark_of[host] = at, len(marks)
            name = network.name_of(some[0])
            many = f"{len(some)} hosts of {network.name_of(leaf)}: {name} … {network.name_of(some[-1])}"
            marks.append(Mark(at, 0.0, many if len(some) > 1 else name, tuple(some), True))
            at += 1
        at += _GAP
    for level in range(1, max(levels, default=0) + 1):
        nodes = [node for node in range(network.nodes) if levels[node] == level]
        for node, place in zip(*_spread(nodes, levels, near, x, at - 1 - _GAP), strict=True):
            x[node], mark_of[node] = place, len(marks)
            marks.append(Mark(place, float(level), network.name_of(node), (node,), False))
    links: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for link, (a, b) in enumerate(network.links):
        if mark_of[a] != mark_of[b]:
            links[mark_of[a], mark_of[b]].append(link)
    lines = []
    for (a, b), of in links.items():
        # Switches of a level are linked by bows, which would cover each other as straight lines.
        level = marks[a].y == marks[b].y
        bend = 0.2 + 0.8 * abs(marks[a].x - marks[b].x) / max(at, 1) if level else 0.0
        lines.append(Line(a, b, tuple(of), bend=bend))
    note = (
        f"More than {MOST_HOSTS} hosts: those of a leaf switch are one mark, and its line shows the busiest of "
        "their links."
        if together
        else ""
    )
    bows = any(line.bend for line in lines)
    return Picture(marks, lines, 170 + 110 * (max(levels, default=0) + bows), False, note)


def _host_groups(network: Network, near: Mapping[int, list[int]]) -> list[tuple[int, list[int]]]:
    """Hosts by the switch that they are wired to first, in the order of ranks."""
    groups: dict[int, list[int]] = {}
    for host in network.hosts:
        groups.setdefault(min(near[host], default=host), []).append(host)
    return list(groups.items())


def _spread(
    nodes: list[int], levels: Sequence[int], near: Mapping[int, list[int]], x: dict[int, float], width: float
) -> tuple[list[int], list[float]]:
    """Place nodes above the middle of those below; evenly where these places are too close to each other."""

    def middle(node: int) -> float:
        below = [x[other] for other in near[node] if levels[other] < levels[node] and other in x]
        return sum(below) / len(below) if below else width / 2

    places = {node: middle(node) for node in nodes}
    order = sorted(nodes, key=lambda node: (round(places[node], 6), node))
    least = 0.4 * width / max(len(nodes), 1)
    if all(places[b] - places[a] >= least for a, b in pairwise(order)):
        return order, [places[node] for node in order]
    step = width / len(order)
    return order, [step * (place + 0.5) for place in range(len(order))]
