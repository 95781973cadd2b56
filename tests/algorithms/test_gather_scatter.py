"""Gathers and scatters: into the root, or from it, one message after the other, as fast as its link."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import _core
from hocket.network import read_network
from hocket.planning.plan import check, plan_collective
from strategies import NetworkPlan, few_ranks, random_graph, tree_plans, unequal

NAMES = ["gather", "scatter"]
GRIDS = ["torus:4x4", "mesh:3x4", "hypercube:4", "torus:4x4*2"]
CLUSTERS = ["fat-tree:4x4x2", "dragonfly:4x2x2", "star:6*3", "chain:5,3,2"]


def planned(name: str, network: _core.Network, size: int, root: int, window: int | None = None) -> _core.Plan:
    made = plan_collective(name, network, size, window=window, root=root % network.ranks)
    assert made.certificate.ok and made.certificate.contention_free, made.certificate.findings
    return made


def check_one(name: str, network: _core.Network, root: int, most: float = 1.02) -> None:
    """Every message whole; ``most``: times what the bound of one message at a time says."""
    made = planned(name, network, 1000, root)
    assert len(made.schedule) == network.ranks - 1
    bounds = _core.lower_bounds(network, made.demand)
    assert made.schedule.token_seconds(network) <= most * bounds.one_port_seconds
    assert made.bound_seconds <= made.predicted_seconds * (1 + 1e-9)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(tree_plans(1, 12, ranks=few_ranks), st.integers(0, 99))
def test_on_trees_of_equal_links_they_meet_the_bound(name: str, plan: NetworkPlan, root: int) -> None:
    check_one(name, plan.build(), root)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(tree_plans(1, 12, ranks=few_ranks, switch_link=unequal), st.integers(0, 99))
def test_where_links_differ(name: str, plan: NetworkPlan, root: int) -> None:
    """A message over a slow inter-switch link keeps the root's link from others while it lasts."""
    check_one(name, plan.build(), root, 2)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("source", GRIDS + CLUSTERS)
def test_on_grids_and_clusters(name: str, source: str) -> None:
    network = read_network(source)
    check_one(name, network, network.ranks // 2)


@pytest.mark.parametrize("seed", range(6))
def test_on_any_graph(seed: int) -> None:
    network = random_graph(Random(seed), 8).build("graph")
    for name in NAMES:
        check_one(name, network, seed)


@pytest.mark.parametrize("window", [1, 2, 4])
def test_so_many_are_under_way_as_the_window_allows(window: int) -> None:
    """Where every message takes the root's link, message k waits for message k - window and for no other."""
    network = read_network("chain:4,4")
    made = planned("gather", network, 1000, 3, window)
    order = [row[1] for row in made.schedule.rows()]
    assert sorted(order) == [rank for rank in range(8) if rank != 3]
    assert made.waits.window == window and len(made.waits) == 7 - window


@pytest.mark.parametrize("name", NAMES)
def test_a_algorithm_that_cuts_messages(name: str) -> None:
    network = read_network("chain:3,3")
    made = plan_collective(name, network, 1000, "RS_NLH", root=1)
    certificate = check(network, made.demand, made.schedule, made.waits)
    assert certificate.ok, certificate.findings


def test_one_rank_has_nothing_to_send() -> None:
    for name in NAMES:
        assert len(planned(name, read_network("star:1"), 1000, 0).schedule) == 0
