"""Families of switched networks: how many nodes and links they have, and their descriptions, wired by the core.

Hosts are called n0, n1, …, switches s0, s1, …; what else the arguments mean is said by ``spec.hpp`` of the core."""

import math
from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final

from hocket import _core
from hocket._core import Network, NetworkSpec
from hocket.errors import Where
from hocket.network.description import NetworkDescription
from hocket.network.parts import MAX_NAME, MAX_NODES, Defaults, Shape, Wiring
from hocket.network.source import Source, shown

MAX_LINKS: Final = 4 * MAX_NODES


def switch_tree(
    source: str, switches: Sequence[tuple[int, int]], defaults: Defaults, where: Where
) -> NetworkDescription:
    """Switches as (parent or -1, number of hosts), parents first."""
    sizes = array("i", (parent for parent, _ in switches)), array("I", (hosts for _, hosts in switches))
    return _wired(source, "tree", partial(_core.NetworkSpec.tree, *sizes), len(switches) - 1, defaults, where)


def fat_tree_levels(down: Sequence[int], up: Sequence[int]) -> list[int]:
    """The number of nodes on each level of a fat tree, hosts first."""
    return [math.prod(up[:level]) * math.prod(down[level:]) for level in range(len(down) + 1)]


def fat_tree_links(down: Sequence[int], up: Sequence[int]) -> int:
    """The number of links of a fat tree, parallel cables counted as one."""
    return sum(size * parents for size, parents in zip(fat_tree_levels(down, up), up, strict=False))


def fat_tree(
    source: str,
    down: Sequence[int],
    up: Sequence[int],
    cables: Sequence[int],
    defaults: Defaults,
    where: Where,
    names: Sequence[str] = (),
) -> NetworkDescription:
    """An extended generalised fat tree: a tree if each switch has one parent, else a graph. ``names``: of all nodes,
    level by level from the hosts."""
    spec = partial(_core.NetworkSpec.fat_tree, down, up, cables, names=names)
    uplinks = fat_tree_links(down, up) - fat_tree_levels(down, up)[0] * up[0]
    rates = tuple({defaults.rate * parallel for parallel in cables[1:]})
    return _wired(source, "tree" if max(up) == 1 else "graph", spec, uplinks, defaults, where, rates)


def dragonfly_links(groups: int, routers: int, hosts: int, between: int) -> int:
    """The number of links of a dragonfly."""
    inside = groups * routers * hosts + groups * (routers * (routers - 1) // 2)
    return inside + between * (groups * (groups - 1) // 2)


def dragonfly(source: str, sizes: Sequence[int], defaults: Defaults, where: Where) -> NetworkDescription:
    """Groups of routers, each wired to each within its group. ``sizes``: groups, routers in each, hosts on a router,
    links between any two groups."""
    groups, routers, hosts, _ = sizes
    uplinks = dragonfly_links(*sizes) - groups * routers * hosts
    return _wired(source, "graph", partial(_core.NetworkSpec.dragonfly, *sizes), uplinks, defaults, where)


def dragonfly_plus_links(groups: int, leaves: int, hosts: int, spines: int, between: int) -> int:
    """The number of links of a dragonfly+."""
    return groups * leaves * (hosts + spines) + between * (groups * (groups - 1) // 2)


def dragonfly_plus(source: str, sizes: Sequence[int], defaults: Defaults, where: Where) -> NetworkDescription:
    """Groups of leaves with hosts, each leaf wired to each spine of its group. ``sizes``: groups, leaves in each,
    hosts on a leaf, spines in each group, links between any two groups."""
    groups, leaves, hosts, *_ = sizes
    uplinks = dragonfly_plus_links(*sizes) - groups * leaves * hosts
    return _wired(
        source, "graph", partial(_core.NetworkSpec.dragonfly_plus, *sizes), uplinks, defaults, where
    )


def _wired(
    source: str, shape: Shape, spec: Callable[..., NetworkSpec], uplinks: int, defaults: Defaults, where: Where,
    uplink_rates: tuple[float, ...] | None = None,
) -> NetworkDescription:  # fmt: skip
    """A network of so many inter-switch links, as fast as those of hosts unless ``uplink_rates`` says otherwise."""
    make = partial(spec, equipment=(defaults.rate, defaults.latency, defaults.ranks))
    rates = (defaults.rate,) if uplink_rates is None else uplink_rates
    wiring = Wiring(shape, make, uplinks, rates, defaults.rate, where)
    return NetworkDescription(source=source, shape=shape, wiring=wiring)


def sides_of(network: Network) -> list[int]:
    """Length of each dimension, also for a hypercube; empty for networks of other shapes."""
    return [2] * network.sides[0] if network.shape.name == "hypercube" else list(network.sides)


def coordinates_of(node: int, sides: Sequence[int]) -> tuple[int, ...]:
    found = []
    for side in reversed(sides):
        node, coordinate = divmod(node, side)
        found.append(coordinate)
    return tuple(reversed(found))


def node_at(coordinates: Iterable[int], sides: Sequence[int]) -> int:
    node = 0
    for coordinate, side in zip(coordinates, sides, strict=True):
        node = node * side + coordinate
    return node


def dimension_of(link: tuple[int, int], sides: Sequence[int]) -> int:
    """The dimension along which two neighbours are linked, from 0."""
    a, b = (coordinates_of(node, sides) for node in link)
    return next(dimension for dimension in range(len(sides)) if a[dimension] != b[dimension])


MAX_DIMENSIONS: Final = 32
MAX_SIDE: Final = 4096  # explicit schedules end at as many hosts
TIE_RULES: Final = ("parity", "up")


def check_sides(source: Source, kind: str, sides: list[int], line: int = 0) -> None:
    """Refuses a grid with too many dimensions or hosts, or with sides that are none."""
    if kind == "hypercube":
        sides = [2] * min(sides[0], MAX_DIMENSIONS + 1)
    if 0 in sides:
        raise source.error("a side of 0 holds no hosts", line, "a side has 2 and more")
    if 1 in sides and len(sides) > 1:
        smaller = "x".join(str(side) for side in sides[:MAX_DIMENSIONS] if side != 1) or "1"
        raise source.error("a side of 1 is not a dimension", line, f"leave it out: {kind}:{smaller}")
    if len(sides) > MAX_DIMENSIONS:
        raise source.error(f"a {kind} of more than {MAX_DIMENSIONS} dimensions", line, "give fewer sides")
    if max(sides) > MAX_SIDE:
        raise source.error(f"a side of {max(sides):,}, more than {MAX_SIDE:,}", line, "give smaller sides")
    if math.prod(sides) > MAX_NODES:
        remedy = "give fewer dimensions" if kind == "hypercube" else "give smaller sides"
        raise source.error(f"a {kind} of more than {MAX_NODES:,} hosts", line, remedy)


def check_ties(source: Source, sides: list[int], ties: Any, line: int = 0) -> str | list[str]:
    """Ties as a file gives them: the name of a rule, or one row of signs per side."""
    example = f'write ties = "{TIE_RULES[0]}" or "{TIE_RULES[1]}", or one text of + and - per side'
    if isinstance(ties, str):
        if ties not in TIE_RULES:
            raise source.error(f"there is no rule {shown(ties)} for ties", line, example)
        return ties
    if not isinstance(ties, list) or not all(isinstance(row, str) for row in ties):
        raise source.error("ties must be the name of a rule or a list of texts", line, example)
    if len(ties) != len(sides):
        raise source.error(
            f"{len(ties)} rows of ties for {len(sides)} sides", line, 'write one row per side, "" for none'
        )
    for number, (side, row) in enumerate(zip(sides, ties, strict=True), 1):
        length = side if side > 2 and side % 2 == 0 else 0
        if len(row) != length or set(row) - set("+-"):
            remedy = (
                f"write {length} signs + or -, one for each coordinate"
                if length
                else 'write "": only even sides above 2 have ties'
            )
            raise source.error(f"{shown(row)} are not the ties of side {number}, {side}", line, remedy)
    return ties


def read_coordinates(source: Source, sides: list[int]) -> list[str]:
    """The names of all hosts in row-major order, from lines ``NAME x y z``; each host has one place."""
    form = (
        " ".join(["NAME", *"xyzuvw"[: len(sides)]]) if len(sides) <= 6 else f"NAME and {len(sides)} numbers"
    )
    names: list[str | None] = [None] * math.prod(sides)
    lines: dict[str, int] = {}
    for line, text in source.content_lines():
        name, *words = text.rsplit(None, len(sides))
        if len(words) != len(sides):
            raise source.error(
                f"{shown(text)} is not a name and {len(sides)} coordinates", line, f"write {form}"
            )
        coordinates = []
        for number, (word, side) in enumerate(zip(words, sides, strict=True), 1):
            if not (word.isascii() and word.isdigit()):
                raise source.error(
                    f"{shown(word)} is not a coordinate", line, f"write {form}, counted from 0"
                )
            if len(word) > 7 or int(word) >= side:
                raise source.error(
                    f"coordinate {number} is {shown(word)[1:-1]}, the side has {side}",
                    line,
                    f"coordinates count from 0 to {side - 1}",
                )
            coordinates.append(int(word))
        place = node_at(coordinates, sides)
        if len(name) > MAX_NAME:
            raise source.error(
                f"the name {shown(name)} has {len(name):,} characters", line, f"a name has at most {MAX_NAME}"
            )
        if name in lines:
            raise source.error(
                f"host {name!r} is placed twice, first in line {lines[name]}",
                line,
                "give each host one place",
            )
        if (other := names[place]) is not None:
            raise source.error(
                f"{_at(place, sides)} holds {other!r} already, since line {lines[other]}",
                line,
                "give each place one host",
            )
        names[place] = name
        lines[name] = line
    if missing := [place for place, name in enumerate(names) if name is None]:
        more = f" and at {len(missing) - 1:,} other places" if len(missing) > 1 else ""
        raise source.error(
            f"no host is at {_at(missing[0], sides)}{more}",
            remedy=f"the sides ask for {len(names):,} hosts: add lines or correct sides",
        )
    return [name for name in names if name is not None]


def _at(place: int, sides: list[int]) -> str:
    return f"({', '.join(map(str, coordinates_of(place, sides)))})"
