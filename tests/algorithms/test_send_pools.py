"""Hosts of one switch take each other's turns while `packing` packs; then each sends once a phase."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import _core
from strategies import NetworkPlan, few_ranks, random_graph
from wired_switches import hung, hyperx, kautz, random_regular


def packed(network: _core.Network) -> _core.Schedule:
    demand = _core.Demand(network.ranks, 1000)
    schedule = _core.plan_exchange(network, demand, None, "packing").schedule
    certificate = _core.verify(network, demand, schedule)
    assert certificate.ok, certificate.findings[:3]
    return schedule


@pytest.mark.parametrize(
    ("plan", "over"),
    [
        (hyperx(4, 4), 1.03), (random_regular(32, 5, 3, 1), 1.04), (kautz(3, 4), 1.03),
        (random_regular(16, 4, 8, 1), 1.03),
    ],
    ids=["HyperX", "random", "Kautz", "random, 8 hosts"],
)  # fmt: skip
def test_phases_come_near_the_busiest_channel(plan: NetworkPlan, over: float) -> None:
    network = plan.build("graph")
    bound = _core.lower_bounds(network, _core.Demand(network.ranks, 1)).phases
    assert packed(network).phases <= over * bound


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 16))
def test_random_graphs(seed: int, hosts: int) -> None:
    """Hosts with one rank and several, with one link and several."""
    rng = Random(seed)
    plan = random_graph(rng, hosts)
    for host in plan.hosts:
        plan.ranks[host] = few_ranks(rng) if seed % 2 else 1
    packed(plan.build("graph"))


def test_pools_of_different_sizes() -> None:
    plan = hung(5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 2)], 0)
    for switch, hosts in enumerate((1, 5, 3, 0, 2)):
        for _ in range(hosts):
            plan.node(1, switch)
    packed(plan.build("graph"))
