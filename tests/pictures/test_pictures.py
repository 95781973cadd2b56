"""Pictures: written, not empty, the same each time, every channel in a row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hocket import _core
from hocket.errors import UsageError
from hocket.network import read_network
from hocket.pictures import gantt
from hocket.pictures.busy import Loads, busy_shares, draw_loads
from hocket.pictures.channels import Group, bands, counts, label, share_out
from hocket.pictures.gantt import assign_lanes


def simulated(
    form: str, algorithm: str = "tree", flow: str = "token"
) -> tuple[_core.Simulation, _core.Schedule, _core.Network]:
    network = read_network(f"{form}@1Gbit,1us")
    schedule = _core.Algorithm.find(algorithm).make(network, _core.Demand(network.ranks, 65536))
    return _core.simulate(network, schedule, None, flow), schedule, network


def loads_of(simulation: _core.Simulation, network: _core.Network) -> Loads:
    return Loads.of(network, simulation.channel_bytes, "an exchange")


@pytest.mark.parametrize(
    ("form", "algorithm", "flow", "suffix"),
    [
        ("tree:((3),3,(2))", "tree", "token", ".svg"),
        ("tree:((3),3,(2))", "tree", "token", ".png"),
        ("chain:8,8", "linear", "free", ".svg"),
        ("torus:4x4", "packing", "barrier", ".png"),
        ("star:2", "tree", "token", ".svg"),
        ("star:1", "tree", "token", ".svg"),
        ("star:1", "tree", "token", ".png"),
        ("star:2*2", "tree", "token", ".png"),
        ("tree:4x16", "tree", "token", ".svg"),
    ],
)
def test_pictures_of_all_kinds(form: str, algorithm: str, flow: str, suffix: str, tmp_path: Path) -> None:
    simulation, schedule, network = simulated(form, algorithm, flow)
    magic = {".svg": b"<?xml", ".png": b"\x89PNG"}[suffix]
    for path in (
        gantt(simulation, schedule, network, tmp_path / f"g{suffix}"),
        draw_loads(network, loads_of(simulation, network), tmp_path / f"u{suffix}"),
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


@pytest.mark.parametrize("most", [1, 5, 10, 36, 1000])
@pytest.mark.parametrize(
    "form", ["chain:8,8,8", "tree:4x16", "tree:2x3x4", "torus:8x4", "hypercube:4", "star:3"]
)
def test_every_channel_is_in_one_row(form: str, most: int) -> None:
    simulation, _, network = simulated(form, "linear")
    rows = share_out(network, simulation.channel_busy, most)
    assert sorted(c for row in rows for c in row.channels) == list(range(network.channels))
    assert len(rows) <= max(most, len(bands(network)))
    assert all(row.channels and set(row.channels) <= set(row.band.channels) for row in rows)
    for band in bands(network):
        sizes = [len(row.channels) for row in rows if row.band == band]
        assert max(sizes) - min(sizes) <= 1
    if most >= network.channels:
        assert all(len(row.channels) == 1 for row in rows)


def test_few_channels_between_switches_keep_a_row_each() -> None:
    simulation, _, network = simulated("chain:8,8,8")
    rows = share_out(network, simulation.channel_busy, 10)
    assert [row.band.group for row in rows] == [Group.SWITCH_LINK] * 3 + [Group.UP] * 3 + [Group.DOWN] * 4
    rows = share_out(network, simulation.channel_busy, 20)
    assert [len(row.channels) for row in rows if row.band.group is Group.SWITCH_LINK] == [1] * 4
    assert counts(rows) == f"{network.channels} channels in 20 rows"
    shared = next(row for row in rows if row.band.group is Group.UP)
    assert len(shared.channels) == 3 and label(network, shared).endswith(" +2 more")


@pytest.mark.parametrize("flow", ["token", "barrier", "free"])
@pytest.mark.parametrize("form", ["chain:4,4", "tree:2x4", "torus:4x4"])
def test_shares_over_time_add_up_to_the_time_busy(form: str, flow: str) -> None:
    simulation, schedule, network = simulated(form, "linear", flow)
    shares = busy_shares(simulation, schedule, network, range(network.channels), 37)
    assert shares.shape == (network.channels, 37) and shares.min() >= 0 and shares.max() <= 1
    assert shares.mean(axis=1) * simulation.seconds == pytest.approx(np.asarray(simulation.channel_busy))


def test_pictures_say_how_many_channels_share_rows(tmp_path: Path) -> None:
    simulation, schedule, network = simulated("tree:3x8")
    total = f"{network.channels} channels in 36 rows"
    text = gantt(simulation, schedule, network, tmp_path / "g.svg").read_text()
    assert (
        total in text
        and "<!-- busy (%) -->" in text
        and "<!-- idle -->" in text
        and "from hosts (24)" in text
    )
    assert text.count(" more -->") == sum(
        len(row.channels) > 1 for row in share_out(network, simulation.channel_busy, 36)
    )
    assert (
        total
        in draw_loads(network, loads_of(simulation, network), tmp_path / "u.svg", max_rows=36).read_text()
    )
    all_alone = gantt(simulation, schedule, network, tmp_path / "a.svg", max_rows=1000).read_text()
    assert f"{network.channels} channels in {network.channels} rows" in all_alone
    assert "<!-- busy (%) -->" not in all_alone and " more -->" not in all_alone


def test_lanes_keep_bars_apart() -> None:
    start, end = np.array([0.0, 1.0, 2.0, 2.0]), np.array([2.0, 3.0, 4.0, 3.0])
    lane, lanes = assign_lanes(start, end)
    assert lanes == 3
    assert lane[0] == lane[2]  # one ends where the other begins
    for i in range(4):
        for j in range(i):
            if lane[i] == lane[j]:
                assert end[j] <= start[i]
