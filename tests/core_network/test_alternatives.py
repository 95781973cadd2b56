"""Equally short ways between hosts, and the choice among them."""

from __future__ import annotations

import itertools
import random
import time

import pytest

from hocket import _core
from hocket.network import read_network


def loads(items: list[list[list[int]]], picks: list[int], channels: int) -> list[int]:
    count = [0] * channels
    for options, pick in zip(items, picks, strict=True):
        for channel in options[pick]:
            count[channel] += 1
    return count


@pytest.mark.parametrize("spines", [1, 2, 4])
def test_a_way_over_each_spine(spines: int) -> None:
    network = read_network(f"fat-tree:3x2x{spines}")
    a, b = network.hosts[0], network.hosts[-1]
    ways = network.equal_ways(a, b, 100)
    assert len(ways) == spines == len({tuple(way) for way in ways})
    for way in ways:
        ends = [network.links[c // 2][:: 1 if c % 2 == 0 else -1] for c in way]
        assert ends[0][0] == a
        assert ends[-1][1] == b
        assert all(x[1] == y[0] for x, y in itertools.pairwise(ends))
    assert list(network.route(0, network.ranks - 1)) in ways
    if spines > 1:
        with pytest.raises(_core.InputError, match="more than 1 equally short"):
            network.equal_ways(a, b, 1)


def test_load_is_as_small_as_any_choice_gives() -> None:
    random.seed(5)
    for _ in range(30):
        channels = 5
        items = [[random.sample(range(channels), 2) for _ in range(random.randint(1, 3))] for _ in range(6)]
        picks = _core.least_load([1.0] * channels, items)
        best = min(
            max(loads(items, list(other), channels))
            for other in itertools.product(*(range(len(options)) for options in items))
        )
        assert max(loads(items, picks, channels)) <= best + 1
        assert picks == _core.least_load([1.0] * channels, items)


def test_wide_channels_take_more() -> None:
    picks = _core.least_load([1.0, 3.0], [[[0], [1]]] * 8)
    assert picks.count(1) in (6, 7)


def test_disjoint_ways_are_found_where_there_are_any() -> None:
    """Choices among ways that a hidden one without overlaps is part of, with a quarter of the channels to spare."""
    random.seed(7)
    for _ in range(20):
        channels, each, count = 80, 3, 20
        order = random.sample(range(channels), channels)
        hidden = [order[i : i + each] for i in range(0, count * each, each)]
        items = [[random.sample(range(channels), each) for _ in range(6)] for _ in hidden]
        for options, way in zip(items, hidden, strict=True):
            options[random.randrange(6)] = way
        picks = _core.disjoint_ways(channels, items, 10_000_000)
        assert picks is not None
        assert max(loads(items, picks, channels)) == 1
        assert picks == _core.disjoint_ways(channels, items, 10_000_000)


@pytest.mark.parametrize("spines", [4, 8])
def test_any_permutation_goes_over_full_spines(spines: int) -> None:
    """Each host of a leaf sends by its own spine and receives by its own, with no channel to spare (König, 1916)."""
    random.seed(7)
    hosts = spines * spines
    for _ in range(20):
        to = random.sample(range(hosts), hosts)
        items = [
            [[a // spines * spines + by, hosts + b // spines * spines + by] for by in range(spines)]
            for a, b in enumerate(to)
        ]
        picks = _core.disjoint_ways(2 * hosts, items, 10_000_000)
        assert picks is not None
        assert set(loads(items, picks, 2 * hosts)) == {1}


def test_there_may_be_no_disjoint_ways() -> None:
    assert _core.disjoint_ways(2, [[[0], [1]]] * 2, 100) is not None
    assert _core.disjoint_ways(2, [[[0], [1]]] * 3, 10_000) is None
    assert _core.disjoint_ways(1, [[[0]], [[0]]], 10_000) is None
    assert _core.disjoint_ways(1, [], 10_000) == []
    with pytest.raises(_core.InputError, match="no options"):
        _core.disjoint_ways(1, [[]], 10)
    with pytest.raises(_core.InputError, match="unknown channel"):
        _core.disjoint_ways(1, [[[1]]], 10)


def test_a_search_in_vain_ends_by_all_that_it_looks_at() -> None:
    """Items without a choice that are in each other's way cost time, too, though there is nothing else to look at."""
    begin = time.process_time()
    assert _core.disjoint_ways(8, [[list(range(8))]] * 60, 3_000_000) is None
    assert time.process_time() - begin < 0.5


def test_items_without_options_and_unknown_channels() -> None:
    nothing = 2**32 - 1
    assert _core.least_load([1.0], [[], [[0]]]) == [nothing, 0]
    with pytest.raises(_core.InputError, match="unknown channel"):
        _core.least_load([1.0], [[[1]]])
