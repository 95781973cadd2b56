"""Families of switched networks, wired up: fat trees and dragonflies."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Final

from hocket.errors import Where
from hocket.network.description import MAX_NODES, Defaults, Link, NetworkDescription

MAX_LINKS: Final = 4 * MAX_NODES


def fat_tree_levels(down: Sequence[int], up: Sequence[int]) -> list[int]:
    """The number of nodes on each level of a fat tree, hosts first."""
    return [math.prod(up[:level]) * math.prod(down[level:]) for level in range(len(down) + 1)]


def fat_tree_links(down: Sequence[int], up: Sequence[int]) -> int:
    """The number of links of a fat tree, parallel cables counted as one."""
    return sum(size * parents for size, parents in zip(fat_tree_levels(down, up), up, strict=False))


def fat_tree(
    source: str,
    hosts: Sequence[str],
    switch: Callable[[int, int], str],
    down: Sequence[int],
    up: Sequence[int],
    cables: Sequence[int],
    defaults: Defaults,
    where: Where | None,
) -> NetworkDescription:
    """An extended generalised fat tree: a tree if each switch has one parent, else a graph.

    A node of level i + 1 has ``down[i]`` children, a node of level i has ``up[i]`` parents, joined by
    ``cables[i]`` parallel cables, which are one link as many times as fast. Hosts are level 0;
    ``switch(level, position)`` names the others. Source: Öhring et al., "On generalized fat trees"
    (1995), in the notation of SimGrid's ``topo_parameters``.
    """
    levels = len(down)
    sizes = fat_tree_levels(down, up)
    result = NetworkDescription(source=source, shape="tree" if max(up) == 1 else "graph")
    # Each name once: a switch has many links, and there may be millions of them.
    names = [hosts] + [[switch(level, at) for at in range(sizes[level])] for level in range(1, levels + 1)]
    for host in hosts:
        result.add_host(host, defaults.ranks, where)
    for name in itertools.chain.from_iterable(names[1:]):
        result.add_switch(name, where)
    for level in range(levels):
        # A node's position is a number whose digit j counts parents below its level and children above;
        # a child and its parent differ in digit `level` only.
        step = math.prod(up[:level])
        rate = defaults.rate * cables[level]
        for high, child, low in itertools.product(
            range(math.prod(down[level + 1 :])), range(down[level]), range(step)
        ):
            position = (high * down[level] + child) * step + low
            for parent in range(up[level]):
                upper = names[level + 1][(high * up[level] + parent) * step + low]
                result.links.append(Link(upper, names[level][position], rate, defaults.latency, where))
    return result


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
    where: Where | None,
) -> NetworkDescription:
    """Groups of routers, each wired to each within its group; ``between`` links between any two groups.

    The links to other groups are dealt out evenly over a group's routers, in the order of the distance
    from group to group. Hosts n0, n1, … and routers s0, s1, … are numbered group by group. Source: Kim,
    Dally, Scott and Abts, "Technology-driven, highly-scalable dragonfly topology" (2008).
    """
    result = NetworkDescription(source=source, shape="graph")

    def join(a: str, b: str) -> None:
        result.links.append(Link(a, b, defaults.rate, defaults.latency, where))

    for router in range(groups * routers):
        result.add_switch(f"s{router}", where)
        for number in range(router * hosts, (router + 1) * hosts):
            result.add_host(f"n{number}", defaults.ranks, where)
            join(f"s{router}", f"n{number}")
    for group in range(groups):
        for a, b in itertools.combinations(range(group * routers, (group + 1) * routers), 2):
            join(f"s{a}", f"s{b}")
    _join_groups(
        groups, between, join, lambda group, port, ports: f"s{group * routers + port * routers // ports}"
    )
    return result


def _join_groups(
    groups: int,
    between: int,
    join: Callable[[str, str], None],
    switch: Callable[[int, int, int], str],
) -> None:
    """``between`` links from each group to each: port p of ``ports`` of a group leads p + 1 groups further, what comes
    back from there has the opposite port. ``switch(group, port, ports)`` has that port."""
    others = groups - 1
    for group, ahead, copy in itertools.product(range(groups), range(others), range(between)):
        other = (group + ahead + 1) % groups
        if group < other:
            first, ports = copy * others, others * between
            join(switch(group, first + ahead, ports), switch(other, first + others - 1 - ahead, ports))


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
    where: Where | None,
) -> NetworkDescription:
    """Groups of leaf switches with hosts, each leaf wired to each spine of its group; ``between`` links between any two
    groups, dealt out evenly over their spines.

    Hosts n0, n1, … are numbered group by group, switches s0, s1, … too, in a group the leaves first. Source: Shpiner
    et al., "Dragonfly+: Low Cost Topology for Scaling Datacenters" (2017).
    """
    result = NetworkDescription(source=source, shape="graph")
    size = leaves + spines

    def join(a: str, b: str) -> None:
        result.links.append(Link(a, b, defaults.rate, defaults.latency, where))

    for group, place in itertools.product(range(groups), range(size)):
        name = f"s{group * size + place}"
        result.add_switch(name, where)
        if place >= leaves:
            continue
        first = (group * leaves + place) * hosts
        for number in range(first, first + hosts):
            result.add_host(f"n{number}", defaults.ranks, where)
            join(name, f"n{number}")
        for spine in range(group * size + leaves, (group + 1) * size):
            join(name, f"s{spine}")
    _join_groups(
        groups, between, join, lambda group, port, ports: f"s{group * size + leaves + port * spines // ports}"
    )
    return result
