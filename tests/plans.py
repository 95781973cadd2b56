"""Plans to test with."""

from __future__ import annotations

import pytest

from hocket import _core
from strategies import star


def make_plan(network: _core.Network, schedule: _core.Schedule, size: int, window: int = 1) -> _core.Plan:
    waits = _core.Waits.derive(network, schedule, window)
    return _core.Plan(network, schedule, waits, _core.Demand(network.ranks, size), "tree", 12, 0.25, 0.5)


def planned(network: _core.Network, size: int = 100, window: int = 1) -> _core.Plan:
    demand = _core.Demand(network.ranks, size)
    return make_plan(network, _core.plan_exchange(network, demand).schedule, size, window)


def forwarding() -> _core.Plan:
    """Three hosts in a star; 0->1 goes in two pieces, one of them by way of 2."""
    rows = [
        (0, 0, 2, 0, 1, 0, 40),
        (0, 1, 0, 1, 0, 0, 100),
        (0, 2, 1, 2, 1, 0, 100),
        (1, 0, 1, 0, 1, 40, 60),
        (1, 1, 2, 1, 2, 0, 100),
        (1, 2, 0, 2, 0, 0, 100),
        (2, 0, 2, 0, 2, 0, 100),
        (2, 2, 1, 0, 1, 0, 40),
    ]
    return make_plan(star(3).build(), _core.Schedule.from_rows(3, 100, rows), 100)


def gathering() -> _core.Plan:
    """An all-gather of unequal parts: aggregates, a split, a rank that has nothing to give."""
    everyone = _core.EVERYONE
    rows = [
        (0, 0, 1, 0, everyone, 0, 100),
        (0, 2, 0, 2, everyone, 0, 40),
        (1, 1, 2, 0, everyone, 0, 60),
        (2, 0, 2, 0, everyone, 60, 40),
        (3, 0, 1, 2, everyone, 0, 40),
    ]
    network = star(3).build()
    schedule = _core.Schedule.from_rows(3, 100, rows)
    demand = _core.Demand(3, 100, "all-gather", [100, 0, 40])
    waits = _core.Waits.derive(network, schedule)
    return _core.Plan(network, schedule, waits, demand, "by hand", 2, 1.0, 1.0)


def forwarded() -> _core.Network:
    """Three switches in a ring, one host each; messages go one way round, but from the first to the third."""
    names, ranks = ["s0", "s1", "s2", "a", "b", "c"], [0, 0, 0, 1, 1, 1]
    hops = [(0, None, 0), (1, None, 2), (2, None, 4), (0, 5, 5)]
    links = [0, 1, 2, 0, 1, 2], [1, 2, 0, 3, 4, 5]
    return _core.Network.graph(names, ranks, *links, [1e9] * 6, [1e-6] * 6, hops)


def small() -> bytes:
    return bytes(planned(star(3).build()).encode())


def exchanging() -> _core.Plan:
    """An irregular exchange: a split message, a rank that sends nothing."""
    demand = _core.Demand.irregular(4, [0, 0, 1, 3], [1, 3, 0, 2], [300, 20, 128, 7])
    rows = [
        (0, 0, 1, 0, 1, 0, 172),
        (0, 1, 0, 1, 0, 0, 128),
        (1, 0, 3, 0, 3, 0, 20),
        (1, 3, 2, 3, 2, 0, 7),
        (2, 0, 1, 0, 1, 172, 128),
    ]
    network = star(4).build()
    schedule = _core.Schedule.from_rows(4, demand.bytes, rows)
    waits = _core.Waits.derive(network, schedule)
    return _core.Plan(network, schedule, waits, demand, "by hand", 2, 1.0, 1.0)


def refused(data: bytes) -> str:
    """Why this is not read as a plan."""
    with pytest.raises(_core.PlanProblem) as caught:
        _core.Plan.decode(data)
    return str(caught.value)
