"""The tree algorithm needs exactly |M0|·(|M|−|M0|) phases on every tree with equal links."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings

from hocket import _core
from strategies import KINDS, NetworkPlan, balanced, chain, few_ranks, random_tree, star, tree_plans

TREES = 2000


def largest_branch_bound(plan: NetworkPlan) -> int:
    """|M0|·(|M|−|M0|): the root is the node none of whose branches holds more than half of the ranks.

    A host with several ranks is one more switch with its ranks as leaves.
    """
    total = sum(plan.ranks)
    leaving = plan.adjacency()
    parent = {0: -1}
    order = [0]
    for node in order:
        for _, to in leaving[node]:
            if to not in parent:
                parent[to] = node
                order.append(to)
    below = list(plan.ranks)
    for node in reversed(order[1:]):
        below[parent[node]] += below[node]
    best = total
    for node in order:
        branches = [below[to] for _, to in leaving[node] if parent[to] == node]
        branches += [total - below[node]] if node else []
        branches += [1] * plan.ranks[node]
        best = min(best, max(branches))
    return best * (total - best)


def check(plan: NetworkPlan) -> None:
    network = plan.build()
    demand = _core.Demand(network.ranks, 1)
    schedule = _core.Algorithm.find("tree").make(network, demand)
    bound = _core.lower_bounds(network, demand).phases
    certificate = _core.verify(network, demand, schedule)
    assert certificate.ok, (certificate.findings, plan)
    assert schedule.phases == bound == largest_branch_bound(plan), plan
    assert len(schedule) == demand.messages


def size_of(rng: Random, index: int) -> int:
    """Mostly small trees; every twentieth up to 200 hosts."""
    return rng.randint(60, 200) if index % 20 == 0 else rng.randint(3, 40)


def test_phases_equal_the_bound_on_2000_random_trees() -> None:
    rng = Random("hocket: optimal on every tree")
    largest = 0
    for index in range(TREES):
        hosts = size_of(rng, index)
        several = index % 4 == 3 and hosts <= 60
        plan = random_tree(
            rng, hosts, kind=KINDS[index % len(KINDS)], ranks=few_ranks if several else lambda _: 1
        )
        largest = max(largest, hosts)
        check(plan)
    assert largest > 190


SHAPES: dict[str, NetworkPlan] = {
    "one host": star(1),
    "two hosts": star(2),
    "three hosts": star(3),
    "star of 24": star(24),
    "star of 200": star(200),
    "chain 8 8 8 8": chain([8, 8, 8, 8]),
    "chain with a gap": chain([3, 0, 0, 5]),
    "chain of one-host switches": chain([1] * 100),
    "long chain, hosts at its ends": chain([4] + [0] * 200 + [4]),
    "empty switch at the end": chain([5, 5, 0, 0]),
    "three levels": balanced([4, 4, 4]),
    "uneven halves": chain([7, 1, 6]),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shape(name: str) -> None:
    check(SHAPES[name])


def test_one_host_with_many_ranks_needs_no_link() -> None:
    plan = NetworkPlan()
    plan.node(7)
    network = plan.build()
    schedule = _core.Algorithm.find("tree").make(network, _core.Demand(7, 8))
    assert _core.verify(network, _core.Demand(7, 8), schedule).ok
    assert schedule.phases == 6


def test_a_host_with_more_than_half_of_the_ranks() -> None:
    plan = star(3)
    plan.ranks[1] = 9
    check(plan)


@settings(max_examples=100)
@given(tree_plans(2, 14))
def test_every_phase_is_free_of_contention_by_an_independent_count(plan: NetworkPlan) -> None:
    """The routes and the rules written once more, in Python: the verifier is judged here."""
    network = plan.build()
    host_of = plan.host_of
    demand = _core.Demand(len(host_of), 1)
    schedule = _core.Algorithm.find("tree").make(network, demand)
    uses: Counter[tuple[str, int, int]] = Counter()
    pairs = []
    for phase, src, dst, *_ in schedule.rows():
        route = plan.tree_route(host_of[src], host_of[dst])
        assert network.route(src, dst) == route
        uses.update([("send", phase, src), ("receive", phase, dst)])
        uses.update(("channel", phase, channel) for channel in route)
        pairs.append((src, dst))
    assert max(uses.values(), default=1) == 1
    ranks = range(len(host_of))
    assert sorted(pairs) == [(src, dst) for src in ranks for dst in ranks if src != dst]
    assert schedule.phases == plan.bound_phases()


def test_one_rank_row_follows_from_the_closed_form() -> None:
    plan = random_tree(Random(5), 40)
    network = plan.build()
    phases = _core.TreePhases(network)
    schedule = _core.Algorithm.find("tree").make(network, _core.Demand(40, 1))
    for phase, src, dst, *_ in schedule.rows():
        assert phases.phase(network, src, dst) == phase


def test_closed_form_refuses_what_is_no_message() -> None:
    network = star(3).build()
    phases = _core.TreePhases(network)
    for src, dst in [(0, 0), (0, 3), (3, 0)]:
        with pytest.raises(_core.InputError, match="no such message"):
            phases.phase(network, src, dst)
    with pytest.raises(_core.InputError, match="tree of switches"):
        _core.TreePhases(_core.Network.grid("torus", [3, 3], 1e9, 0))
