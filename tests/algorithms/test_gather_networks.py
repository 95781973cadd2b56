"""All-gather on any network: rails, spreading, and what MPI libraries do."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from hocket import _core
from strategies import NetworkPlan, chain, few_ranks, one_host, random_graph, random_tree, star, unequal

NAMES = [algorithm.name for algorithm in _core.Algorithm.all() if algorithm.pattern == "all-gather"]
CONTENTION = {"send port overfull", "receive port overfull", "channel overfull"}
BYTES = 100_000
RATE = 1e9


def grid(kind: str, *sides: int) -> _core.Network:
    return _core.Network.grid(kind, list(sides), RATE, 0.0)


def routed(hosts: int) -> _core.Network:
    """Hosts on one crossbar, with a bus that neighbours share."""
    names = [f"h{i}" for i in range(hosts)]
    channels = [f"{way}{i}" for i in range(hosts) for way in ("up", "down")] + ["bus"]
    routes = [
        (a, b, [2 * a, *([2 * hosts] if abs(a - b) == 1 else []), 2 * b + 1])
        for a in range(hosts)
        for b in range(hosts)
        if a != b
    ]
    rates = [RATE] * (2 * hosts) + [2 * RATE]
    return _core.Network.routed(names, [1] * hosts, channels, rates, [0.0] * len(channels), routes)


def fat_tree(leaves: int, hosts: int, spines: int, ranks: int = 1) -> _core.Network:
    plan = NetworkPlan()
    tops = [plan.node(0) for _ in range(spines)]
    for _ in range(leaves):
        leaf = plan.node(0)
        for top in tops:
            plan.link(top, leaf)
        for _ in range(hosts):
            plan.node(ranks, leaf)
    return plan.build("graph")


def dragonfly(groups: int, routers: int, hosts: int) -> _core.Network:
    """Routers of a group are all linked; every two groups have one link, over routers in turn."""
    plan = NetworkPlan()
    of = [[plan.node(0) for _ in range(routers)] for _ in range(groups)]
    used = [0] * groups
    for group in of:
        for i, router in enumerate(group):
            for other in group[:i]:
                plan.link(router, other)
    for a in range(groups):
        for b in range(a):
            plan.link(of[a][used[a] % routers], of[b][used[b] % routers])
            used[a] += 1
            used[b] += 1
    for group in of:
        for router in group:
            for _ in range(hosts):
                plan.node(1, router)
    return plan.build("graph")


def cabled(seed: int) -> _core.Network:
    """Hosts on switches, some of which are also wired to each other."""
    rng = Random(seed)
    plan = random_graph(rng, 4 + seed)
    for _ in range(2):
        plan.link(*rng.sample(plan.hosts, 2))
    return plan.build("graph")


FAMILIES: dict[str, Callable[[], _core.Network]] = {
    "one rank": lambda: one_host(1),
    "one host": lambda: one_host(4),
    "two hosts": lambda: star(2).build(),
    "star, power of two": lambda: star(16).build(),
    "chain": lambda: chain([4, 1, 0, 3]).build(),
    **{
        f"tree {seed}": lambda seed=seed: random_tree(
            Random(seed), 3 + seed, ranks=few_ranks, switch_link=unequal
        ).build()
        for seed in range(12)
    },
    **{
        f"{kind} {'x'.join(map(str, sides))}": lambda kind=kind, sides=sides: grid(kind, *sides)
        for kind, sides in [
            ("torus", (1,)), ("torus", (2,)), ("torus", (5,)), ("torus", (2, 2)), ("torus", (2, 2, 2)),
            ("torus", (3, 3)), ("torus", (4, 3)), ("torus", (2, 3, 4)), ("torus", (1, 5)), ("torus", (5, 6)),
            ("torus", (3, 3, 3)), ("mesh", (7,)), ("mesh", (4, 4)), ("mesh", (3, 3)), ("mesh", (3, 1, 2)),
            ("mesh", (2, 3, 4)), ("mesh", (5, 4, 3)), ("mesh", (1, 1)), ("hypercube", (0,)),
            ("hypercube", (1,)), ("hypercube", (2,)), ("hypercube", (3,)), ("hypercube", (4,)),
        ]
    },
    **{
        f"graph {seed}": lambda seed=seed: random_graph(Random(seed), 2 + seed).build("graph")
        for seed in range(12)
    },
    **{f"cabled {seed}": lambda seed=seed: cabled(seed) for seed in range(6)},
    "torus 3x4 of two ranks a host": lambda: _core.Network.grid("torus", [3, 4], RATE, 0.0, ranks=2),
    "mesh 2x3 of three ranks a host": lambda: _core.Network.grid("mesh", [2, 3], RATE, 0.0, ranks=3),
    "fat tree of four ranks a host": lambda: fat_tree(3, 3, 3, ranks=4),
    "routed": lambda: routed(6),
}  # fmt: skip


def unequal_parts(ranks: int) -> list[int]:
    rng = Random(ranks)
    return [rng.choice([0, 1, 5000, BYTES, 7 * BYTES + 3]) for _ in range(ranks)]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", NAMES)
def test_algorithm_keeps_its_word(name: str, family: str) -> None:
    network = FAMILIES[family]()
    algorithm = _core.Algorithm.find(name, "all-gather")
    for parts in ([], [3] * network.ranks, unequal_parts(network.ranks)):
        demand = _core.Demand(network.ranks, BYTES, "all-gather", parts)
        if reason := algorithm.why_not(network, demand):
            with pytest.raises(_core.InputError, match="cannot serve this"):
                algorithm.make(network, demand)
            assert not reason.endswith(".")
            return
        schedule = algorithm.make(network, demand)
        certificate = _core.verify(network, demand, schedule, algorithm.ports)
        assert certificate.complete, certificate.findings
        if not algorithm.contention_free:
            assert set(certificate.counts) <= CONTENTION
            continue
        _core.verify_waits(network, schedule, _core.Waits.derive(network, schedule), certificate)
        assert certificate.ok, certificate.findings
        if not parts and network.ranks > 1:
            bounds = _core.lower_bounds(network, demand)
            # On trees the bound is for one port; all ports would share memory in one phase.
            if algorithm.ports == _core.PortModel.one_port or max(network.ranks_per_node) == 1:
                assert schedule.phases >= bounds.phases
            seconds = _core.simulate(network, schedule, None, "token").seconds
            assert seconds >= bounds.seconds * (1 - 1e-9)


def test_spreading_reaches_clusters_behind_a_switch() -> None:
    """Hosts wired in pairs, the pairs joined by a switch: asking the neighbour only is not enough."""
    plan = NetworkPlan()
    switch = plan.node(0)
    for _ in range(3):
        plan.link(plan.node(1, switch), plan.node(1, switch))
    network = plan.build("graph")
    demand = _core.Demand(network.ranks, BYTES, "all-gather")
    algorithm = _core.Algorithm.find("spreading", "all-gather")
    schedule = algorithm.make(network, demand)
    assert _core.verify(network, demand, schedule, algorithm.ports).ok


@pytest.mark.parametrize("family", FAMILIES)
def test_chooser_always_finds_one(family: str) -> None:
    network = FAMILIES[family]()
    chosen = _core.plan_exchange(network, _core.Demand(network.ranks, BYTES, "all-gather")).algorithm
    assert _core.Algorithm.find(chosen, "all-gather").contention_free


def test_a_per_message_cost_keeps_messages_few() -> None:
    """A per-message cost may exceed the transfer time that splitting saves."""
    network = random_tree(Random(36), 12, switch_link=unequal).build()
    demand = _core.Demand(12, 1 << 20, "all-gather")
    algorithm = _core.Algorithm.find("switch-ring", "all-gather")
    assert len(algorithm.make(network, demand, alpha=0.1)) <= len(algorithm.make(network, demand))
    assert len(algorithm.make(network, demand, alpha=0.1)) == 12 * 11


# Name: network, limit of simulated seconds / bound of the chosen algorithm, its name.
TABLE: dict[str, tuple[Callable[[], _core.Network], float, str]] = {
    "torus 8x8": (lambda: grid("torus", 8, 8), 1.001, "gossip"),
    "torus 4x4x4": (lambda: grid("torus", 4, 4, 4), 1.001, "gossip"),
    "torus 5x7": (lambda: grid("torus", 5, 7), 1.001, "gossip"),
    "torus 3x4x5": (lambda: grid("torus", 3, 4, 5), 1.02, "gossip"),
    "torus 8x4x2": (lambda: grid("torus", 8, 4, 2), 1.05, "spreading"),
    "mesh 8x8": (lambda: grid("mesh", 8, 8), 1.001, "rails"),
    "mesh 5x5": (lambda: grid("mesh", 5, 5), 1.05, "spreading"),
    "mesh 4x4x4": (lambda: grid("mesh", 4, 4, 4), 1.05, "gossip"),
    "hypercube 6": (lambda: grid("hypercube", 6), 1.001, "gossip"),
    "hypercube 5": (lambda: grid("hypercube", 5), 1.05, "gossip"),
    "fat tree 64": (lambda: fat_tree(8, 8, 8), 1.01, "rails"),
    "fat tree 64, 4:1": (lambda: fat_tree(8, 8, 2), 1.01, "rails"),
    "dragonfly 72": (lambda: dragonfly(9, 4, 2), 1.01, "rails"),
}


@pytest.mark.parametrize("name", TABLE)
def test_time_over_bound(name: str) -> None:
    build, limit, expected = TABLE[name]
    network = build()
    demand = _core.Demand(network.ranks, 1 << 20, "all-gather")
    planned = _core.plan_exchange(network, demand)
    assert planned.algorithm == expected
    schedule, ports = planned.schedule, _core.Algorithm.find(expected, "all-gather").ports
    certificate = _core.verify(network, demand, schedule, ports)
    _core.verify_waits(network, schedule, _core.Waits.derive(network, schedule), certificate)
    assert certificate.ok, certificate.findings
    bound = _core.lower_bounds(network, demand).seconds
    free = _core.ModelParameters()
    assert _core.simulate(network, schedule, None, "token", free).seconds <= limit * bound


def test_rails_of_a_torus_of_576_reach_the_bound() -> None:
    network = grid("torus", 24, 24)
    demand = _core.Demand(576, 4 << 10, "all-gather")
    algorithm = _core.Algorithm.find("rails", "all-gather")
    schedule = algorithm.make(network, demand)
    assert _core.verify(network, demand, schedule, algorithm.ports).ok
    assert schedule.phases == 575
    assert {row[6] for row in schedule.rows()} == {1 << 10}
    assert _core.lower_bounds(network, demand).seconds == pytest.approx(575 * 1024 / RATE)


@pytest.mark.parametrize("sides", [(8, 8), (6, 10), (5, 7), (3, 5), (4, 4, 4), (3, 4, 5), (4, 4, 4, 4)])
def test_rails_of_a_torus_share_no_channel(sides: tuple[int, ...]) -> None:
    network = grid("torus", *sides)
    demand = _core.Demand(network.ranks, 64, "all-gather")
    schedule = _core.Algorithm.find("rails", "all-gather").make(network, demand)
    first = [row for row in schedule.rows() if row[0] == 0]
    used = [channel for _, src, dst, *_ in first for channel in network.route(src, dst)]
    assert len(used) == len(set(used)) == network.channels


def test_baselines_are_what_the_libraries_do() -> None:
    network = star(4).build()
    demand = _core.Demand(4, 1, "all-gather")

    def rows(name: str) -> list[tuple[int, int, int, int]]:
        return [row[:4] for row in _core.Algorithm.find(name, "all-gather").make(network, demand).rows()]

    ranks = range(4)
    assert rows("neighbor-ring") == [(p, r, (r + 1) % 4, (r - p) % 4) for p in range(3) for r in ranks]
    assert rows("recursive-doubling") == [(0, r, r ^ 1, r) for r in ranks] + [
        (1, r, r ^ 2, origin) for r in ranks for origin in (r & 2, r | 1 if r & 2 else 1)
    ]
    assert rows("bruck") == [(0, r, (r - 1) % 4, r) for r in ranks] + [
        (1, r, (r - 2) % 4, origin % 4) for r in ranks for origin in (r, r + 1)
    ]
    assert [row[:3] for row in rows("neighbor-exchange")][4::2] == [
        (1, 0, 3),
        (1, 1, 2),
        (1, 2, 1),
        (1, 3, 0),
    ]


@pytest.mark.parametrize("name", NAMES)
def test_what_they_do_not_serve(name: str) -> None:
    algorithm = _core.Algorithm.find(name, "all-gather")
    with pytest.raises(_core.InputError, match="number of ranks"):
        algorithm.make(star(8).build(), _core.Demand(16, 1, "all-gather"))
    assert algorithm.why_not(star(8).build(), _core.Demand(8, 1)) == "it serves the all-gather"
