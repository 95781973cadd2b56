"""Work of the core tells how far it has come, and ends when it is cancelled."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from hocket import _core
from hocket.network import read_network
from hocket.network.parts import Defaults

PATIENCE = 120.0  # seconds before a test gives up
NETWORK = read_network("torus:4x4", Defaults())
DEMAND = _core.Demand(NETWORK.ranks, 1000)
SCHEDULE = _core.plan_exchange(NETWORK, DEMAND).schedule
WAITS = _core.Waits.derive(NETWORK, SCHEDULE)
FREE = _core.ModelParameters()


def dense(ranks: int) -> _core.Demand:
    pairs = [(src, dst) for src in range(ranks) for dst in range(ranks) if src != dst]
    sizes = [1000 + 7919 * i % 99_991 for i in range(len(pairs))]
    return _core.Demand.irregular(ranks, [s for s, _ in pairs], [d for _, d in pairs], sizes)


def make(name: str, pattern: str = "irregular") -> object:
    demand = dense(NETWORK.ranks) if pattern == "irregular" else _core.Demand(NETWORK.ranks, 1000, pattern)
    return _core.Algorithm.find(name, pattern).make(NETWORK, demand)


WORK: dict[str, Callable[[], object]] = {
    "waits": lambda: _core.Waits.derive(NETWORK, SCHEDULE),
    "verify": lambda: _core.verify(NETWORK, DEMAND, SCHEDULE),
    "verify waits": lambda: _core.verify_waits(
        NETWORK, SCHEDULE, WAITS, _core.verify(NETWORK, DEMAND, SCHEDULE)
    ),
    "simulate": lambda: _core.simulate(NETWORK, SCHEDULE, WAITS, "token", FREE),
    "list": lambda: make("list"),
    "critical": lambda: make("critical"),
}


@pytest.fixture
def progress() -> Iterator[_core.Progress]:
    """That of the test's own thread."""
    attached = _core.Progress()
    attached.attach()
    yield attached
    _core.Progress.detach()


@pytest.mark.parametrize("name", WORK)
def test_cancelled_work_ends(name: str, progress: _core.Progress) -> None:
    WORK[name]()
    assert progress.step is None and not progress.cancelled
    progress.cancel()
    with pytest.raises(_core.Cancelled):
        WORK[name]()
    assert progress.step is None
    _core.Progress.detach()
    WORK[name]()


def test_check_cancelled(progress: _core.Progress) -> None:
    _core.Progress.check()
    progress.cancel()
    with pytest.raises(_core.Cancelled):
        _core.Progress.check()
    _core.Progress.detach()
    _core.Progress.check()


def test_another_thread_sees_how_far_and_ends_it() -> None:
    """A simulation that would take hours."""
    network = read_network("torus:8x3x8", Defaults())
    demand = dense(network.ranks)
    schedule = _core.Algorithm.find("AC", "irregular").make(network, demand)
    progress, ended = _core.Progress(), []

    def simulate() -> None:
        progress.attach()
        try:
            _core.simulate(network, schedule, None, "token", FREE)
        except _core.Cancelled:
            ended.append("cancelled")

    thread = threading.Thread(target=simulate, daemon=True)
    thread.start()
    seen, end = [], time.monotonic() + PATIENCE
    while len(set(seen)) < 3 and time.monotonic() < end and thread.is_alive():
        if progress.step == "simulating":
            seen.append(progress.fraction)
    progress.cancel()
    thread.join(PATIENCE)
    assert ended == ["cancelled"]
    assert seen == sorted(seen) and 0 <= seen[0] < seen[-1] < 1
