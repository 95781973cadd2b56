"""docs/torus.md says what the schedulers do."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hocket import _core

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "torus"))
from pictures import congestion_free, torus

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "torus.md").read_text()
SIDES = [8, 4, 8, 2]


def made(name: str, network: _core.Network) -> _core.Schedule:
    if name == "congestion-free":
        return congestion_free(SIDES)
    return _core.find_scheduler(name).make(network, _core.Demand(network.ranks, 16384))


@pytest.mark.parametrize("name", ["ring", "pairwise", "shift", "paired-shift", "congestion-free"])
def test_the_table_of_links(name: str) -> None:
    cells = [name]
    for balanced in (False, True):
        network = torus(SIDES, balanced)
        schedule = made(name, network)
        worst = _core.channel_use(network, schedule).max(axis=1)
        if not balanced:
            cells.append(str(schedule.phases))
        cells += [str(worst.max()), str(worst.sum())]
    assert "| " + " | ".join(cells) + " |" in PAGE.splitlines()


def test_the_bounds_and_heaven() -> None:
    demand = _core.Demand(512, 16384)
    bounds = [_core.lower_bounds(torus(SIDES, balanced), demand).phases for balanced in (False, True)]
    assert "The bound is {} with ties up and {} with balanced ties".format(*bounds) in PAGE
    assert _core.verify(torus(SIDES, True), demand, congestion_free(SIDES)).ok


@pytest.mark.parametrize("name", ["torus-heat.png", "torus-throughput.png"])
def test_pictures_are_there(name: str) -> None:
    assert f"(pictures/{name})" in PAGE
    assert (ROOT / "docs" / "pictures" / name).read_bytes().startswith(b"\x89PNG")
