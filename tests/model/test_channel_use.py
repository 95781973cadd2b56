"""Messages by phase and channel, against the routes."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hocket import _core
from strategies import one_host, random_graph


@given(
    seed=st.integers(0, 1000), hosts=st.integers(2, 12), name=st.sampled_from(["ring", "linear", "packing"])
)
def test_counts_are_those_of_the_routes(seed: int, hosts: int, name: str) -> None:
    network = random_graph(Random(seed), hosts).build("graph")
    schedule = _core.Algorithm.find(name).make(network, _core.Demand(network.ranks, 10))
    expected = np.zeros((schedule.phases, network.channels), np.uint32)
    for phase, src, dst, *_ in schedule.rows():
        expected[phase, network.route(src, dst)] += 1
    use = schedule.channel_use(network)
    assert use.dtype == np.uint32 and np.array_equal(use, expected)
    assert np.array_equal(schedule.channel_use(network, 1, schedule.phases), expected[1:])
    certificate = _core.verify(network, _core.Demand(network.ranks, 10), schedule)
    assert certificate.worst_channel_use == use.max(initial=0)


def test_an_empty_phase_and_a_network_without_channels() -> None:
    network = _core.Network.grid("torus", [3], 1e6, 0.0)
    rows = [(1, 0, 1, 0, 1, 0, 10)]
    use = _core.Schedule.from_rows(3, 10, rows).channel_use(network)
    assert use.shape == (2, 6) and list(use.sum(axis=1)) == [0, 1]
    memory = one_host(3)
    schedule = _core.Algorithm.find("ring").make(memory, _core.Demand(3, 10))
    assert schedule.channel_use(memory).shape == (2, 0)


def test_bad_input_is_refused() -> None:
    network = _core.Network.grid("torus", [3], 1e6, 0.0)
    with pytest.raises(_core.InputError, match="no such rank"):
        _core.Schedule.from_rows(9, 10, [(0, 7, 8, 7, 8, 0, 10)]).channel_use(network)
    two = _core.Schedule.from_rows(3, 10, [(1, 0, 1, 0, 1, 0, 10)])
    for first, last in ((0, 3), (2, 1)):
        with pytest.raises(_core.InputError, match="no such phases"):
            two.channel_use(network, first, last)
    wide = _core.Network.grid("torus", [16, 16], 1e6, 0.0)
    late = _core.Schedule.from_rows(256, 10, [(900_000, 0, 1, 0, 1, 0, 10)])
    with pytest.raises(_core.InputError, match="too many"):
        late.channel_use(wide)


def test_schedules_say_where_phases_begin_and_how_long_messages_are() -> None:
    rows = [(0, 0, 1, 0, 1, 0, 10), (0, 1, 2, 1, 2, 0, 10), (2, 2, 0, 2, 0, 0, 4)]
    schedule = _core.Schedule.from_rows(3, 10, rows)
    assert schedule.phase_begin() == [0, 2, 2, 3]
    assert schedule.lengths() == [10, 10, 4]
