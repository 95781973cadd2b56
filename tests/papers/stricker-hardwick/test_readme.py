"""The README says what the algorithms do and what the results say."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hocket import _core

sys.path.insert(0, str(Path(__file__).parents[3] / "bench"))
sys.path.insert(0, str(Path(__file__).parents[3] / "papers" / "stricker-hardwick"))
from pictures import made, torus
from results_file import ROOT, read

FOLDER = ROOT / "papers" / "stricker-hardwick"
RESULTS = FOLDER / "results"
PAGE = (FOLDER / "README.md").read_text()
LINES = PAGE.splitlines()


@pytest.mark.parametrize("name", ["ring", "pairwise", "shift", "paired-shift"])
def test_the_table_of_links(name: str) -> None:
    cells = [name]
    for ties in ("up", "parity"):
        network = torus(ties)
        schedule = made(name, network)
        worst = schedule.channel_use(network).max(axis=1)
        if ties == "up":
            cells.append(str(schedule.phases))
        cells += [str(worst.max()), str(worst.sum())]
    assert "| " + " | ".join(cells) + " |" in LINES


@pytest.mark.parametrize(("name", "ties"), [("product for ties up", "up"), ("product for parity", "parity")])
def test_product_in_the_table_of_links(name: str, ties: str) -> None:
    schedule = made("product", torus(ties))
    cells = [name, str(schedule.phases)]
    for router in ("up", "parity"):
        worst = schedule.channel_use(torus(router)).max(axis=1)
        cells += [str(worst.max()), str(worst.sum())]
    assert "| " + " | ".join(cells) + " |" in LINES


def test_the_bounds_and_heaven() -> None:
    demand = _core.Demand(512, 16384)
    bounds = [_core.lower_bounds(torus(ties), demand).phases for ties in ("up", "parity")]
    assert "The bound is {} with ties up and {} with ties by parity".format(*bounds) in PAGE
    for ties in ("up", "parity"):
        network = torus(ties)
        assert _core.verify(network, demand, made("product", network)).ok


def test_the_talks_table_is_that_of_the_results() -> None:
    for row in read(RESULTS / "t3d-table.csv")[1]:
        if row["part"] != "talk":
            continue
        line = next(line for line in LINES if line.startswith(f"| {row['name']} | {row['talk_percent']:g} |"))
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells[2] == f"{row['percent']:.1f}"
        assert cells[3] == f"{row['bytes_per_second_per_node'] / 1e6:.1f}"


def test_the_flat_torus_is_that_of_the_results() -> None:
    for row in read(RESULTS / "t3d-stages.csv")[1][:6]:
        assert row["torus"] == "flat"
        cells = (row["algorithm"], row["flow"], row["ties"], f"{row['percent']:.1f}")
        assert any(line.startswith(f"| {' | '.join(cells)} |") for line in LINES), cells


@pytest.mark.parametrize("name", ["torus-heat.png", "torus-throughput.png"])
def test_pictures_are_there(name: str) -> None:
    assert f"(results/{name})" in PAGE
    assert (RESULTS / name).read_bytes().startswith(b"\x89PNG")
