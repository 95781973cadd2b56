"""The worked example of the paper: Faraj and Yuan, table 4, for the cluster of their figure 1."""

from __future__ import annotations

import pytest

from hocket import _core
from strategies import figure1

# Per phase: t0 -> {t1, t2}, t1 -> {t2, t0}, t2 -> {t0, t1}; then the local messages of t0, t1, t2.
# t0 = n0 n1 n2, t1 = n3 n4, t2 = n5.
TABLE_4 = [
    ["0-4", "3-5", "5-1", "1-0", "", ""],
    ["1-3", "4-5", "5-2", "2-1", "", ""],
    ["2-4", "", "5-0", "0-2", "", ""],
    ["0-3", "3-2", "", "2-0", "", ""],
    ["1-4", "3-0", "", "0-1", "4-3", ""],
    ["2-3", "3-1", "", "1-2", "", ""],
    ["0-5", "4-0", "", "", "", ""],
    ["1-5", "4-1", "5-3", "", "3-4", ""],
    ["2-5", "4-2", "5-4", "", "", ""],
]
BRANCH = [0, 0, 0, 1, 1, 2]


def column(src: int, dst: int) -> int:
    return BRANCH[src] + (3 if BRANCH[src] == BRANCH[dst] else 0)


@pytest.fixture(scope="module")
def cells() -> list[list[str]]:
    """The schedule, laid out as the paper does."""
    network = figure1().build()
    schedule = _core.find_scheduler("tree").make(network, _core.Demand(6, 1))
    table = [[""] * 6 for _ in range(schedule.phases)]
    for phase, src, dst, *_ in schedule.rows():
        assert table[phase][column(src, dst)] == "", "two messages in one cell"
        table[phase][column(src, dst)] = f"{src}-{dst}"
    return table


def test_there_are_nine_phases_and_thirty_messages(cells: list[list[str]]) -> None:
    assert len(cells) == 9
    assert sum(cell != "" for row in cells for cell in row) == 30


@pytest.mark.parametrize("phase", range(9))
@pytest.mark.parametrize("place", range(6))
def test_cell(cells: list[list[str]], phase: int, place: int) -> None:
    assert cells[phase][place] == TABLE_4[phase][place]


def test_closed_form_gives_the_same_phases() -> None:
    network = figure1().build()
    phases = _core.TreePhases(network)
    assert (phases.phases, phases.branches) == (9, 3)
    for phase, row in enumerate(TABLE_4):
        for cell in filter(None, row):
            src, dst = map(int, cell.split("-"))
            assert phases.phase(network, src, dst) == phase
