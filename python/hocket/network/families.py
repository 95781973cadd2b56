"""Families of switched networks: how many nodes and links they have, and their descriptions, wired by the core.

Hosts are called n0, n1, …, switches s0, s1, …; what else the arguments mean is said by ``families.hpp`` of the core.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from functools import partial
from typing import Final

from hocket import _core
from hocket.errors import Where
from hocket.network.description import NetworkDescription
from hocket.network.parts import MAX_NODES, Defaults, Wiring

MAX_LINKS: Final = 4 * MAX_NODES


def switch_tree(
    source: str, switches: Sequence[tuple[int, int]], defaults: Defaults, where: Where
) -> NetworkDescription:
    """Switches as (parent or -1, number of hosts), parents first."""
    make = partial(
        _core.tree_spec,
        array("i", (parent for parent, _ in switches)),
        array("I", (hosts for _, hosts in switches)),
        defaults.rate,
        defaults.latency,
        defaults.ranks,
    )
    uplinks = len(switches) - 1
    return _described(
        source, Wiring("tree", make, uplinks, (defaults.rate,) if uplinks else (), defaults.rate, where)
    )


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
    make = partial(
        _core.fat_tree_spec, down, up, cables, defaults.rate, defaults.latency, defaults.ranks, names
    )
    uplinks = fat_tree_links(down, up) - fat_tree_levels(down, up)[0] * up[0]
    rates = tuple({defaults.rate * parallel for parallel in cables[1:]})
    return _described(
        source, Wiring("tree" if max(up) == 1 else "graph", make, uplinks, rates, defaults.rate, where)
    )


def dragonfly_links(groups: int, routers: int, hosts: int, between: int) -> int:
    """The number of links of a dragonfly."""
    inside = groups * routers * hosts + groups * (routers * (routers - 1) // 2)
    return inside + between * (groups * (groups - 1) // 2)


def dragonfly(
    source: str,
    groups: int,
    routers: int,
    hosts: int,
    between: int,
    defaults: Defaults,
    where: Where,
) -> NetworkDescription:
    """Groups of routers, each wired to each within its group; ``between`` links between any two groups."""
    sizes = groups, routers, hosts, between
    make = partial(_core.dragonfly_spec, *sizes, defaults.rate, defaults.latency, defaults.ranks)
    uplinks = dragonfly_links(*sizes) - groups * routers * hosts
    return _described(
        source, Wiring("graph", make, uplinks, (defaults.rate,) if uplinks else (), defaults.rate, where)
    )


def dragonfly_plus_links(groups: int, leaves: int, hosts: int, spines: int, between: int) -> int:
    """The number of links of a dragonfly+."""
    return groups * leaves * (hosts + spines) + between * (groups * (groups - 1) // 2)


def dragonfly_plus(
    source: str,
    groups: int,
    leaves: int,
    hosts: int,
    spines: int,
    between: int,
    defaults: Defaults,
    where: Where,
) -> NetworkDescription:
    """Groups of leaf switches with hosts, each leaf wired to each spine of its group; ``between`` links between any two
    groups."""
    sizes = groups, leaves, hosts, spines, between
    make = partial(_core.dragonfly_plus_spec, *sizes, defaults.rate, defaults.latency, defaults.ranks)
    uplinks = dragonfly_plus_links(*sizes) - groups * leaves * hosts
    return _described(source, Wiring("graph", make, uplinks, (defaults.rate,), defaults.rate, where))


def _described(source: str, wiring: Wiring) -> NetworkDescription:
    return NetworkDescription(source=source, shape=wiring.shape, wiring=wiring)
