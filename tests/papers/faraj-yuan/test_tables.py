"""The worked example of Faraj and Yuan, table 4, for the cluster of their figure 1; the README's tables."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hocket import _core
from hocket.network import read_network
from strategies import figure1

sys.path.insert(0, str(Path(__file__).parents[3] / "papers" / "faraj-yuan"))
import faraj_yuan

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


@pytest.fixture(scope="module")
def cells() -> list[list[str]]:
    return faraj_yuan.table4()


def test_there_are_nine_phases_and_thirty_messages(cells: list[list[str]]) -> None:
    assert len(cells) == 9
    assert sum(cell != "" for row in cells for cell in row) == 30


@pytest.mark.parametrize("phase", range(9))
@pytest.mark.parametrize("place", range(6))
def test_cell(cells: list[list[str]], phase: int, place: int) -> None:
    assert cells[phase][place] == TABLE_4[phase][place]


def test_closed_form_gives_the_same_phases() -> None:
    for network in (figure1().build(), read_network(str(faraj_yuan.ROOT / "examples/networks/figure1.toml"))):
        phases = _core.TreePhases(network)
        assert (phases.phases, phases.branches) == (9, 3)
        for phase, row in enumerate(TABLE_4):
            for cell in filter(None, row):
                src, dst = map(int, cell.split("-"))
                assert phases.phase(network, src, dst) == phase


def test_the_readme_has_both_tables(capsys: pytest.CaptureFixture[str]) -> None:
    faraj_yuan.main()
    page = Path(faraj_yuan.__file__).with_name("README.md").read_text()
    for table in capsys.readouterr().out.strip().split("\n\n"):
        assert table in page
