"""All-to-alls on full dragonflies, wired between groups in any way: proven, and by row as a whole."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from closed_forms import check
from dragonflies import dragonfly
from hocket import _core
from hocket.network import read_network

NAME = "dragonfly"
# Routers of a group, links of a router to other groups, hosts of a router.
SIZES = [
    (3, 1, 1), (3, 1, 2), (3, 1, 4), (4, 1, 1), (4, 1, 2), (4, 2, 1), (4, 2, 2), (5, 1, 1), (5, 1, 3), (5, 2, 1),
    (5, 3, 1), (6, 1, 2), (6, 2, 1), (6, 3, 1),
]  # fmt: skip


@settings(max_examples=60)
@given(st.sampled_from(SIZES), st.integers(0, 2**32))
def test_any_wiring_between_groups(sizes: tuple[int, int, int], seed: int) -> None:
    routers, links, hosts = sizes
    check(dragonfly(routers * links + 1, routers, hosts, Random(seed)).build("graph"), NAME)


@pytest.mark.parametrize(("source", "phases", "bound"), [("dragonfly:73x12x6", 5904, 5255)])
def test_large_groups_are_near_the_bound(source: str, phases: int, bound: int) -> None:
    network = read_network(source)
    demand = _core.Demand(network.ranks, 64)
    form = _core.ClosedForm(network, demand)
    assert (form.algorithm, form.phases, _core.lower_bounds(network, demand).phases) == (NAME, phases, bound)
    sample = form.verify_sample(2000, 1)
    assert sample.ok, sample.findings


def test_rows_are_those_of_plans_with_many_ranks() -> None:
    network = read_network("dragonfly:29x14x2")
    assert network.ranks > _core.limits.most_ranks_searched_for_waits
    demand = _core.Demand(network.ranks, 64)
    planned = _core.plan_exchange(network, demand, 1, NAME)
    programs = planned.schedule.programs(planned.waits)
    form = _core.ClosedForm(network, demand, NAME)
    for rank in (0, 1, 99, network.ranks - 1):
        assert form.program(rank) == programs[rank]


@pytest.mark.parametrize(
    ("network", "why"),
    [
        ("dragonfly:9x4x2*2", "several ranks"),
        ("dragonfly:8x4x2", "different numbers of links to other groups"),
        ("dragonfly:9x4x2x2", "one link between any two groups"),
        ("fat-tree:4x4x4", "one link between any two groups"),
    ],
)
def test_where_it_does_not_serve(network: str, why: str) -> None:
    known = read_network(network)
    with pytest.raises(_core.InputError, match=why):
        _core.plan_exchange(known, _core.Demand(known.ranks, 64), algorithm=NAME)


def test_a_part_of_the_hosts_has_no_closed_form() -> None:
    network = read_network("dragonfly:9x4x2")
    part = network.restricted_to(
        [int(node != network.hosts[5] and node in network.hosts) for node in range(network.nodes)]
    )
    with pytest.raises(_core.InputError, match="different numbers of hosts"):
        _core.ClosedForm(part, _core.Demand(part.ranks, 64), NAME)


@pytest.mark.parametrize("form", ["dragonfly:5x4x1", pytest.param("dragonfly:9x4x2", marks=pytest.mark.slow)])
def test_small_groups_are_packed(form: str) -> None:
    network = read_network(form)
    demand = _core.Demand(network.ranks, 64)
    assert _core.plan_exchange(network, demand).algorithm == "packing"
    with pytest.raises(_core.InputError, match="far from the bound"):
        _core.ClosedForm(network, demand)
