"""Positions of nodes in the picture of a network. Hosts of a leaf switch become one mark where there are
many."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from hocket._core import Network
from hocket.network.families import coordinates_of, sides_of
from hocket.network.parts import around
from hocket.pictures.channels import node_levels

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
        number = 0
        for side, coordinate in zip(before, found, strict=False):
            number = number * side + coordinate
        row, column = (0, *found)[-2:]
        down, right = divmod(number, across)
        return float(column + right * (plane[1] + 1)), -float(row + down * (plane[0] + 1))

    places = [place(node) for node in range(network.nodes)]
    marks = [
        Mark(x, y, network.name_of(node), (node,), ranks[node] > 0) for node, (x, y) in enumerate(places)
    ]
    along = {len(sides) - 1: (_STUB, 0.0), len(sides) - 2: (0.0, -_STUB)}
    lines = []
    for link, (a, b) in enumerate(network.links):
        from_, to = coordinates_of(a, sides), coordinates_of(b, sides)
        dimension = next(d for d in range(len(sides)) if from_[d] != to[d])
        # Links run from a coordinate to the next, and from the last to the first.
        near = dimension in along and abs(from_[dimension] - to[dimension]) == 1
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
