"""Bounds of an all-gather, against all cuts counted one by one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from random import Random

import pytest

from hocket import _core
from strategies import NetworkPlan, chain, few_ranks, random_graph, random_tree, star, unequal


def gather(ranks: int, size: int = 1000, parts: Sequence[int] = ()) -> _core.Demand:
    return _core.Demand(ranks, size, "all-gather", list(parts))


def by_all_cuts(
    nodes: int,
    links: Sequence[tuple[int, int]],
    rates: Sequence[float],
    bytes_of: Sequence[float],
    hosts: Sequence[int],
) -> float:
    """Over all sets of nodes S without some host: the bytes of S over the rate of the links out of S."""
    worst = 0.0
    for size in range(1, nodes):
        for inside in map(set, combinations(range(nodes), size)):
            if all(host in inside for host in hosts):
                continue
            held = sum(bytes_of[node] for node in inside)
            rate = sum(
                rate for (a, b), rate in zip(links, rates, strict=True) if (a in inside) != (b in inside)
            )
            if held:
                worst = max(worst, held / rate)
    return worst


def check(plan: NetworkPlan, kind: str, parts: Sequence[int], size: int = 1000) -> None:
    of_rank = list(parts) or [size] * sum(plan.ranks)
    bytes_of = [0.0] * len(plan.names)
    for rank, host in enumerate(plan.host_of):
        bytes_of[host] += of_rank[rank]
    found = _core.lower_bounds(plan.build(kind), gather(sum(plan.ranks), size, parts)).seconds
    expected = by_all_cuts(len(plan.names), plan.links, plan.rates, bytes_of, plan.hosts)
    assert found == pytest.approx(expected, rel=1e-9)


def parts_of(rng: Random, ranks: int) -> list[int]:
    return rng.choice([[], [rng.choice([0, 1, 1000, 50_000]) for _ in range(ranks)]])


@pytest.mark.parametrize("seed", range(40))
def test_random_trees(seed: int) -> None:
    rng = Random(seed)
    plan = random_tree(rng, rng.randint(2, 6), ranks=few_ranks, switch_link=unequal)
    while len(plan.names) > 12:
        plan = random_tree(rng, rng.randint(2, 4), ranks=few_ranks, switch_link=unequal)
    check(plan, "tree", parts_of(rng, sum(plan.ranks)))


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs(seed: int) -> None:
    rng = Random(1000 + seed)
    plan = random_graph(rng, rng.randint(2, 8))
    while len(plan.names) > 12:
        plan = random_graph(rng, rng.randint(2, 6))
    for i in range(len(plan.ranks)):
        plan.ranks[i] = few_ranks(rng) if plan.ranks[i] else 0
    check(plan, "graph", parts_of(rng, sum(plan.ranks)))


@pytest.mark.parametrize(
    ("kind", "sides"),
    [("torus", (5,)), ("torus", (3, 3)), ("torus", (2, 4)), ("mesh", (6,)), ("mesh", (3, 4)),
     ("mesh", (2, 2, 3)), ("mesh", (2, 5)), ("mesh", (3, 1, 2)), ("hypercube", (3,)), ("hypercube", (1,))],
)  # fmt: skip
@pytest.mark.parametrize("equal", [True, False])
def test_grids(kind: str, sides: tuple[int, ...], equal: bool) -> None:
    network = _core.Network.grid(kind, list(sides), 1e9, 0.0)
    parts = [] if equal else [(7 * rank) % 5 * 100 for rank in range(network.ranks)]
    links, hosts = network.links, range(network.ranks)
    expected = by_all_cuts(network.ranks, links, [1e9] * len(links), parts or [1000] * network.ranks, hosts)
    found = _core.lower_bounds(network, gather(network.ranks, 1000, parts)).seconds
    assert found == pytest.approx(expected, rel=1e-9)


def test_the_bottleneck_is_a_channel_of_the_cut() -> None:
    plan = chain([3, 3])
    plan.rates[0] /= 10
    bounds = _core.lower_bounds(plan.build(), gather(6))
    assert bounds.bottleneck // 2 == 0
    assert bounds.seconds == pytest.approx(3 * 1000 / plan.rates[0])
    plan.link(0, 1, plan.rates[0])
    bounds = _core.lower_bounds(plan.build("graph"), gather(6))
    assert bounds.bottleneck // 2 in (0, len(plan.links) - 1)
    assert bounds.seconds == pytest.approx(3 * 1000 / (2 * plan.rates[0]))


def test_tree_loads_are_what_must_cross() -> None:
    plan = chain([3, 5])
    loads = _core.lower_bounds(plan.build(), gather(8)).load
    assert sorted(loads[:2]) == [3, 5]
    assert sorted(loads[2:]) == [1] * 8 + [7] * 8


@pytest.mark.parametrize(
    ("kind", "sides", "phases"),
    [("torus", (9,), 2), ("torus", (8, 8), 3), ("hypercube", (3,), 2), ("mesh", (3,), 1), ("torus", (1,), 0)],
)
def test_phases_by_ports(kind: str, sides: tuple[int, ...], phases: int) -> None:
    """One more than the ports at best: three times as many holders after a phase on a ring."""
    network = _core.Network.grid(kind, list(sides), 1e9, 0.0)
    assert _core.lower_bounds(network, gather(network.ranks)).phases == phases


def test_phases_of_one_port() -> None:
    assert _core.lower_bounds(star(9).build(), gather(9)).phases == 4


def test_nothing_to_send_takes_no_time() -> None:
    for plan, kind in [(star(4), "tree"), (random_graph(Random(1), 4), "graph")]:
        assert _core.lower_bounds(plan.build(kind), gather(4, 0)).seconds == 0


def test_large_networks_are_bounded_by_balls() -> None:
    """A ring of switches with too many hosts for all cuts: half of the ring is the worst cut."""
    plan = NetworkPlan()
    switches = [plan.node(0) for _ in range(900)]
    for i, switch in enumerate(switches):
        plan.link(switch, switches[(i + 1) % 900])
        plan.node(1, switch)
    network = plan.build("graph")
    bounds = _core.lower_bounds(network, gather(900))
    around_a_host = 899 * 1000 / plan.rates[0]
    assert bounds.seconds >= around_a_host * (1 - 1e-9)


def test_routed_networks_know_the_channels_of_each_host() -> None:
    names = ["a", "b", "c"]
    routes = [(x, y, [2 * x, 2 * y + 1]) for x in range(3) for y in range(3) if x != y]
    rates = [2e9, 1e9] * 3
    network = _core.Network.routed(names, [1] * 3, [f"c{i}" for i in range(6)], rates, [0.0] * 6, routes)
    assert _core.lower_bounds(network, gather(3)).seconds == pytest.approx(2 * 1000 / 1e9)
