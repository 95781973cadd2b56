"""The talk's all-to-alls on a smaller T3D: the same parameters, the same order of rows."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from hocket import _core

sys.path.insert(0, str(Path(__file__).parents[3] / "papers" / "stricker-hardwick"))
from t3d import (
    PATTERNS,
    STAGES,
    Machine,
    even_ring,
    exchanges,
    flat_load,
    percent_of_limit,
    phase_throughputs,
    route_throughputs,
    schedule_of,
    simulate_stage,
    tied_ring,
)

SMALL = Machine(sides=(8, 8))


def loads(machine: Machine, pattern: str, balanced: bool) -> np.ndarray:
    """Messages per phase and channel."""
    network = machine.network(balanced)
    schedule = schedule_of(machine, pattern)
    loads = np.zeros((schedule.phases, network.channels), dtype=int)
    for phase, src, dst, *_ in schedule.rows():
        loads[phase, network.route(src, dst)] += 1
    return loads


@pytest.mark.parametrize("pattern", [*PATTERNS, "own order"])
@pytest.mark.parametrize("sides", [(8, 8), (4, 4), (8, 4), (8,)], ids=str)
def test_every_pattern_is_an_all_to_all(pattern: str, sides: tuple[int, ...]) -> None:
    machine = Machine(sides=sides, block=8)
    schedule = schedule_of(machine, pattern)
    demand = _core.Demand(machine.ranks, 8)
    certificate = _core.verify(machine.network(True), demand, schedule, _core.PortModel.all_port)
    assert certificate.complete
    if pattern != "own order":
        assert schedule.phases == machine.ranks
        one_port = _core.verify(machine.network(True), demand, schedule)
        assert not any("port" in kind for kind in one_port.counts)


def test_loads_are_what_the_rows_are_about() -> None:
    # Two messages are two processors' on a link of twice the speed: one unit of time.
    assert (loads(SMALL, "even", True) == 2).all()
    assert loads(SMALL, "same shifts", False).max(axis=1).mean() == pytest.approx(2 * 172 / 64)
    assert loads(SMALL, "exchanges", False).max(axis=1).mean() == pytest.approx(2 * 1.375)
    assert loads(SMALL, "tied", False).max(axis=1).mean() == pytest.approx(2 * 1.25)


def test_the_ring_with_ties_up_is_loaded_evenly() -> None:
    network = _core.Network.grid("torus", [8], 1e6, 0.0, [], 1, ["++++++++"])
    worst = []
    for ring in tied_ring(8):
        load = [0] * network.channels
        for src, dst in enumerate(ring):
            for channel in network.route(src, dst):
                load[channel] += 1
        worst.append(max(load))
    assert worst == [1, 1, 1, 1, 1, 1, 2, 2]


def test_the_rows_come_in_the_talks_order() -> None:
    percents: list[float] = []
    for stage in STAGES:
        schedule, result = simulate_stage(stage, SMALL)
        percents.append(percent_of_limit(SMALL, result))
        routes = route_throughputs(SMALL, schedule, result)
        assert len(routes) == SMALL.ranks * (SMALL.ranks - 2)  # two at the switch
        assert routes.max() <= SMALL.injection_rate
        if stage.flow == "barrier":
            assert len(phase_throughputs(SMALL, result)) == SMALL.ranks
    assert percents == sorted(percents) and len(set(percents)) == len(percents)
    assert percents[0] < 50 < percents[1] and percents[2] < 68 < percents[3] < 80


def test_loads_in_the_other_reading() -> None:
    assert flat_load(exchanges, False, (8, 4, 2)) == 2
    assert flat_load(even_ring, True, (8, 4, 2)) == 1
