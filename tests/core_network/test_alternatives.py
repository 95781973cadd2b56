"""Equally short ways between hosts, and the choice among them."""

from __future__ import annotations

import itertools
import random

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
    ways = _core.equal_ways(network, a, b, 100)
    assert len(ways) == spines == len({tuple(way) for way in ways})
    for way in ways:
        ends = [network.links[c // 2][:: 1 if c % 2 == 0 else -1] for c in way]
        assert ends[0][0] == a
        assert ends[-1][1] == b
        assert all(x[1] == y[0] for x, y in itertools.pairwise(ends))
    assert list(network.route(0, network.ranks - 1)) in ways
    if spines > 1:
        with pytest.raises(_core.InputError, match="more than 1 equally short"):
            _core.equal_ways(network, a, b, 1)


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


def test_items_without_options_and_unknown_channels() -> None:
    nothing = 2**32 - 1
    assert _core.least_load([1.0], [[], [[0]]]) == [nothing, 0]
    with pytest.raises(_core.InputError, match="unknown channel"):
        _core.least_load([1.0], [[[1]]])
