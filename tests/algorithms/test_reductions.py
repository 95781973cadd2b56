"""Reductions on networks of all kinds: what they add up is right, and they take what the all-gather takes."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import _core
from hocket.network import Defaults, read_network
from hocket.planning.plan import check, plan_collective
from strategies import NetworkPlan, few_ranks, random_graph, tree_plans, unequal

EVERYONE = _core.EVERYONE
REDUCTIONS = ["reduce-scatter", "all-reduce", "reduce"]
GRIDS = ["torus:4x4", "torus:3x5", "torus:2x3x4", "mesh:3x4", "hypercube:4", "torus:7", "torus:4x4*2"]
CLUSTERS = ["fat-tree:k=4", "fat-tree:4x4x2", "dragonfly:4x2x2", "star:6*3", "chain:5,3,2"]


def demand_of(name: str, ranks: int, size: int, root: int = 0) -> _core.Demand:
    collective = next(one for one in _core.Collective.all() if one.name == name)
    return collective.demand(ranks, size, root)


def added_up(demand: _core.Demand, schedule: _core.Schedule) -> list[list[list[int]]]:
    """Final values by rank, block and byte, if rank r's part of every byte is 2^r."""
    blocks = [demand.contributions[b] if demand.contributions else demand.bytes for b in range(demand.ranks)]
    held = [[[1 << rank] * size for size in blocks] for rank in range(demand.ranks)]
    adds = schedule.phases // 2 if demand.pattern == "all-reduce" else schedule.phases
    rows = schedule.rows()
    for phase in range(schedule.phases):
        now = [row for row in rows if row[0] == phase]
        carried = [held[src][block][offset : offset + length] for _, src, _, block, _, offset, length in now]
        for (_, _, dst, block, target, offset, length), bytes in zip(now, carried, strict=True):
            assert target == EVERYONE
            there = held[dst][block]
            for i in range(length):
                there[offset + i] = there[offset + i] + bytes[i] if phase < adds else bytes[i]
    return held


def check_sums(network: _core.Network, demand: _core.Demand) -> None:
    planned = _core.plan_exchange(network, demand, None, "", 0.0, 1)
    certificate = check(
        network,
        demand,
        planned.schedule,
        planned.waits,
        _core.PortModel.of(planned.algorithm, demand.pattern),
    )
    assert certificate.ok, certificate.findings
    held, full = added_up(demand, planned.schedule), (1 << demand.ranks) - 1
    for rank in range(demand.ranks):
        for block in range(demand.ranks):
            if demand.pattern == "all-reduce" or rank == block:
                assert all(value == full for value in held[rank][block]), (rank, block)


@pytest.mark.parametrize("name", REDUCTIONS)
@settings(max_examples=25, deadline=None)
@given(tree_plans(1, 9, ranks=few_ranks, switch_link=unequal), st.integers(0, 40), st.integers(0, 99))
def test_sums_on_trees(name: str, plan: NetworkPlan, size: int, root: int) -> None:
    network = plan.build()
    check_sums(network, demand_of(name, network.ranks, size, root % network.ranks))


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("source", GRIDS + CLUSTERS)
def test_sums_on_grids_and_clusters(name: str, source: str) -> None:
    network = read_network(source)
    check_sums(network, demand_of(name, network.ranks, 37, network.ranks // 2))


@pytest.mark.parametrize("seed", range(12))
def test_sums_where_the_way_back_is_another(seed: int) -> None:
    network = random_graph(Random(seed), 7).build("graph")
    check_sums(network, demand_of("all-reduce", network.ranks, 20))
    parts = [Random(seed).randrange(9) for _ in range(network.ranks)]
    check_sums(network, _core.Demand(network.ranks, max(parts), "reduce-scatter", parts))


def one_way_round(switches: int, hosts: int) -> _core.Network:
    """A ring of switches whose tables send everything the same way round."""
    names = [f"s{i}" for i in range(switches)] + [f"n{i}" for i in range(switches * hosts)]
    ranks = [0] * switches + [1] * (switches * hosts)
    ends = [(i, (i + 1) % switches) for i in range(switches)]
    ends += [(i % switches, switches + i) for i in range(switches * hosts)]
    hops = [(i, None, 2 * i) for i in range(switches)]
    a, b = zip(*ends, strict=True)
    return _core.Network.graph(names, ranks, list(a), list(b), [1e9] * len(a), [1e-6] * len(a), hops)


@pytest.mark.parametrize("hosts", [1, 3])
def test_both_halves_of_an_all_reduce_follow_the_routes_of_their_own_direction(hosts: int) -> None:
    network = one_way_round(5, hosts)
    seconds = {
        name: _core.plan_exchange(
            network, demand_of(name, network.ranks, size), None, "", 0.0, 1
        ).schedule.lockstep_seconds(network)
        for name, size in (
            ("all-gather", 1000),
            ("reduce-scatter", 1000),
            ("all-reduce", 1000 * network.ranks),
        )
    }
    assert seconds["all-reduce"] <= 1.001 * (seconds["all-gather"] + seconds["reduce-scatter"])
    for name in REDUCTIONS:
        check_sums(network, demand_of(name, network.ranks, 30))
    planned = plan_collective("all-reduce", network, 999)
    read = _core.Plan.decode(planned.encode())
    assert read.schedule.phases == planned.schedule.phases
    assert check(network, planned.demand, read.schedule, read.waits).ok


def test_halves_of_unequally_many_phases() -> None:
    """On an 8 × 8 torus of switches one half takes fewer phases than the other, and begins with empty ones."""
    side, switches = 8, 64
    ends = [(i, i // side * side + (i + 1) % side) for i in range(switches)]
    ends += [(i, (i + side) % switches) for i in range(switches)] + [
        (i, switches + i) for i in range(switches)
    ]
    a, b = zip(*ends, strict=True)
    names, ranks = [f"s{i}" for i in range(2 * switches)], [0] * switches + [1] * switches
    network = _core.Network.graph(names, ranks, list(a), list(b), [1e9] * len(a), [1e-6] * len(a))
    planned = plan_collective("all-reduce", network, 64 << 20, "tree-packing")
    rows = planned.schedule.rows()
    half = planned.schedule.phases // 2
    used = {row[0] for row in rows}
    assert planned.certificate.ok and planned.schedule.phases == 2 * half
    empty = sorted(set(range(planned.schedule.phases)) - used)
    assert empty and empty[0] in (0, half)
    assert empty == list(range(empty[0], empty[0] + len(empty)))
    even = plan_collective("all-reduce", network, 64 << 20, "spreading")
    assert even.schedule.lockstep_seconds(network) <= 1.02 * even.bound_seconds
    assert planned.predicted_seconds <= even.predicted_seconds
    read = _core.Plan.decode(planned.encode())
    assert check(network, planned.demand, read.schedule, read.waits).ok


@settings(max_examples=60, deadline=None)
@given(tree_plans(2, 14, ranks=lambda _: 1))
def test_on_trees_of_equal_links_they_meet_the_bound(plan: NetworkPlan) -> None:
    network = plan.build()
    size = 1000 * network.ranks
    for name in ("reduce-scatter", "all-reduce"):
        demand = demand_of(name, network.ranks, size)
        planned = _core.plan_exchange(network, demand, None, "", 0.0, 1)
        seconds = planned.schedule.lockstep_seconds(network)
        assert seconds == pytest.approx(planned.bound_seconds, rel=1e-9), name


@pytest.mark.parametrize("source", [*GRIDS, *CLUSTERS])
def test_a_reduce_scatter_takes_what_the_all_gather_takes(source: str) -> None:
    network = read_network(source)
    gather = plan_collective("all-gather", network, 1 << 16)
    scatter = plan_collective("reduce-scatter", network, 1 << 16)
    assert scatter.bound_seconds == pytest.approx(gather.bound_seconds)
    least = gather.schedule.lockstep_seconds(network)
    assert scatter.schedule.lockstep_seconds(network) == pytest.approx(least)


@pytest.mark.parametrize(
    ("name", "source", "most"),
    [
        ("all-gather", "mesh:5x5", 1.01),
        ("reduce-scatter", "mesh:3", 1.01),
        ("reduce-scatter", "mesh:6x6", 1.01),
        ("reduce-scatter", "mesh:8x8", 1.01),
        ("all-reduce", "mesh:8x8", 1.9),
    ],
)
def test_what_is_chosen_is_the_fastest_as_it_runs(name: str, source: str, most: float) -> None:
    """With the window that ranks keep: gossip, few phases of many bytes, then meets on its channels."""
    network = read_network(source)
    planned = plan_collective(name, network, 1 << 20)
    assert planned.waits.window == 2
    assert planned.predicted_seconds <= most * planned.bound_seconds
    for algorithm in ("gossip", "rails", "spreading"):
        other = plan_collective(name, network, 1 << 20, algorithm)
        assert planned.predicted_seconds <= 1.02 * other.predicted_seconds


@pytest.mark.parametrize("source", ["fat-tree:k=4", "dragonfly:5x4x1"])
def test_all_gathers_over_slow_switch_links_are_chosen_as_they_run(source: str) -> None:
    network = read_network(source, Defaults(uplink_rate=6.25e7))
    planned = plan_collective("all-gather", network, 1 << 20)
    assert planned.predicted_seconds <= 1.01 * planned.bound_seconds


def test_bounds_of_an_all_reduce() -> None:
    """2 M (N - 1) / N over a host's link; over a slow inter-switch link M each way; boxes are as hosts."""
    size, rate = 1 << 20, 1.25e8
    star = read_network("star:8")
    assert _core.lower_bounds(star, demand_of("all-reduce", 8, size)).seconds == pytest.approx(
        2 * size * 7 / 8 / rate
    )
    slow = _core.Network.tree(
        ["a", "b", "s", "t"], [1, 1, 0, 0], [0, 1, 2], [2, 3, 3], [rate, rate, rate / 10], [1e-6] * 3
    )
    assert _core.lower_bounds(slow, demand_of("all-reduce", 2, size)).seconds == pytest.approx(
        size / (rate / 10)
    )
    # Three boxes of two hosts: into each goes the vector 2 · 2 / 3 times, over the links of both to the switch outside.
    names = ["out", *(f"{kind}{box}" for box in range(3) for kind in ("in", "a", "b", "x", "y"))]
    ends = [(5 * box + i, 5 * box + j) for box in range(3) for i, j in ((2, 1), (3, 1), (2, 4), (3, 5))] + [
        (5 * box + card, 0) for box in range(3) for card in (4, 5)
    ]
    boxes = _core.Network.graph(
        names, [0] + 3 * [0, 1, 1, 0, 0], [a for a, _ in ends], [b for _, b in ends],
        3 * [12 * rate, 12 * rate, rate, rate] + 6 * [rate], [0.0] * len(ends),
    )  # fmt: skip
    assert _core.lower_bounds(boxes, demand_of("all-reduce", 6, size)).seconds == pytest.approx(
        2 * 2 / 3 * size / (2 * rate)
    )


@pytest.mark.parametrize("root", [0, 3, 7])
def test_broadcast_and_reduce_are_mirror_images(root: int) -> None:
    network = read_network("chain:3,3,2")
    broadcast = plan_collective("broadcast", network, 4096, root=root)
    reduce = plan_collective("reduce", network, 4096, root=root)
    assert broadcast.certificate.ok and reduce.certificate.ok
    last = broadcast.schedule.phases - 1
    turned = sorted(
        (last - p, dst, src, o, t, at, n) for p, src, dst, o, t, at, n in broadcast.schedule.rows()
    )
    assert turned == sorted(reduce.schedule.rows())


def test_algorithms_are_those_of_the_all_gather() -> None:
    network = read_network("star:5")
    assert plan_collective("all-reduce", network, 1000, "bruck").algorithm == "bruck"
    with pytest.raises(Exception, match="switch-ring"):
        plan_collective("reduce-scatter", network, 1000, "nonsense")
