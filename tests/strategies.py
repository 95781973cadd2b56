"""Random networks for the tests: seeded, and as hypothesis strategies.

A network is written down as a `NetworkPlan` (names, ranks, links), so that a test can look at it without
asking the core.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st

from hocket import _core
from hocket.network.families import fat_tree_levels

RATE = 1.25e8
LATENCY = 1e-6
ALL_EXAMPLES = os.environ.get("HOCKET_TEST_EXAMPLES") == "all"


def sampled(most: int) -> Callable[[Any], Any]:
    """So many examples in ``make test-slow``, half of them in ``make test``: they take long."""
    given = settings(max_examples=most if ALL_EXAMPLES else most // 2, deadline=None)
    return lambda test: pytest.mark.sampled(given(test))


@dataclass
class NetworkPlan:
    """A network of links, before the core has seen it."""

    names: list[str] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    links: list[tuple[int, int]] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)

    def node(self, ranks: int, parent: int | None = None, rate: float = RATE) -> int:
        """Adds a node (a switch if it has no ranks), linked to its parent."""
        self.names.append(f"{'n' if ranks else 's'}{len(self.names)}")
        self.ranks.append(ranks)
        if parent is not None:
            self.link(parent, len(self.names) - 1, rate)
        return len(self.names) - 1

    def link(self, a: int, b: int, rate: float = RATE) -> None:
        self.links.append((a, b))
        self.rates.append(rate)

    @property
    def hosts(self) -> list[int]:
        return [node for node, ranks in enumerate(self.ranks) if ranks]

    @property
    def host_of(self) -> list[int]:
        """Per rank: its host."""
        return [node for node, ranks in enumerate(self.ranks) for _ in range(ranks)]

    def build(self, kind: str = "tree") -> _core.Network:
        make = _core.Network.tree if kind == "tree" else _core.Network.graph
        a, b = [x for x, _ in self.links], [y for _, y in self.links]
        return make(self.names, self.ranks, a, b, self.rates, [LATENCY] * len(a))

    def adjacency(self) -> list[list[tuple[int, int]]]:
        """Per node: (channel, neighbour) of the channels that leave it."""
        leaving: list[list[tuple[int, int]]] = [[] for _ in self.names]
        for i, (a, b) in enumerate(self.links):
            leaving[a].append((2 * i, b))
            leaving[b].append((2 * i + 1, a))
        return leaving

    def tree_route(self, src: int, dst: int) -> list[int]:
        """The channels from one host to another in a tree, by breadth-first search."""
        leaving = self.adjacency()
        came: dict[int, tuple[int, int]] = {src: (-1, -1)}
        queue = deque([src])
        while queue and dst not in came:
            node = queue.popleft()
            for channel, to in leaving[node]:
                if to not in came:
                    came[to] = (channel, node)
                    queue.append(to)
        route = []
        while dst != src:
            channel, dst = came[dst]
            route.append(channel)
        return route[::-1]

    def bound_phases(self) -> int:
        """The largest number of messages of an all-to-all over one link of a tree, or to one rank."""
        total = sum(self.ranks)
        most = total - 1
        leaving = self.adjacency()
        for a, b in self.links:
            behind, stack, seen = 0, [b], {a, b}
            while stack:
                node = stack.pop()
                behind += self.ranks[node]
                for _, to in leaving[node]:
                    if to not in seen:
                        seen.add(to)
                        stack.append(to)
            most = max(most, behind * (total - behind))
        return most


def star(hosts: int) -> NetworkPlan:
    plan = NetworkPlan()
    switch = plan.node(0)
    for _ in range(hosts):
        plan.node(1, switch)
    return plan


def chain(sizes: Sequence[int]) -> NetworkPlan:
    """Switches in a row with so many hosts each."""
    plan = NetworkPlan()
    switches: list[int] = []
    for _ in sizes:
        switches.append(plan.node(0, switches[-1] if switches else None))
    for switch, size in zip(switches, sizes, strict=True):
        for _ in range(size):
            plan.node(1, switch)
    return plan


def star_of_switches(sizes: Sequence[int]) -> NetworkPlan:
    """One switch in the middle with sizes[0] hosts, the others around it."""
    plan = NetworkPlan()
    middle = plan.node(0)
    switches = [middle] + [plan.node(0, middle) for _ in sizes[1:]]
    for switch, size in zip(switches, sizes, strict=True):
        for _ in range(size):
            plan.node(1, switch)
    return plan


def balanced(sizes: Sequence[int]) -> NetworkPlan:
    """A tree of sizes[0] branches of sizes[1] branches …; the last are hosts."""
    plan = NetworkPlan()

    def grow(parent: int, rest: Sequence[int]) -> None:
        for _ in range(rest[0]):
            child = plan.node(1 if len(rest) == 1 else 0, parent)
            if len(rest) > 1:
                grow(child, rest[1:])

    grow(plan.node(0), sizes)
    return plan


def figure1() -> NetworkPlan:
    """The cluster of figure 1 of Faraj and Yuan."""
    plan = NetworkPlan(names=["s0", "s1", "s2", "s3"], ranks=[0] * 4)
    for a, b in [(0, 1), (0, 2), (1, 3)]:
        plan.link(a, b)
    for host, switch in enumerate([0, 0, 2, 3, 3, 1]):
        plan.names.append(f"n{host}")
        plan.ranks.append(1)
        plan.link(switch, 4 + host)
    return plan


PAPER_A: Callable[[], NetworkPlan] = lambda: star(24)  # noqa: E731
PAPER_B: Callable[[], NetworkPlan] = lambda: star_of_switches([8, 8, 8, 8])  # noqa: E731
PAPER_C: Callable[[], NetworkPlan] = lambda: chain([8, 8, 8, 8])  # noqa: E731

KINDS = ("random", "chain", "star", "comb", "caterpillar", "deep", "bushy")


def _skeleton(rng: Random, kind: str, switches: int) -> list[int]:
    """The parent of each switch but the first."""
    if kind in ("chain", "caterpillar"):
        return list(range(switches - 1))
    if kind == "star":
        return [0] * (switches - 1)
    if kind == "comb":  # a spine with a tooth at each of its switches
        return [max(0, i - 2) if i % 2 == 0 else i - 1 for i in range(1, switches)]
    if kind == "deep":
        return [rng.randrange(max(0, i - 2), i) for i in range(1, switches)]
    return [rng.randrange(i) for i in range(1, switches)]


def random_tree(
    rng: Random,
    hosts: int,
    *,
    kind: str | None = None,
    ranks: Callable[[Random], int] = lambda rng: 1,
    switch_link: Callable[[Random], float] = lambda rng: 1.0,
) -> NetworkPlan:
    """A tree of switches: hosts at any level, switches without hosts, nested and one-host switches.

    `ranks` draws the ranks of a host, `switch_link` the rate of a link between switches, in host speeds.
    """
    kind = kind or rng.choice(KINDS)
    switches = rng.randint(1, max(1, min(2 * hosts, 2 + hosts // rng.randint(1, 8))))
    plan = NetworkPlan()
    order = list(range(switches))
    plan.node(0)
    for parent in _skeleton(rng, kind, switches):
        plan.node(0, parent, RATE * switch_link(rng))
    popular = [rng.random() ** 2 + 1e-3 for _ in order]  # some switches hold most hosts, some none
    spread = kind in ("caterpillar", "comb") and hosts >= switches
    places = order[:] if spread else []
    places += rng.choices(order, popular, k=hosts - len(places))
    rng.shuffle(places)
    for place in places:
        plan.node(max(1, ranks(rng)), place)
    return shuffled(rng, plan)


def shuffled(rng: Random, plan: NetworkPlan) -> NetworkPlan:
    """Copy of the network with nodes and links in another order, and links turned round at random."""
    order = list(range(len(plan.names)))
    rng.shuffle(order)
    place = {node: i for i, node in enumerate(order)}
    other = NetworkPlan([plan.names[node] for node in order], [plan.ranks[node] for node in order])
    links = list(zip(plan.links, plan.rates, strict=True))
    rng.shuffle(links)
    for (a, b), rate in links:
        a, b = place[a], place[b]
        other.link(*((a, b) if rng.random() < 0.5 else (b, a)), rate)
    return other


def fat_tree(down: list[int], up: list[int], rng: Random | None = None) -> NetworkPlan:
    """An extended generalised fat tree, a rank on each host; with `rng` its nodes in any order."""
    sizes = fat_tree_levels(down, up)
    names = [f"n{number}" for number in range(sizes[0])]
    names += [f"s{level}.{at}" for level, size in enumerate(sizes) if level for at in range(size)]
    wired = [
        (names[a], names[b])
        for a, b, *_ in _core.NetworkSpec.fat_tree(down, up, [1] * len(up), (RATE, LATENCY, 1)).links
    ]
    if rng is not None:
        rng.shuffle(names)
    at = {name: node for node, name in enumerate(names)}
    links = [(at[a], at[b]) for a, b in wired]
    if rng is not None:
        rng.shuffle(links)
    return NetworkPlan(names, [int(name[0] == "n") for name in names], links, [RATE] * len(links))


def random_graph(rng: Random, hosts: int) -> NetworkPlan:
    """A tree of switches with a few more links between them: several ways from host to host."""
    plan = random_tree(rng, hosts, kind="random", switch_link=lambda r: float(r.randint(1, 4)))
    switches = [node for node, ranks in enumerate(plan.ranks) if not ranks]
    for _ in range(rng.randint(0, 2 * len(switches))):
        a, b = rng.choice(switches), rng.choice(switches)
        if a != b:
            plan.link(a, b, RATE * rng.randint(1, 4))
    return plan


def unequal(rng: Random) -> float:
    """The rate of an inter-switch link in host speeds: slower, equal, or up to ten times as fast."""
    return rng.choice([0.1, 0.5, 1.0, 1.0, 1.5, 2.0, 4.0, 10.0])


def few_ranks(rng: Random) -> int:
    return rng.choice([1, 1, 2, 3, 4])


def tree_plans(
    min_hosts: int = 1,
    max_hosts: int = 12,
    *,
    ranks: Callable[[Random], int] = few_ranks,
    switch_link: Callable[[Random], float] = lambda rng: 1.0,
) -> st.SearchStrategy[NetworkPlan]:
    """Trees of switches; shrinks towards few hosts."""

    def make(drawn: tuple[int, str, int]) -> NetworkPlan:
        hosts, kind, seed = drawn
        return random_tree(Random(seed), hosts, kind=kind, ranks=ranks, switch_link=switch_link)

    drawn = st.tuples(st.integers(min_hosts, max_hosts), st.sampled_from(KINDS), st.integers(0, 2**32 - 1))
    return drawn.map(make)


def one_host(ranks: int) -> _core.Network:
    """Ranks that reach each other through memory only."""
    plan = NetworkPlan()
    plan.node(ranks)
    return plan.build()


def shortest_hops(network: _core.Network) -> list[list[float]]:
    """Hops between all nodes, by breadth-first search over the links; hosts of a graph forward nothing."""
    forwards = [network.shape not in (_core.Shape.graph,) or not ranks for ranks in network.ranks_per_node]
    leaving: list[list[int]] = [[] for _ in range(network.nodes)]
    for a, b in network.links:
        leaving[a].append(b)
        leaving[b].append(a)
    table = []
    for src in range(network.nodes):
        distance = [math.inf] * network.nodes
        distance[src] = 0
        queue = deque([src])
        while queue:
            node = queue.popleft()
            if node != src and not forwards[node]:
                continue
            for to in leaving[node]:
                if distance[to] == math.inf:
                    distance[to] = distance[node] + 1
                    queue.append(to)
        table.append(distance)
    return table
