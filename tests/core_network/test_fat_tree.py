"""Graphs that are fat trees, however their nodes are named and ordered: routes by the destination's digits."""

from __future__ import annotations

import math
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import _core
from strategies import NetworkPlan, fat_tree, sampled

SHAPES = [  # children from the hosts up, parents
    ([2, 2], [1, 2]),
    ([4, 3], [1, 2]),
    ([2, 5], [1, 3]),
    ([3, 2], [2, 2]),
    ([2, 3, 2], [1, 2, 3]),
    ([3, 2, 4], [1, 2, 1]),
    ([2, 2, 2, 2], [1, 2, 2, 2]),
]
shapes = st.sampled_from(SHAPES)


def number(name: str) -> int:
    """Number of a host, in the order of the tree."""
    return int(name[1:])


def by_name(plan: NetworkPlan, network: _core.Network, src: int, dst: int) -> list[str]:
    return [network.channel_name(channel) for channel in network.route(src, dst)]


UNEVEN = [([3, 2], [2, 2])]  # D-mod-k loads its links unevenly: it gets balanced routes


@pytest.mark.parametrize(("down", "up"), [shape for shape in SHAPES if shape not in UNEVEN])
def test_parents_follow_from_the_digits_of_the_destination(down: list[int], up: list[int]) -> None:
    """Position p of level i leads to parent digit d by the name of level i + 1, so no digit is taken
    twice."""
    plan = fat_tree(down, up)
    network = plan.build("graph")
    for src in range(network.ranks):
        for dst in range(network.ranks):
            names = [name.split("->")[0] for name in by_name(plan, network, src, dst)]
            turn = len(names) // 2
            levels = [*range(turn), *range(turn, 0, -1)]
            assert [int(name[1 : name.index(".")]) if name[0] == "s" else 0 for name in names] == levels
            if turn:
                top = int(names[turn].split(".")[1])
                assert top % math.prod(up[:turn]) == dst % math.prod(up[:turn])


@settings(max_examples=60)
@given(shapes, st.integers(0, 2**32))
def test_routes_are_as_in_any_other_order_of_nodes(shape: tuple[list[int], list[int]], seed: int) -> None:
    """Hosts of a subtree stay together; which of several switches has which digit may differ."""
    down, up = shape
    plan = fat_tree(down, up, Random(seed))
    network = plan.build("graph")
    use: dict[int, Counter[str]] = {}
    rank_of = {plan.names[host]: rank for rank, host in enumerate(network.hosts)}
    for a, src in rank_of.items():
        for b, dst in rank_of.items():
            route = by_name(plan, network, src, dst)
            shared = next(
                i
                for i in range(len(down) + 1)
                if number(a) // math.prod(down[:i]) == number(b) // math.prod(down[:i])
            )
            assert len(route) == 2 * shared
            assert len({name.split("->")[0] for name in route}) == len(route)
            for name in route[:shared]:
                level = route.index(name)
                use.setdefault(level, Counter())[name] += 1
    for level, counts in use.items():
        if math.prod(down[:level]) % math.prod(up[: level + 1]) == 0:  # as many hosts below have each digit
            assert len(set(counts.values())) == 1


@settings(max_examples=60)
@given(shapes, st.integers(0, 2**32))
def test_loads_are_those_of_the_routes(shape: tuple[list[int], list[int]], seed: int) -> None:
    rng = Random(seed)
    plan = fat_tree(*shape, rng)
    plan.ranks = [count and rng.choice([1, 1, 2, 3]) for count in plan.ranks]
    whole = plan.build("graph")
    fewer = [rng.choice([0, count]) for count in plan.ranks]
    part = whole.restricted_to(fewer if any(fewer) else plan.ranks)
    for network in (whole, part):
        load = Counter(
            channel
            for src in range(network.ranks)
            for dst in range(network.ranks)
            for channel in network.route(src, dst)
        )
        bounds = _core.lower_bounds(network, _core.Demand(network.ranks, 64))
        assert list(bounds.load) == [load[channel] for channel in range(network.channels)]


@sampled(60)
@given(shapes, st.integers(0, 2**32))
def test_what_is_nearly_one_goes_by_shortest_paths(shape: tuple[list[int], list[int]], seed: int) -> None:
    """A link less, a link more, or a host at a switch that is not a leaf."""
    rng = Random(seed)
    plan = fat_tree(*shape, rng)
    switches = [node for node, ranks in enumerate(plan.ranks) if not ranks]
    change = rng.randrange(3)
    if change == 0:
        plan.node(1, rng.choice([node for node in switches if not plan.names[node].startswith("s1.")]))
    elif change == 1:
        a, b = rng.sample(switches, 2)
        plan.link(a, b)
    else:
        between = [i for i, (a, b) in enumerate(plan.links) if not plan.ranks[a] and not plan.ranks[b]]
        gone = rng.choice(between)
        del plan.links[gone], plan.rates[gone]
    try:
        network = plan.build("graph")
    except _core.InputError:
        return  # what is left is not connected
    with pytest.raises(_core.InputError, match="no closed form; those of"):
        _core.ClosedForm(network, _core.Demand(network.ranks, 64))
    for src in range(network.ranks):
        for dst in range(network.ranks):
            assert (not network.route(src, dst)) == (src == dst)
