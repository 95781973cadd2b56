"""Programs of all-gathers and reductions round one ring are those of the whole schedule; the proof can fail."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dragonflies import dragonfly
from fat_trees import Shape, next_hops, routed, shapes, with_gaps, with_ranks
from hocket import _core
from hocket.network import read_network
from hocket.planning.aggregation import find_demand
from peak_memory import growth
from strategies import RATE, NetworkPlan, fat_tree, random_tree, star, tree_plans

PATTERNS = ["all-gather", "reduce-scatter", "all-reduce"]


def said_by(program: _core.RankProgram) -> tuple[object, ...]:
    """All of it; in which order a send lists its tokens means nothing."""
    sends = [(phase, dst, sorted(tokens)) for phase, dst, tokens in program.sends]
    return sends, program.send_pieces, [(phase, src, sorted(told)) for phase, src, told in program.receives]


def check(network: _core.Network, pattern: str, more: int = 0, windows: Sequence[int] = (1, 2, 5)) -> None:
    """Every row is that of the whole schedule, under any window, which the verifier accepts. ``more``: bytes."""
    demand = find_demand(
        pattern, network.ranks, 64 * (network.ranks if pattern == "all-reduce" else 1) + more
    )
    ring = _core.Ring(network, demand)
    chosen = "" if demand.messages > _core.limits.most_messages_compared else ring.algorithm
    for window in windows:
        planned = _core.plan_exchange(network, demand, window, chosen)
        assert (ring.algorithm, ring.phases) == (planned.algorithm, planned.schedule.phases)
        programs = planned.schedule.programs(planned.waits)
        for rank in range(0, network.ranks, 1 + network.ranks // 100):
            assert said_by(ring.program(rank, window)) == said_by(programs[rank])
    certificate = _core.verify(network, demand, planned.schedule)
    assert certificate.ok
    found = ring.verify()
    assert found.ok and found.edges == network.ranks * (2 if pattern == "all-reduce" else 1)


def one_rank_a_host(plan: NetworkPlan, random: Random) -> NetworkPlan:
    """Reduce a tree to one rank a host, with inter-switch links of once to four times a host's rate."""
    plan.ranks = [min(ranks, 1) for ranks in plan.ranks]
    switch_links = [not (plan.ranks[a] or plan.ranks[b]) for a, b in plan.links]
    plan.rates = [RATE * (random.choice([1, 1, 2, 4]) if switch_link else 1) for switch_link in switch_links]
    return plan


@settings(max_examples=100)
@given(tree_plans(2, 24), st.integers(0, 2**32), st.sampled_from(PATTERNS), st.integers(0, 99))
def test_rows_of_random_trees(plan: NetworkPlan, seed: int, pattern: str, more: int) -> None:
    check(one_rank_a_host(plan, Random(seed)).build(), pattern, more)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("source", ["star:2", "star:7", "tree:3x4x2", "chain:3,1,4"])
def test_rows_of_regular_trees(source: str, pattern: str) -> None:
    check(read_network(source), pattern)


@settings(max_examples=60)
@given(shapes(), st.integers(0, 2**32), st.sampled_from(PATTERNS), st.booleans())
def test_rows_of_parts_of_fat_trees(shape: Shape, seed: int, pattern: str, by_source: bool) -> None:
    """Whatever ways messages take up and down: only one edge leaves a subtree, and one comes in."""
    rng = Random(seed)
    plan = fat_tree(*shape, rng)
    if rng.random() < 0.3:
        plan = with_gaps(plan, shape, rng)
    ways = {(h, name): rng.randrange(720) for h in range(math.prod(shape[0])) for name in plan.names}
    network = routed(plan, next_hops(plan, shape, ways)) if by_source else plan.build("graph")
    ranks = with_ranks(plan, rng)
    assume(sum(ranks) > 1)
    check(network.restricted_to(ranks), pattern)


@settings(max_examples=40)
@given(
    st.sampled_from([(4, 3), (3, 4), (5, 4), (6, 5)]),
    st.integers(0, 2**32),
    st.sampled_from(PATTERNS),
    st.booleans(),
)
def test_rows_of_parts_of_dragonflies(sizes: tuple[int, int], seed: int, pattern: str, even: bool) -> None:
    """Whichever router has the link to a group, and whichever hosts have ranks."""
    rng = Random(seed)
    network = dragonfly(*sizes, 2, rng, even=even).build("graph")
    most = rng.choice([1, 0.9, 0.4, 0.1])
    ranks = [int(node in network.hosts and rng.random() < most) for node in range(network.nodes)]
    assume(sum(ranks) > 1)
    check(network.restricted_to(ranks), pattern)


def test_tables_that_lead_neighbours_over_the_same_link() -> None:
    """From the first leaf to the second by way of the third."""
    shape = [1, 3], [1, 2]
    plan = fat_tree(*shape)
    node = {name: at for at, name in enumerate(plan.names)}
    channel = {
        ends: 2 * i + turned
        for i, (a, b) in enumerate(plan.links)
        for turned, ends in enumerate(((a, b), (b, a)))
    }
    ways = {(host, name): 0 for host in range(3) for name in plan.names}
    tables = {(at, to): leaving for at, to, leaving in next_hops(plan, shape, ways)}
    for at, to in [("s2.0", "s1.2"), ("s1.2", "s2.1")]:
        tables[node[at], node["n1"]] = channel[node[at], node[to]]
    network = routed(plan, [(at, to, leaving) for (at, to), leaving in tables.items()])
    with pytest.raises(_core.InputError, match="tables lead neighbours over the same links"):
        _core.Ring(network, find_demand("all-gather", 3, 64))


@pytest.mark.parametrize(
    ("source", "pattern"),
    [
        pytest.param("tree:3x19x19", "all-reduce", marks=pytest.mark.slow),
        pytest.param("fat-tree:34x32x16", "all-gather", marks=pytest.mark.slow),
        pytest.param("fat-tree:34x32x16", "reduce-scatter", marks=pytest.mark.slow),
        ("dragonfly:33x16x2", "all-gather"),
    ],
)
def test_rows_of_so_many_ranks_that_schedules_are_not_compared(source: str, pattern: str) -> None:
    network = read_network(source)
    assert network.ranks**2 > _core.limits.most_messages_compared
    check(network, pattern, 5, [2])  # of an all-reduce some blocks are a byte longer


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_ring_out_of_order_is_refused(pattern: str) -> None:
    network = read_network("tree:4x4")
    demand = find_demand(pattern, network.ranks, 64)
    order = list(range(network.ranks))
    turn = _core.Ring(network, demand).turn_waits
    assert _core.verify_ring(network, order, demand, turn).ok
    Random(1).shuffle(order)
    found = _core.verify_ring(network, order, demand)
    assert not found.ok and found.collisions > 0
    assert "is not alone on" in found.findings[0]


def test_a_wait_at_the_turn_that_is_missing_or_comes_too_early() -> None:
    """A wait for a message that is further back than the channel carries at once is too early."""
    network = read_network("tree:4x4")
    demand = find_demand("all-reduce", network.ranks, 1600)
    turn = _core.Ring(network, demand).turn_waits
    order = list(range(network.ranks))
    for i, (waiting, releasing, capacity) in enumerate(turn):
        found = _core.verify_ring(network, order, demand, turn[:i] + turn[i + 1 :])
        assert not found.ok and not found.contention_free and found.complete and found.unordered > 0
        assert f"rank {waiting} does not wait for rank {releasing}" in found.findings[0]
        early = [*turn[:i], (waiting, releasing, capacity + 1), *turn[i + 1 :]]
        assert _core.verify_ring(network, order, demand, early).unordered > 0
    assert _core.verify_ring(network, order, demand, [(0, 0, 1), *turn]).ok


@pytest.mark.parametrize(("order", "missing"), [([0, 1, 1], 2), ([0, 1], 1), ([0, 1, 2, 0], 1)])
def test_a_ring_visits_each_rank_once(order: list[int], missing: int) -> None:
    found = _core.verify_ring(star(3).build(), order, find_demand("all-gather", 3, 64))
    assert not found.ok and not found.complete and found.missing == missing
    assert any("is visited" in text for text in found.findings)


def test_a_ring_of_ranks_that_there_are_not_or_of_another_pattern() -> None:
    network = star(3).build()
    with pytest.raises(_core.InputError, match="does not have"):
        _core.verify_ring(network, [0, 1, 3], find_demand("all-gather", 3, 64))
    with pytest.raises(_core.InputError, match="all-gathers, reduce-scatters and all-reduces"):
        _core.verify_ring(network, [0, 1, 2], find_demand("all-to-all", 3, 64))


@pytest.mark.parametrize(
    ("network", "pattern", "why"),
    [
        ("torus:4x4", "all-gather", "fat tree or a dragonfly"),
        ("dragonfly:3x2x2", "all-gather", "fat tree or a dragonfly"),
        ("star:4*2", "all-gather", "one rank on every host"),
        ("star:1", "all-gather", "at least two ranks"),
        ("star:4", "all-to-all", "only all-gathers, reduce-scatters and all-reduces"),
    ],
)
def test_why_there_is_no_ring(network: str, pattern: str, why: str) -> None:
    known = read_network(network)
    with pytest.raises(_core.InputError, match=why):
        _core.Ring(known, find_demand(pattern, known.ranks, 64))


def test_contributions_that_differ_by_a_byte() -> None:
    network = read_network("tree:3x4x2")
    demand = _core.Demand(
        network.ranks, 64, "all-gather", contributions=[64 - i % 3 // 2 for i in range(network.ranks)]
    )
    ring = _core.Ring(network, demand)
    planned = _core.plan_exchange(network, demand, 2, ring.algorithm)
    programs = planned.schedule.programs(planned.waits)
    assert [ring.program(rank) for rank in range(network.ranks)] == programs


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
            ring.program(rank)


def test_memory_of_a_row() -> None:
    """Memory of an all-reduce of 100,000 ranks: lists of a single piece take 13 MB more as vectors."""
    prepare = (
        "from hocket import _core\n"
        "from hocket.planning.aggregation import find_demand\n"
        "from hocket.network import read_network\n"
        "network = read_network('tree:50x50x40')\n"
    )
    ring = "ring = _core.Ring(network, find_demand('all-reduce', network.ranks, 64 * network.ranks))"
    assert growth(prepare, f"{ring}\nprogram = ring.program(7)") < 30_000  # KiB


def test_between_groups_of_a_dragonfly_a_ring_takes_one_link_only() -> None:
    """It ends each group where that link begins."""
    network = read_network("dragonfly:9x4x2")
    ring = _core.Ring(network, find_demand("all-gather", network.ranks, 64))
    edges = [network.route(rank, ring.program(rank).sends[0][1]) for rank in range(network.ranks)]
    assert max(map(len, edges)) == 3
