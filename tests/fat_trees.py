"""Fat trees of any shape for tests: parts of them, and forwarding tables by any way that messages take."""

from __future__ import annotations

import math
from random import Random

from hypothesis import assume
from hypothesis import strategies as st

from hocket import _core
from strategies import NetworkPlan

Shape = tuple[list[int], list[int]]


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """Children and parents per level: any bandwidth against that below, one link from each host."""
    levels = draw(st.sampled_from([2, 2, 3]))
    down = draw(st.lists(st.integers(1, 5), min_size=levels, max_size=levels))
    up = [1, *draw(st.lists(st.integers(1, 5), min_size=levels - 1, max_size=levels - 1))]
    assume(4 <= math.prod(down) <= 80 and 1 < math.prod(up) <= 30)
    return down, up


def with_gaps(plan: NetworkPlan, shape: Shape, rng: Random) -> NetworkPlan:
    """Remove some hosts and some leaves, which are not even wired; of each leaf and pod the first one
    stays."""
    leaf, pod = shape[0][0], math.prod(shape[0][:2])
    leaves = {at for at in range(math.prod(shape[0]) // leaf) if at * leaf % pod and rng.random() < 0.15}

    def is_gone(name: str) -> bool:
        if name.startswith("s"):
            return name.startswith("s1.") and int(name[3:]) in leaves
        host = int(name[1:])
        return host // leaf in leaves or (host % leaf > 0 and rng.random() < 0.15)

    kept = [node for node, name in enumerate(plan.names) if not is_gone(name)]
    number = {node: at for at, node in enumerate(kept)}
    links = [(number[a], number[b]) for a, b in plan.links if a in number and b in number]
    names, ranks = [plan.names[node] for node in kept], [plan.ranks[node] for node in kept]
    return NetworkPlan(names, ranks, links, plan.rates[: len(links)])


def with_ranks(plan: NetworkPlan, rng: Random) -> list[int]:
    """Put ranks on all hosts, on most, on some, or on a stretch."""
    hosts = sum(plan.ranks)
    first, last = rng.randrange(hosts // 3 + 1), hosts - 1 - rng.randrange(hosts // 3 + 1)
    most = rng.choice([1, 1, 0.9, 0.5])
    return [
        int(rank and first <= int(name[1:]) <= last and rng.random() < most)
        for name, rank in zip(plan.names, plan.ranks, strict=True)
    ]


def next_hops(plan: NetworkPlan, shape: Shape, way: dict[tuple[int, str], int]) -> list[tuple[int, int, int]]:
    """Tables of all switches: messages to host ``h`` turn, coming from switch ``s``, by the digits ``way[h, s]``."""
    down, up = shape
    below = [math.prod(down[:level]) for level in range(len(down) + 1)]
    twins = [math.prod(up[:level]) for level in range(len(down) + 1)]
    node = {name: at for at, name in enumerate(plan.names)}
    channel = {
        ends: 2 * i + turned
        for i, (a, b) in enumerate(plan.links)
        for turned, ends in enumerate(((a, b), (b, a)))
    }
    hops = []
    for name in plan.names:
        if name[0] == "n":
            continue
        level, at = map(int, name[1:].split("."))
        subtree, twin = divmod(at, twins[level])
        for host in range(below[-1]):
            if f"n{host}" not in node:
                continue
            if host // below[level] == subtree:
                level_to, twin_to = level - 1, twin % twins[level - 1]
            else:
                level_to = level + 1
                twin_to = twin + way[host, name] // twins[level] % up[level] * twins[level]
            to = (
                f"s{level_to}.{host // below[level_to] * twins[level_to] + twin_to}"
                if level_to
                else f"n{host}"
            )
            if level_to > level:
                to = f"s{level_to}.{subtree // down[level] * twins[level_to] + twin_to}"
            hops.append((node[name], node[f"n{host}"], channel[node[name], node[to]]))
    return hops


def routed(plan: NetworkPlan, hops: list[tuple[int, int, int]]) -> _core.Network:
    a, b = zip(*plan.links, strict=True)
    return _core.Network.graph(plan.names, plan.ranks, list(a), list(b), plan.rates, [1e-6] * len(a), hops)
