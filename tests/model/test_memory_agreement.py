"""Figures that are measured while other programs run, by timings of our own: no test waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from hocket.measure.memory_sizes import (
    KIB,
    MIB,
    Budget,
    Figure,
    Measured,
    Shape,
    agree,
    in_turn,
    measured,
    shapes,
    slower,
    standing_out,
    was_busy,
)

FIGURES = in_turn(shapes(256 * MIB, 2, quick=False))


def true_cost(shape: Shape) -> float:
    """Smooth in all that it depends on."""
    return 1e-9 * shape.width**0.5 * max(shape.parts, 1) ** 0.1 * shape.bytes**0.1


class BusyMachine:
    """A figure takes a tenth of a second to measure; ``load(now)`` is how many times as long it seems to take."""

    def __init__(self, load: Callable[[float], float]) -> None:
        self.load = load
        self.now = 0.0
        self.calls: Counter[Shape] = Counter()

    def seconds(self, shape: Shape, share: float) -> float:
        self.now += 0.1
        self.calls[shape] += 1
        return true_cost(shape) * self.load(self.now)

    def measured(self, budget: float = 300.0) -> Measured:
        clock = Budget(budget, lambda mine: mine, lambda: self.now)
        return measured(FIGURES, 2, self.seconds, clock, lambda at, work: None)

    def wrong(self, done: Measured) -> list[Figure]:
        of = {(s.work, s.width, s.parts, s.bytes): true_cost(s) for s in FIGURES}
        return [figure for figure in done.figures if figure[5] > 1.5 * of[figure[0], *figure[2:5]]]


def test_an_idle_machine_measures_each_figure_twice() -> None:
    machine = BusyMachine(lambda now: 1.0)
    done = machine.measured()
    assert len(done.figures) == len(FIGURES) and done.differing == 0
    assert set(machine.calls.values()) == {2}


@pytest.mark.parametrize("busy", [2.0, 10.0])
def test_what_other_programs_took_in_the_first_seconds_is_forgotten(busy: float) -> None:
    machine = BusyMachine(lambda now: 7.0 if now < busy else 1.0)
    done = machine.measured()
    assert not machine.wrong(done) and done.differing == 0
    assert set(machine.calls.values()) == {2, 3}


def test_bursts_all_the_time() -> None:
    random = np.random.default_rng(3)
    machine = BusyMachine(lambda now: 1 + 8 * random.random() * (random.random() < 0.3))
    done = machine.measured()
    assert len(machine.wrong(done)) <= 0.02 * len(FIGURES)  # measured once: 30 %
    assert not was_busy(done.differing, len(done.figures))


def test_a_machine_that_is_never_idle_is_noticed() -> None:
    random = np.random.default_rng(4)
    machine = BusyMachine(lambda now: 1 + 50 * random.random())
    done = machine.measured()
    assert was_busy(done.differing, len(done.figures))


def test_no_time_for_a_second_measurement_is_noticed() -> None:
    machine = BusyMachine(lambda now: 1.0)
    done = machine.measured(0.1 * len(FIGURES))
    assert len(done.figures) == len(FIGURES) and was_busy(done.differing, len(FIGURES))


def test_twice_the_same_wrong_figure_is_contradicted_by_its_neighbours() -> None:
    """partition into 2,048 buckets at 9.5 ns, between 1.2 and 1.5 of 256 and 4,096."""
    wrong = next(
        s for s in FIGURES if (s.work, s.width, s.parts, s.bytes) == ("partition", 4, 2048, 64 * MIB)
    )

    class Machine(BusyMachine):
        def seconds(self, shape: Shape, share: float) -> float:
            seconds = super().seconds(shape, share)
            return 7 * seconds if shape == wrong and self.calls[shape] < 3 else seconds

    machine = Machine(lambda now: 1.0)
    done = machine.measured()
    assert not machine.wrong(done)
    assert machine.calls[wrong] > 2
    assert sum(machine.calls.values()) <= 2 * len(FIGURES) + 8  # and hardly any other


def test_a_figure_stands_out_only_between_neighbours() -> None:
    low, middle, high = (Shape("partition", 4, parts, MIB) for parts in (256, 2048, 4096))
    assert standing_out({low: 1.2, middle: 9.5, high: 1.5}) == {middle}
    assert standing_out({high: 1.5, middle: 0.5, low: 1.2}) == {middle}
    assert not standing_out({low: 1.2, middle: 2.9, high: 1.5})
    assert not standing_out({low: 9.5, middle: 1.2, high: 1.5})
    caches_end = {
        Shape("gather", 8, 1, size): s for size, s in ((256 * KIB, 1.0), (4 * MIB, 9.0), (32 * MIB, 20.0))
    }
    assert not standing_out(caches_end)


def test_agreement() -> None:
    assert not agree([1.0])
    assert agree([9.0, 1.0, 1.1])
    assert not agree([1.0, 9.0, 9.0])


def test_sorts_that_a_profile_makes_slower() -> None:
    times = {
        "uint32 zipf": ([0.21, 0.20, 0.90], [0.10, 0.10, 0.40]),
        "uint32 uniform": ([0.10, 0.50, 0.10], [0.10, 0.10, 0.10]),
        "uint64 uniform": ([0.05, 0.05, 0.05], [0.10, 0.10, 0.10]),
    }
    assert slower(times) == {"uint32 zipf": pytest.approx(2.1)}
