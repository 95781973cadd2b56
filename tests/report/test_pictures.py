"""Pictures: written, not empty, the same each time, honest about what they leave out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hocket import _core
from hocket.errors import UsageError
from hocket.network import read_network
from hocket.report import gantt, utilisation
from hocket.report.channels import Group, choose, utilisation_of
from hocket.report.gantt import assign_lanes


def simulated(
    form: str, scheduler: str = "tree", flow: str = "token"
) -> tuple[_core.Simulation, _core.Schedule, _core.Network]:
    network = read_network(f"{form}@1Gbit,1us")
    schedule = _core.find_scheduler(scheduler).make(network, _core.Demand(network.ranks, 65536))
    return _core.simulate(network, schedule, None, flow), schedule, network


@pytest.mark.parametrize(
    ("form", "scheduler", "flow"),
    [
        ("tree:((3),3,(2))", "tree", "token"),
        ("chain:8,8", "linear", "free"),
        ("torus:4x4", "packing", "barrier"),
        ("star:2", "tree", "token"),
        ("star:1", "tree", "token"),
        ("star:2*2", "tree", "token"),
        ("tree:4x16", "tree", "token"),
    ],
)
@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_pictures_of_all_kinds(form: str, scheduler: str, flow: str, suffix: str, tmp_path: Path) -> None:
    simulation, schedule, network = simulated(form, scheduler, flow)
    magic = {".svg": b"<?xml", ".png": b"\x89PNG"}[suffix]
    for path in (
        gantt(simulation, schedule, network, tmp_path / f"g{suffix}"),
        utilisation(simulation, network, tmp_path / f"u{suffix}"),
    ):
        content = path.read_bytes()
        assert content.startswith(magic) and len(content) > 2000


def test_the_same_simulation_gives_the_same_file(tmp_path: Path) -> None:
    simulation, schedule, network = simulated("chain:3,3")
    first = gantt(simulation, schedule, network, tmp_path / "a.svg").read_bytes()
    assert gantt(simulation, schedule, network, tmp_path / "b.svg").read_bytes() == first


def test_an_unknown_format_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    simulation, schedule, network = simulated("star:3")
    with pytest.raises(UsageError, match=r"\.svg"):
        gantt(simulation, schedule, network, tmp_path / "picture.doc")
    assert not list(tmp_path.iterdir())


def test_channels_between_switches_come_first_and_the_rest_is_counted() -> None:
    simulation, _, network = simulated("chain:8,8,8")
    choice = choose(simulation, network, 10)
    assert choice.groups == [Group.TRUNK] * 4 + [Group.UP] * 3 + [Group.DOWN] * 3
    assert choice.left_out == network.channels - 10
    assert f"{choice.left_out} of {network.channels}" in choice.note()
    assert choose(simulation, network, 1000).left_out == 0
    busiest = max(utilisation_of(simulation, network, c) for c in range(network.channels))
    assert utilisation_of(simulation, network, choice.channels[0]) == pytest.approx(busiest)
    assert 0.9 < busiest <= 1


def test_lanes_keep_bars_apart() -> None:
    start, end = np.array([0.0, 1.0, 2.0, 2.0]), np.array([2.0, 3.0, 4.0, 3.0])
    lane, lanes = assign_lanes(start, end)
    assert lanes == 3
    assert lane[0] == lane[2]  # one ends where the other begins
    for i in range(4):
        for j in range(i):
            if lane[i] == lane[j]:
                assert end[j] <= start[i]
