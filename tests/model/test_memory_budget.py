"""Measuring within a budget, by a clock of our own: no test waits."""

from __future__ import annotations

import pytest

from hocket.measure.memory_sizes import MIB, Budget, Figure, Shape, in_turn, measured, repeats, shapes

FIGURES = in_turn(shapes(32 * MIB, 2, quick=True))


class Machine:
    """Each call of a kernel takes so long; the clock stands still otherwise."""

    def __init__(self, call: float) -> None:
        self.call = call
        self.now = 1000.0
        self.calls: list[int] = []  # per figure

    def seconds(self, shape: Shape, share: float) -> float:
        calls = 1 + repeats(self.call, share)
        self.calls.append(calls)
        self.now += calls * self.call
        return self.call

    def figures(self, budget: float) -> list[Figure]:
        heard: list[tuple[int, str]] = []
        clock = Budget(budget, lambda mine: mine, lambda: self.now)
        done = measured(FIGURES, 2, self.seconds, clock, lambda at, work: heard.append((at, work)))
        once = len(done.figures)
        assert heard[:once] == [(i, shape.work) for i, shape in enumerate(FIGURES[:once])]
        assert all(at == once for at, _ in heard[once:])
        return done.figures


def test_a_fast_machine_measures_all_with_all_repeats() -> None:
    machine = Machine(0.001)
    assert len(machine.figures(30.0)) == len(FIGURES)
    assert set(machine.calls) == {16}
    assert machine.now - 1000 < 30


@pytest.mark.parametrize("call", [0.1, 0.5, 2.0, 29.0, 1000.0])
def test_a_slow_machine_keeps_the_budget_but_for_one_call(call: float) -> None:
    machine = Machine(call)
    figures = machine.figures(30.0)
    assert 0 < len(figures) <= len(FIGURES)
    assert machine.now - 1000 <= 30 + call
    if len(figures) < len(FIGURES):  # left out only where the time is over
        assert machine.now - 1000 >= 30


def test_repeats_are_cut_before_figures_are_left_out() -> None:
    machine = Machine(25.0 / len(FIGURES))
    assert len(machine.figures(30.0)) == len(FIGURES)
    assert set(machine.calls) <= {1, 2, 3, 4}
    assert machine.calls[0] == 1


def test_every_work_has_a_figure_before_any_has_two() -> None:
    works = {shape.work for shape in FIGURES}
    assert {shape.work for shape in FIGURES[: len(works)]} == works
    assert sorted(map(repr, FIGURES)) == sorted(map(repr, shapes(32 * MIB, 2, quick=True)))


def test_rank_0_decides() -> None:
    """Another rank's clock says that the time is over; it goes on with the others."""
    late = Budget(10.0, lambda mine: 4.0, iter([0.0, 99.0]).__next__)
    assert late.left() == 4.0


@pytest.mark.parametrize(
    ("first", "share", "expected"),
    [
        (0.0, 1.0, 15),
        (1e-4, 1.0, 15),
        (0.004, 1.0, 8),
        (0.1, 1.0, 3),
        (0.1, 0.25, 1),
        (0.1, 0.1, 0),
        (5.0, -1.0, 0),
    ],
)
def test_repeats(first: float, share: float, expected: int) -> None:
    assert repeats(first, share) == expected
