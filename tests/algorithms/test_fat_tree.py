"""Shifts on fat trees: no two messages of a phase meet, wherever the algorithm serves."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import _core
from hocket.network import read_network
from strategies import fat_tree


@st.composite
def full_trees(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Draw full trees: as many links up as hosts below, on every level."""
    down = draw(st.lists(st.integers(1, 4), min_size=2, max_size=4).filter(lambda d: 1 < math.prod(d) <= 72))
    return down, [1, *down[:-1]]


def verified(network: _core.Network) -> _core.Plan:
    demand = _core.Demand(network.ranks, 64)
    planned = _core.plan_exchange(network, demand, algorithm="fat-tree")
    certificate = _core.verify(network, demand, planned.schedule)
    _core.verify_waits(network, planned.schedule, planned.waits, certificate)
    assert certificate.ok and certificate.contention_free and certificate.complete
    assert planned.schedule.phases == planned.bound_phases == network.ranks - 1
    return planned


@settings(max_examples=60)
@given(full_trees(), st.integers(0, 2**32))
def test_full_trees_in_any_order_of_ranks(shape: tuple[list[int], list[int]], seed: int) -> None:
    plan = fat_tree(*shape, Random(seed))
    network = plan.build("graph")
    if max(shape[1]) > 1:
        verified(network)


@settings(max_examples=60)
@given(full_trees(), st.integers(0, 2**32))
def test_whole_subtrees(shape: tuple[list[int], list[int]], seed: int) -> None:
    """Subtrees of some level below one node of the next: routes that leave them use the digits of full
    ones."""
    rng = Random(seed)
    down, up = shape
    plan = fat_tree(down, up, rng)
    level = rng.randrange(len(down))
    size, around = math.prod(down[:level]), math.prod(down[: level + 1])
    within = rng.randrange(math.prod(down) // around)
    taken = [place for place in range(down[level]) if rng.random() < 0.6]

    def has_rank(name: str) -> bool:
        host = int(name[1:]) if name[0] == "n" else -1
        return host >= 0 and host // around == within and host % around // size in taken

    ranks = [int(has_rank(name)) for name in plan.names]
    if max(up) > 1 and sum(ranks) > 1:
        verified(plan.build("graph").restricted_to(ranks))


def test_it_is_the_choice_and_beats_the_ring_in_another_order() -> None:
    network = fat_tree([4, 4], [1, 4], Random(5)).build("graph")
    demand = _core.Demand(16, 64)
    assert _core.plan_exchange(network, demand).algorithm == "fat-tree"
    ring = _core.plan_exchange(network, demand, algorithm="ring")
    assert not _core.verify(network, demand, ring.schedule).contention_free


@pytest.mark.parametrize(
    ("network", "ranks", "why"),
    [
        ("fat-tree:4x4x2", None, "other numbers of links up than of hosts"),
        ("fat-tree:4x4x4*2", None, "several ranks"),
        ("fat-tree:4x4x4", range(14), "whole subtrees"),
        ("dragonfly:3x2x2", None, "come down one way"),
        ("tree:4x4", None, "come down one way"),
    ],
)
def test_where_it_does_not_serve(network: str, ranks: range | None, why: str) -> None:
    known = read_network(network)
    if ranks is not None:
        known = known.restricted_to([int(node in ranks) for node in range(len(known.ranks_per_node))])
    with pytest.raises(_core.InputError, match=why):
        _core.plan_exchange(known, _core.Demand(known.ranks, 64), algorithm="fat-tree")
