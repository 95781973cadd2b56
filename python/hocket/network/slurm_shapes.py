"""Topologies of Slurm's ``topology.yaml`` beside trees: ``torus3d`` (26.05), ``ring`` (25.11) and ``block``."""

from __future__ import annotations

import itertools
import math
from typing import Final

import yaml

from hocket.network.description import Defaults, Grid, Link, NetworkDescription
from hocket.network.grids import check_sides
from hocket.network.hostlist import expand
from hocket.network.source import Source, shown
from hocket.network.yaml_nodes import line_of, mapping, sequence, text

_AXES: Final = ("x", "y", "z")
_ONE: Final = "keep the one that is meant in a copy of the file"


def read_torus(source: Source, defaults: Defaults, node: yaml.Node) -> NetworkDescription:
    """Hosts wired to their neighbours in three dimensions; x runs fastest. Placements are Slurm's own affair."""
    torus = _only(source, node, "torus3d", "toruses", ("name", "dims", "nodes", "regions", "placements"))
    line = line_of(next(iter(torus.values()))) if torus else line_of(node)
    if "dims" not in torus or ("nodes" in torus) == ("regions" in torus):
        raise source.error(
            "a torus needs dims, and either nodes or regions", line, "write dims: {x: 4, y: 4, z: 2}"
        )
    sides = _triple(source, torus["dims"], "dims")
    if math.prod(sides) < 1 or max(sides) > 4096:
        raise source.error("a side is from 1 to 4096", line_of(torus["dims"]), "correct dims")
    # Without sides of 1, which are no dimension; in Hocket's grids the last side runs fastest.
    wide = [side for side in reversed(sides) if side > 1] or [1]
    check_sides(source, "torus", wide, line_of(torus["dims"]))
    names = _placed(source, torus, sides)
    return _grid(source, defaults, wide, names)


def read_ring(source: Source, defaults: Defaults, node: yaml.Node) -> NetworkDescription:
    """Hosts in a ring, each wired to the next in the order of the list, the last to the first."""
    ring = _only(source, node, "ring", "rings", ("ring", "nodes"))
    if "nodes" not in ring:
        raise source.error("the ring has no nodes", line_of(node), "add nodes: n[1-8]")
    names = _hosts(source, ring["nodes"])
    check_sides(source, "torus", [len(names)], line_of(ring["nodes"]))
    return _grid(source, defaults, [len(names)], _each_once(source, names, line_of(ring["nodes"])))


def read_blocks(source: Source, defaults: Defaults, node: yaml.Node) -> NetworkDescription:
    """A tree: a switch for each block, one above those that make up each larger size, and a root. How fast the links
    between them are, the file does not say."""
    values = mapping(source, node, "block topology", ("block_sizes", "blocks"))
    if "blocks" not in values:
        raise source.error("the topology has no blocks", line_of(node), "add a list of blocks")
    result = NetworkDescription(source=source.name)
    level: list[str] = []
    for item in sequence(source, values["blocks"], "blocks"):
        block = mapping(source, item, "block", ("block", "nodes"))
        line = line_of(item)
        if "block" not in block or "nodes" not in block:
            raise source.error("a block needs a name and nodes", line, "write block: b1 and nodes: n[1-4]")
        level.append(text(source, block["block"], "block"))
        result.add_switch(level[-1], source.at(line))
        for host in _hosts(source, block["nodes"]):
            at = source.at(line_of(block["nodes"]))
            result.add_host(host, defaults.ranks, at)
            result.links.append(Link(level[-1], host, defaults.rate, defaults.latency, at, False))
    if not result.hosts:
        raise source.error("the network has no hosts", line_of(values["blocks"]), "add nodes to a block")
    sizes = _sizes(source, values["block_sizes"]) if "block_sizes" in values else []
    where = source.at(line_of(node))
    for smaller, larger in itertools.pairwise(sizes):
        level = _joined(result, level, larger // smaller, f"blocks of {larger}", defaults)
    _joined(result, level, len(level), "root", defaults)
    for added in result.nodes:
        added.where = added.where or where
    return result


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
        result.links += [
            Link(above[-1], each, defaults.rate, defaults.latency, None, False)
            for each in below[first : first + count]
        ]
    return above


def _sizes(source: Source, node: yaml.Node) -> list[int]:
    sizes = [_number(source, item, "a block size") for item in sequence(source, node, "block_sizes")]
    for smaller, larger in itertools.pairwise(sizes):
        if smaller < 1 or larger <= smaller or larger % smaller:
            raise source.error(
                f"block size {larger} does not hold several blocks of {smaller}", line_of(node),
                "each size is a multiple of the one before",
            )  # fmt: skip
    return sizes


def _only(
    source: Source, node: yaml.Node, kind: str, key: str, known: tuple[str, ...]
) -> dict[str, yaml.Node]:
    values = mapping(source, node, kind, (key,))
    items = sequence(source, values.get(key), key)
    if len(items) != 1:
        raise source.error(
            f"{key} has {len(items)} entries, between which no wire leads", line_of(node), _ONE
        )
    return mapping(source, items[0], kind, known)


def _placed(source: Source, torus: dict[str, yaml.Node], sides: list[int]) -> list[str]:
    """The host at each place, x fastest."""
    if "nodes" in torus:
        line = line_of(torus["nodes"])
        names = _hosts(source, torus["nodes"])
        if len(names) != math.prod(sides):
            raise source.error(
                f"{len(names)} nodes for {math.prod(sides)} places", line, "give each place one host"
            )
        return _each_once(source, names, line)
    held: list[str | None] = [None] * math.prod(sides)
    for item in sequence(source, torus["regions"], "regions"):
        region = mapping(source, item, "region", ("anchor", "dims", "nodes"))
        line = line_of(item)
        if len(region) != 3:
            raise source.error("a region needs anchor, dims and nodes", line, "add what is missing")
        anchor, dims = (_triple(source, region[key], key) for key in ("anchor", "dims"))
        names = _hosts(source, region["nodes"])
        inside = all(a + d <= side for a, d, side in zip(anchor, dims, sides, strict=True))
        if not inside or len(names) != math.prod(dims):
            raise source.error(
                f"a region of {math.prod(dims)} places with {len(names)} nodes"
                + ("" if inside else ", which reaches beyond the torus"), line,
                "give each place one host, within the torus",
            )  # fmt: skip
        for number, name in enumerate(names):
            x, y, z = number % dims[0], number // dims[0] % dims[1], number // (dims[0] * dims[1])
            place = anchor[0] + x + sides[0] * (anchor[1] + y + sides[1] * (anchor[2] + z))
            if held[place] is not None:
                raise source.error(
                    f"{shown(name)} lies where {shown(str(held[place]))} is", line, "move a region"
                )
            held[place] = name
    missing = held.count(None)
    if missing:
        raise source.error(
            f"{missing} of {len(held)} places have no host",
            line_of(torus["regions"]),
            "add a region for them",
        )
    return _each_once(source, [str(name) for name in held], line_of(torus["regions"]))


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


def _hosts(source: Source, node: yaml.Node) -> list[str]:
    return expand(text(source, node, "nodes"), source, line_of(node))


def _triple(source: Source, node: yaml.Node, what: str) -> list[int]:
    values = mapping(source, node, what, _AXES)
    if len(values) != len(_AXES):
        raise source.error(f"{what} needs x, y and z", line_of(node), f"write {what}: {{x: 4, y: 4, z: 2}}")
    return [_number(source, values[axis], axis) for axis in _AXES]


def _number(source: Source, node: yaml.Node, what: str) -> int:
    value = text(source, node, what)
    if not (value.isascii() and value.isdigit() and len(value) < 8):
        raise source.error(f"{what} is {shown(value)}, no whole number", line_of(node), "write digits")
    return int(value)
