"""Dragonflies for tests, wired at random: one link between any two groups."""

from __future__ import annotations

from itertools import combinations
from random import Random

from strategies import RATE, NetworkPlan


def dragonfly(groups: int, routers: int, hosts: int, rng: Random, *, even: bool = True) -> NetworkPlan:
    """A rank on each host; nodes and links in any order. ``even``: routers have equally many links to other groups,
    and equally many hosts; else up to two fewer than a group has routers, and up to ``hosts`` hosts."""
    names = [f"s{group}.{router}" for group in range(groups) for router in range(routers)]
    wired = [
        (f"s{group}.{a}", f"s{group}.{b}")
        for group in range(groups)
        for a, b in combinations(range(routers), 2)
    ]
    exits = {}
    for group in range(groups):
        others = [other for other in range(groups) if other != group]
        rng.shuffle(others)
        ports = [router for router in range(routers) for _ in range(routers - 2)]
        rng.shuffle(ports)
        for place, other in enumerate(others):
            exits[group, other] = place % routers if even else ports[place]
    wired += [(f"s{a}.{exits[a, b]}", f"s{b}.{exits[b, a]}") for a, b in combinations(range(groups), 2)]
    for at, router in enumerate(names[:]):
        count = hosts if even or at == 0 else rng.randint(0, hosts)
        names += [f"n{at}.{host}" for host in range(count)]
        wired += [(router, f"n{at}.{host}") for host in range(count)]
    rng.shuffle(names)
    rng.shuffle(wired)
    node = {name: at for at, name in enumerate(names)}
    links = [(node[a], node[b]) if rng.random() < 0.5 else (node[b], node[a]) for a, b in wired]
    return NetworkPlan(names, [int(name[0] == "n") for name in names], links, [RATE] * len(links))
