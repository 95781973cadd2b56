"""Nested shifts on parts of fat trees, oversubscribed ones, and by installed routes: proven, and by row as a whole."""

from __future__ import annotations

import math
from collections import Counter
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from closed_forms import check
from fat_trees import Shape, next_hops, routed, shapes, with_gaps, with_ranks
from hocket import _core
from hocket.network import read_network
from strategies import fat_tree

NAME = "nested-shifts"


def busiest(network: _core.Network) -> int:
    return max(_core.lower_bounds(network, _core.Demand(network.ranks, 64)).load)


@settings(max_examples=120)
@given(shapes(), st.integers(0, 2**32))
def test_any_part_of_any_fat_tree(shape: Shape, seed: int) -> None:
    rng = Random(seed)
    plan = fat_tree(*shape, rng)
    if rng.random() < 0.5:
        plan = with_gaps(plan, shape, rng)
    ranks = with_ranks(plan, rng)
    assume(sum(ranks) > 1)
    whole = plan.build("graph")
    network = whole.restricted_to(ranks)
    if "come down one way" in _core.Algorithm.find(NAME).why_not(network, _core.Demand(network.ranks, 64)):
        # Routes are balanced, then, because those of D-mod-k load the busiest channel more.
        hosts = math.prod(shape[0])
        ways = {(host, name): host for host in range(hosts) for name in plan.names}
        assert busiest(whole) < busiest(routed(plan, next_hops(plan, shape, ways)))
        return
    check(network, NAME)


@settings(max_examples=60)
@given(shapes(), st.integers(0, 2**32))
def test_installed_routes_that_follow_the_destination(shape: Shape, seed: int) -> None:
    """Whatever way each host has: routes are those of the tables, bounds count them, and the form holds."""
    rng = Random(seed)
    plan = fat_tree(*shape, rng)
    if rng.random() < 0.3:
        plan = with_gaps(plan, shape, rng)
    assume(shape[0][-1] > 1)
    ways = [rng.randrange(math.prod(shape[1])) for _ in range(math.prod(shape[0]))]
    hops = next_hops(plan, shape, {(h, name): way for h, way in enumerate(ways) for name in plan.names})
    whole = routed(plan, hops)
    next_hop = {(at, to): channel for at, to, channel in hops}
    ends = [end for link in plan.links for end in (link, link[::-1])]
    load: Counter[int] = Counter()
    for src, a in enumerate(whole.hosts):
        for dst, b in enumerate(whole.hosts):
            route = whole.route(src, dst)
            load.update(route)
            assert all(next_hop[ends[channel][0], b] == channel for channel in route[1:])
            assert not route or (ends[route[0]][0], ends[route[-1]][1]) == (a, b)
    bounds = _core.lower_bounds(whole, _core.Demand(whole.ranks, 64))
    assert list(bounds.load) == [load[channel] for channel in range(whole.channels)]
    ranks = with_ranks(plan, rng)
    assume(sum(ranks) > 1)
    check(whole.restricted_to(ranks), NAME)


@settings(max_examples=30)
@given(shapes(), st.integers(0, 2**32))
def test_routes_that_follow_the_source_have_no_closed_form(shape: Shape, seed: int) -> None:
    rng = Random(seed)
    plan = fat_tree(*shape)
    ways = {
        (host, name): rng.randrange(math.prod(shape[1]))
        for host in range(math.prod(shape[0]))
        for name in plan.names
    }
    network = routed(plan, next_hops(plan, shape, ways))
    turns: dict[tuple[int, int], set[str]] = {}  # per destination and length of the route: where it turns
    for src in range(network.ranks):
        for dst in range(network.ranks):
            names = [network.channel_name(channel).split("->")[0] for channel in network.route(src, dst)]
            if names:
                middle = names[len(names) // 2]
                twins = math.prod(shape[1][: len(names) // 2])
                turns.setdefault((dst, len(names)), set()).add(str(int(middle.split(".")[1]) % twins))
    assume(any(len(of) > 1 for of in turns.values()))
    with pytest.raises(_core.InputError, match="its routes have no closed form"):
        _core.ClosedForm(network, _core.Demand(network.ranks, 64), NAME)


def test_full_trees_take_the_bound_and_oversubscribed_ones_a_shift_within_leaves_more() -> None:
    for source, phases in [("fat-tree:4x4x4", 15), ("fat-tree:16x4x2", 3 + 2 * 60), ("fat-tree:k=6", 53)]:
        network = read_network(source)
        form = _core.ClosedForm(network, _core.Demand(network.ranks, 64), NAME)
        assert form.phases == phases


@pytest.mark.parametrize(
    ("source", "hosts", "chosen"),
    [
        ("fat-tree:32x4x2", 128, NAME),  # 251 phases, bound 248
        ("fat-tree:8x4x2", 32, "packing"),  # 59, bound 56
        ("fat-tree:8x8x8", 63, NAME),
        ("fat-tree:8x8x8", 60, "packing"),
        ("fat-tree:8x8x8", 56, "fat-tree"),
    ],
)
def test_it_is_chosen_near_the_bound(source: str, hosts: int, chosen: str) -> None:
    network = read_network(source)
    network = network.restricted_to([int(node < hosts) for node in range(network.nodes)])
    demand = _core.Demand(network.ranks, 64)
    assert _core.plan_exchange(network, demand).algorithm == chosen
    if chosen == "packing":
        with pytest.raises(_core.InputError, match="nested shifts are far from the bound"):
            _core.ClosedForm(network, demand)
    else:
        assert _core.ClosedForm(network, demand).algorithm == chosen


PARTS = ["all", "inner", "97 %", "90 %"]
FIGURES = {  # phases of the parts over their bounds
    "fat-tree:k=22": (1, 1.005, 1.021, 1.08),
    "fat-tree:96x32x16": (1.005, 1.005, 1.016, 1.073),
    "fat-tree:36x32x16": (1.014, 1.014, 1.014, 1.075),
}


@pytest.mark.parametrize("source", FIGURES)
def test_phases_over_the_bound(source: str) -> None:
    """The table of decision 47."""
    network = read_network(source)
    hosts = network.ranks
    for part, figure in zip(PARTS, FIGURES[source], strict=True):
        rng = Random(1)
        kept = {
            node
            for node in network.hosts
            if (part != "inner" or 5 <= node < hosts - 7)
            and (not part.endswith("%") or rng.random() < int(part[:2]) / 100)
        }
        ranks = [int(node in kept) for node in range(network.nodes)]
        cut = network.restricted_to(ranks)
        demand = _core.Demand(cut.ranks, 64)
        phases, bound = _core.ClosedForm(cut, demand, NAME).phases, _core.lower_bounds(cut, demand).phases
        assert round(phases / bound, 3) == figure


def test_rows_are_those_of_plans_with_many_ranks() -> None:
    network = read_network("fat-tree:k=14")
    network = network.restricted_to([int(2 < node < 680) for node in range(network.nodes)])
    assert network.ranks > _core.limits.most_ranks_searched_for_waits
    demand = _core.Demand(network.ranks, 64)
    planned = _core.plan_exchange(network, demand, 1)
    form = _core.ClosedForm(network, demand)
    assert (form.algorithm, form.phases) == (planned.algorithm, planned.schedule.phases) == (NAME, 685)
    programs = planned.schedule.programs(planned.waits)
    for rank in (0, 1, 99, network.ranks - 1):
        assert form.program(rank) == programs[rank]


@pytest.mark.parametrize(
    ("network", "why"),
    [
        ("fat-tree:4x4x4*2", "several ranks"),
        ("dragonfly:3x2x2", "come down one way"),
        ("fat-tree:2x66x1", "needs a fat tree"),  # one spine: a tree
        ("fat-tree:2x130x2", "too many messages share a link"),  # 65 hosts of a leaf by each of two
    ],
)
def test_where_it_does_not_serve(network: str, why: str) -> None:
    known = read_network(network)
    with pytest.raises(_core.InputError, match=why):
        _core.plan_exchange(known, _core.Demand(known.ranks, 64), algorithm=NAME)
