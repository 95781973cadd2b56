"""The shapes that Slurm's files tell, in whichever syntax: trees of switches, blocks, a ring, a torus.

Readers of a syntax take it apart into :class:`Unit` and :class:`Region`; what these mean is decided here alone."""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Final

from hocket.network.chosen import expand
from hocket.network.description import NetworkDescription
from hocket.network.families import check_sides
from hocket.network.parts import Defaults, Grid
from hocket.network.source import Source, shown
from hocket.system.text import some

Triple = tuple[int, int, int]
MAX_SIDE: Final = 4096
_ONE: Final = "keep the one that is meant in a copy of the file"


@dataclass(frozen=True, slots=True)
class Told:
    """A text of a file, and the line where it stands."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Unit:
    """A switch, block or ring: its name, the list of its hosts, the list of the switches below it (``None``: it has
    none). ``speed``: of the links to what it lists, in a unit of the file's own; ``None`` where it is not told."""

    name: Told
    nodes: Told | None = None
    children: Told | None = None
    speed: float | None = None


@dataclass(frozen=True, slots=True)
class Region:
    """A box of places in a torus, from ``anchor`` on, ``dims`` wide, and the hosts there; x runs fastest."""

    anchor: Triple
    dims: Triple
    nodes: Told
    line: int


def tree_of(
    source: Source, defaults: Defaults, switches: Sequence[Unit], line: int, remedy: str
) -> NetworkDescription:
    """Switches with hosts and switches below them; those that list the same switches are parallel spines. ``line``
    and ``remedy`` are for a tree without hosts."""
    result = NetworkDescription(source=source.name)
    speeds: list[float | None] = []  # of each link
    for switch in switches:
        _add(source, defaults, switch, result)
        speeds += [switch.speed] * (len(result.links) - len(speeds))
    if not result.hosts:
        raise source.error("the network has no hosts", line, remedy)
    _use_speeds(result, speeds)
    _leave_out_empty(result, "switch")
    _allow_spines(result)
    return result


def blocks_of(
    source: Source, defaults: Defaults, blocks: Sequence[Unit], sizes: Sequence[Told], line: int
) -> NetworkDescription:
    """A tree: a switch for each block, one above those that make up each larger size, and a root. How fast the links
    between them are, the file does not say. ``line``: where the blocks begin."""
    result = NetworkDescription(source=source.name)
    for block in blocks:
        _add(source, defaults, block, result)
    if not result.hosts:
        raise source.error("the network has no hosts", line, "add nodes to a block")
    level = [block.name.text for block in blocks]
    for smaller, larger in itertools.pairwise(_checked(source, sizes)):
        level = _joined(result, level, larger // smaller, f"blocks of {larger}", defaults)
    _joined(result, level, len(level), "root", defaults)
    for added in result.nodes:
        added.where = added.where or source.at(line)
    _leave_out_empty(result, "block")
    return result


def ring_of(
    source: Source, defaults: Defaults, rings: Sequence[Unit], what: str, line: int
) -> NetworkDescription:
    """Hosts in a ring, each wired to the next in the order of the list, the last to the first. ``what`` the file calls
    its rings."""
    if not (wired := [ring.nodes for ring in rings if ring.nodes is not None]):
        raise source.error(
            "the ring has no nodes", rings[0].name.line if rings else line, "add nodes: n[1-8]"
        )
    check_only(source, what, len(wired), line)
    nodes = wired[0]
    names = expand(nodes.text, source, nodes.line)
    check_sides(source, "torus", [len(names)], nodes.line)
    result = _grid(source, defaults, [len(names)], _each_once(source, names, nodes.line))
    _say_left_out(result, [ring.name.text for ring in rings if ring.nodes is None], "ring")
    return result


def torus_of(
    source: Source, defaults: Defaults, sides: Triple, regions: Sequence[Region], line: int
) -> NetworkDescription:
    """Hosts wired to their neighbours in three dimensions; x runs fastest. ``line``: where the sides stand."""
    if math.prod(sides) < 1 or max(sides) > MAX_SIDE:
        raise source.error(f"a side is from 1 to {MAX_SIDE}", line, "correct dims")
    # Without sides of 1, which are no dimension; in Hocket's grids the last side runs fastest.
    wide = [side for side in reversed(sides) if side > 1] or [1]
    check_sides(source, "torus", wide, line)
    return _grid(source, defaults, wide, _placed(source, sides, regions))


def check_only(source: Source, what: str, count: int, line: int) -> None:
    """Check that there is one ring or torus: several are not wired to each other."""
    if count != 1:
        raise source.error(f"{what} has {count} entries, which no path joins", line, _ONE)


def _add(source: Source, defaults: Defaults, unit: Unit, result: NetworkDescription) -> None:
    name = unit.name.text
    result.add_switch(name, source.at(unit.name.line))
    for told, are_hosts in ((unit.nodes, True), (unit.children, False)):
        if told is None:
            continue
        where = source.at(told.line)
        for below in expand(told.text, source, told.line):
            if are_hosts:
                result.add_host(below, defaults.ranks, where)
            result.wire(name, below, defaults, where)


def _leave_out_empty(result: NetworkDescription, what: str) -> None:
    """Takes out switches that list no hosts and no switches, and those above these alone, and says so: Slurm keeps
    the leaves of hosts that a cloud has given back."""
    left = Counter(link.a for link in result.links)
    above: dict[str, list[str]] = {}
    for link in result.links:
        above.setdefault(link.b, []).append(link.a)
    empty = [node.name for node in result.nodes if not node.is_host and not left[node.name]]
    for name in empty:  # grows
        for upper in above.get(name, []):
            left[upper] -= 1
            if not left[upper]:
                empty.append(upper)
    if gone := set(empty):
        result.nodes = [node for node in result.nodes if node.name not in gone]
        result.links = [link for link in result.links if link.b not in gone]
        _say_left_out(result, list(dict.fromkeys(empty)), what)


def _say_left_out(result: NetworkDescription, names: Sequence[str], what: str) -> None:
    if names:
        many = "" if len(names) == 1 else ("es" if what.endswith("ch") else "s")
        result.notes.append(f"left out, without hosts: {len(names)} {what}{many} ({some(names)})")


def _use_speeds(result: NetworkDescription, speeds: Sequence[float | None]) -> None:
    """Rates in proportion to the speeds, hosts' usual links at the default rate; only where all switches tell
    one, and not all the same."""
    hosts = {node.name for node in result.nodes if node.is_host}
    of_hosts = [speed for link, speed in zip(result.links, speeds, strict=True) if link.b in hosts]
    if None in speeds or len(set(speeds)) < 2 or not of_hosts:
        return
    usual = max(sorted({speed for speed in of_hosts if speed is not None}), key=of_hosts.count)
    for link, speed in zip(result.links, speeds, strict=True):
        if speed is not None:
            # In proportion to a rate that may be assumed.
            link.rate, link.rate_given = type(link.rate)(link.rate * (speed / usual)), True


def _joined(
    result: NetworkDescription, below: list[str], count: int, name: str, defaults: Defaults
) -> list[str]:
    """Switches above so many each, in their order."""
    if len(below) < 2:
        return below
    above = []
    for first in range(0, len(below), count):
        above.append(name if count >= len(below) else f"{name} #{first // count + 1}")
        result.add_switch(above[-1])
        for each in below[first : first + count]:
            result.wire(above[-1], each, defaults, None)
    return above


def _checked(source: Source, sizes: Sequence[Told]) -> list[int]:
    found = [whole(source, size, "a block size") for size in sizes]
    for at, (smaller, larger) in enumerate(itertools.pairwise(found), 1):
        if smaller < 1 or larger <= smaller or larger % smaller:
            raise source.error(
                f"block size {larger} does not hold several blocks of {smaller}", sizes[at].line,
                "each size is a multiple of the one before",
            )  # fmt: skip
    return found


def _placed(source: Source, sides: Triple, regions: Sequence[Region]) -> list[str]:
    """The host at each place, x fastest."""
    held: list[str | None] = [None] * math.prod(sides)
    for region in regions:
        anchor, dims, line = region.anchor, region.dims, region.line
        names = expand(region.nodes.text, source, region.nodes.line)
        inside = all(a + d <= side for a, d, side in zip(anchor, dims, sides, strict=True))
        if not inside or len(names) != math.prod(dims):
            what = (
                f"{len(names)} nodes for {math.prod(dims)} places"
                if dims == sides
                else f"a region of {math.prod(dims)} places with {len(names)} nodes"
            )
            raise source.error(
                what + ("" if inside else ", which reaches beyond the torus"), line,
                "give each place one host" + ("" if dims == sides else ", within the torus"),
            )  # fmt: skip
        for place, name in enumerate(names):
            x, y, z = place % dims[0], place // dims[0] % dims[1], place // (dims[0] * dims[1])
            at = anchor[0] + x + sides[0] * (anchor[1] + y + sides[1] * (anchor[2] + z))
            if held[at] is not None:
                raise source.error(
                    f"{shown(name)} lies where {shown(str(held[at]))} is", line, "move a region"
                )
            held[at] = name
    line = regions[0].line if regions else 0
    if missing := held.count(None):
        raise source.error(f"{missing} of {len(held)} places have no host", line, "add a region for them")
    return _each_once(source, [str(name) for name in held], line)


def _each_once(source: Source, names: list[str], line: int) -> list[str]:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise source.error(f"host {shown(name)} stands twice", line, "give each host one place")
        seen.add(name)
    return names


def _grid(source: Source, defaults: Defaults, sides: list[int], names: list[str]) -> NetworkDescription:
    grid = Grid("torus", sides, defaults.rate, defaults.latency, names, defaults.ranks)
    return NetworkDescription(source=source.name, shape="grid", grid=grid)


def whole(source: Source, value: Told, what: str) -> int:
    """``what`` the value is, as a whole number of at most seven digits."""
    if not (value.text.isascii() and value.text.isdigit() and len(value.text) < 8):
        raise source.error(f"{what} is {shown(value.text)}, no whole number", value.line, "write digits")
    return int(value.text)


def _allow_spines(description: NetworkDescription) -> None:
    """Makes a graph of switches that are below several others: each is wired to all that list it. Messages take the
    shortest paths.

    Links name the upper switch first. Switches above themselves stay as they are, for the core to refuse."""
    upper: dict[str, list[str]] = {node.name: [] for node in description.nodes if not node.is_host}
    piece = {name: {name} for name in upper}  # of the switches joined so far
    tree = True
    for index in description.uplinks():
        link = description.links[index]
        if link.a in upper[link.b]:
            return  # the same switch twice on one line
        upper[link.b].append(link.a)
        smaller, larger = sorted((piece[link.a], piece[link.b]), key=len)
        tree = tree and smaller is not larger
        larger |= smaller
        piece.update(dict.fromkeys(smaller, larger))
    if tree:
        return
    try:
        TopologicalSorter(upper).prepare()
    except CycleError:
        return
    description.shape = "graph"
