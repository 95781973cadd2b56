"""switch-ring: all-gather on any tree, complete, free of contention, and close to the bound."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import _core
from strategies import (
    NetworkPlan,
    balanced,
    chain,
    few_ranks,
    random_tree,
    star,
    star_of_switches,
    tree_plans,
    unequal,
)

BYTES = 1_000_000


def gather(ranks: int, contributions: list[int] | None = None, size: int = BYTES) -> _core.Demand:
    return _core.Demand(ranks, size, "all-gather", contributions or [])


def check(network: _core.Network, demand: _core.Demand) -> _core.Schedule:
    algorithm = _core.Algorithm.find("switch-ring", "all-gather")
    schedule = algorithm.make(network, demand)
    certificate = _core.verify(network, demand, schedule, algorithm.ports)
    _core.verify_waits(network, schedule, _core.Waits.derive(network, schedule), certificate)
    assert certificate.ok, certificate.findings
    return schedule


def over_bound(network: _core.Network, demand: _core.Demand) -> float:
    schedule = check(network, demand)
    bound = _core.lower_bounds(network, demand).seconds
    return float(_core.simulate(network, schedule, None, "token").seconds / bound) if bound else 1.0


def with_switch_links(plan: NetworkPlan, factor: float) -> NetworkPlan:
    for i, (a, b) in enumerate(plan.links):
        if not plan.ranks[a] and not plan.ranks[b]:
            plan.rates[i] *= factor
    return plan


@settings(max_examples=60, deadline=None)
@given(tree_plans(1, 14, ranks=lambda _: 1))
def test_equal_links_take_n_minus_1_phases(plan: NetworkPlan) -> None:
    network = plan.build()
    schedule = check(network, gather(network.ranks))
    assert schedule.phases == network.ranks - 1
    assert len(schedule) == network.ranks * (network.ranks - 1)


contribution = st.sampled_from([0, 1, 7, 1000, 65_536, 10**6, 3 * 10**6 + 1])


@settings(max_examples=100, deadline=None)
@given(tree_plans(1, 9, switch_link=unequal), st.data())
def test_any_tree_and_any_contributions(plan: NetworkPlan, data: st.DataObject) -> None:
    ranks = sum(plan.ranks)
    parts = data.draw(st.one_of(st.just([]), st.lists(contribution, min_size=ranks, max_size=ranks)))
    check(plan.build(), gather(ranks, parts))


def distribution(
    switch_link: Callable[[Random], float], ranks: Callable[[Random], int], parts: bool
) -> list[float]:
    found = []
    for seed in range(60):
        rng = Random(seed)
        network = random_tree(rng, rng.randint(2, 30), ranks=ranks, switch_link=switch_link).build()
        sizes = [rng.choice([0, 50_000, BYTES, rng.randint(1000, BYTES)]) for _ in range(network.ranks)]
        found.append(over_bound(network, gather(network.ranks, sizes if parts else None)))
    return sorted(found)


def test_equal_trees_meet_the_bound() -> None:
    assert distribution(lambda _: 1.0, lambda _: 1, False)[-1] < 1.01


def test_trees_with_slow_links_come_close_to_the_bound() -> None:
    found = distribution(unequal, few_ranks, False)
    assert statistics.median(found) < 1.01
    assert found[int(0.9 * len(found))] < 1.15
    assert found[-1] < 1.6


def test_unequal_contributions_come_close_to_the_bound() -> None:
    found = distribution(lambda _: 1.0, few_ranks, True)
    assert statistics.median(found) < 1.08
    assert found[int(0.9 * len(found))] < 1.15


@pytest.mark.parametrize(("factor", "limit"), [(1, 1.01), (1 / 2, 1.15), (1 / 4, 1.12), (1 / 10, 1.1)])
def test_a_chain_with_slow_switch_links(factor: float, limit: float) -> None:
    """A plain ring would bring 31 contributions over each inter-switch link; no inter-switch link need carry more
    than 24."""
    network = with_switch_links(chain([8, 8, 8, 8]), factor).build()
    assert over_bound(network, gather(32)) < limit


def test_slow_links_carry_what_lies_behind_them_only_out() -> None:
    """A star of switches: over each slow inter-switch link come the 24 contributions of the others, once."""
    plan = with_switch_links(star_of_switches([8, 8, 8, 8]), 0.25)
    network = plan.build()
    schedule = check(network, gather(32))
    carried = [0] * network.channels
    for _, src, dst, _, _, _, length in schedule.rows():
        for channel in network.route(src, dst):
            carried[channel] += length
    host_of, hosts = plan.host_of, set(plan.hosts)
    switch_links = [i for i, (a, b) in enumerate(plan.links) if a not in hosts and b not in hosts]
    assert len(switch_links) == 3
    assert len(host_of) == 32
    assert all(carried[2 * switch_link + way] == 24 * BYTES for switch_link in switch_links for way in (0, 1))


def test_a_host_of_several_ranks_gets_each_contribution_once() -> None:
    plan = NetworkPlan()
    switch = plan.node(0)
    for _ in range(4):
        plan.node(4, switch)
    network = plan.build()
    demand = gather(16)
    schedule = check(network, demand)
    into = [0] * 4
    for _, src, dst, *_, length in schedule.rows():
        into[dst // 4] += length if src // 4 != dst // 4 else 0
    assert into == [12 * BYTES] * 4
    assert over_bound(network, demand) < 1.05


@pytest.mark.parametrize("others", [0, 1000, 10_000])
def test_one_large_contribution_flows_in_a_pipeline(others: int) -> None:
    network = chain([8, 8, 8, 8]).build()
    assert over_bound(network, gather(32, [10_000_000] + [others] * 31)) < 1.3


def test_a_per_message_cost_makes_chunks_larger() -> None:
    network = star(16).build()
    demand = gather(16, [10_000_000] + [0] * 15)
    algorithm = _core.Algorithm.find("switch-ring", "all-gather")
    assert len(algorithm.make(network, demand, alpha=1e-2)) < len(algorithm.make(network, demand)) / 4


def test_nothing_to_gather_is_an_empty_schedule() -> None:
    assert len(check(star(4).build(), gather(4, size=0))) == 0
    assert len(check(star(1).build(), gather(1))) == 0


def test_chooser_takes_it_on_trees() -> None:
    network = balanced([3, 3, 3]).build()
    assert _core.plan_exchange(network, gather(27)).algorithm == "switch-ring"


def test_deep_trees() -> None:
    check(chain([1] * 300).build(), gather(300))
    check(chain([2] + [0] * 500 + [2]).build(), gather(4))


def test_a_thousand_ranks_are_planned_in_seconds() -> None:
    network = star_of_switches([32] * 32).build()
    schedule = _core.Algorithm.find("switch-ring", "all-gather").make(network, gather(1024))
    assert schedule.phases == 1023
