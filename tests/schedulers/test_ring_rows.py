"""Rows of all-gathers and reduce-scatters round one ring are those of the whole schedule; the proof can fail."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import _core
from hocket.bundling import find_demand
from hocket.network import read_network
from strategies import RATE, NetworkPlan, random_tree, star, tree_plans

PATTERNS = ["all-gather", "reduce-scatter"]


def check(network: _core.Network, pattern: str) -> None:
    """Every row is that of the whole schedule, under any window, which the verifier accepts."""
    demand = find_demand(pattern, network.ranks, 64)
    ring = _core.Ring(network, demand)
    chosen = "" if demand.messages > _core.MOST_MESSAGES_COMPARED else ring.scheduler
    for window in (1, 2):
        planned = _core.plan_exchange(network, demand, window, chosen)
        assert (ring.scheduler, ring.phases) == (planned.scheduler.name, planned.schedule.phases)
        programs = _core.rank_programs(planned.schedule, planned.waits)
        assert [ring.row(rank) for rank in range(network.ranks)] == programs
    certificate = _core.verify(network, demand, planned.schedule)
    assert certificate.ok
    assert ring.verify().ok


def one_rank_a_host(plan: NetworkPlan, random: Random) -> NetworkPlan:
    """The same tree, with trunks of once to four times the rate of a host."""
    plan.ranks = [min(ranks, 1) for ranks in plan.ranks]
    trunks = [not (plan.ranks[a] or plan.ranks[b]) for a, b in plan.links]
    plan.rates = [RATE * (random.choice([1, 1, 2, 4]) if trunk else 1) for trunk in trunks]
    return plan


@settings(max_examples=100)
@given(tree_plans(2, 24), st.integers(0, 2**32), st.sampled_from(PATTERNS))
def test_rows_of_random_trees(plan: NetworkPlan, seed: int, pattern: str) -> None:
    check(one_rank_a_host(plan, Random(seed)).build(), pattern)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("source", ["star:2", "star:7", "tree:3x4x2", "chain:3,1,4"])
def test_rows_of_regular_trees(source: str, pattern: str) -> None:
    check(read_network(source), pattern)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_rows_of_so_many_ranks_that_schedules_are_not_compared(pattern: str) -> None:
    network = read_network("tree:3x19x19")
    assert network.ranks**2 > _core.MOST_MESSAGES_COMPARED
    check(network, pattern)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_ring_out_of_order_is_refused(pattern: str) -> None:
    network = read_network("tree:4x4")
    demand = find_demand(pattern, network.ranks, 64)
    order = list(range(network.ranks))
    assert _core.verify_ring(network, order, demand).ok
    Random(1).shuffle(order)
    found = _core.verify_ring(network, order, demand)
    assert not found.ok and found.collisions > 0
    assert "is not alone on" in found.findings[0]


@pytest.mark.parametrize(("order", "missing"), [([0, 1, 1], 2), ([0, 1], 1), ([0, 1, 2, 0], 1)])
def test_a_ring_visits_each_rank_once(order: list[int], missing: int) -> None:
    found = _core.verify_ring(star(3).build(), order, find_demand("all-gather", 3, 64))
    assert not found.ok and not found.complete and found.missing == missing
    assert any("is visited" in text for text in found.findings)


def test_a_ring_of_ranks_that_there_are_not_or_of_another_pattern() -> None:
    network = star(3).build()
    with pytest.raises(_core.InputError, match="does not have"):
        _core.verify_ring(network, [0, 1, 3], find_demand("all-gather", 3, 64))
    with pytest.raises(_core.InputError, match="all-gathers and reduce-scatters"):
        _core.verify_ring(network, [0, 1, 2], find_demand("all-reduce", 3, 64))


@pytest.mark.parametrize(
    ("network", "pattern", "why"),
    [
        ("torus:4x4", "all-gather", "tree of switches"),
        ("star:4*2", "all-gather", "one rank on every host"),
        ("star:1", "all-gather", "at least two ranks"),
        ("star:4", "all-reduce", "only all-gathers and reduce-scatters"),
    ],
)
def test_why_there_is_no_ring(network: str, pattern: str, why: str) -> None:
    known = read_network(network)
    with pytest.raises(_core.InputError, match=why):
        _core.Ring(known, find_demand(pattern, known.ranks, 64))


def test_slow_links_and_unequal_or_no_contributions_have_no_ring() -> None:
    plan = random_tree(Random(1), 9)
    network = plan.build()
    with pytest.raises(_core.InputError, match="nothing to send"):
        _core.Ring(network, find_demand("all-gather", network.ranks, 0))
    uneven = _core.Demand(network.ranks, 64, "all-gather", contributions=[64] * (network.ranks - 1) + [1])
    with pytest.raises(_core.InputError, match="contributions differ"):
        _core.Ring(network, uneven)
    plan.rates[0] /= 2
    slower = plan.build()
    with pytest.raises(_core.InputError, match="slower than the fastest host"):
        _core.Ring(slower, find_demand("all-gather", slower.ranks, 64))


def test_there_is_no_such_row() -> None:
    ring = _core.Ring(star(3).build(), find_demand("all-gather", 3, 64))
    for rank in (3, 2**31):
        with pytest.raises(_core.InputError, match="no rank"):
            ring.row(rank)
