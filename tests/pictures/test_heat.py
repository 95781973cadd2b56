"""The heat map of pattern × router: its rows, its shrinking, and a picture."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from hocket import _core
from hocket.errors import UsageError
from hocket.network import read_network
from hocket.pictures import heat, heats
from hocket.pictures.channels import bands
from hocket.pictures.heat import Panel, mean_of_blocks, use_of, worst_of_rows
from strategies import one_host


@pytest.mark.parametrize(
    ("form", "names"),
    [
        ("torus:4x3", ["dimension 1 up", "dimension 1 down", "dimension 2 up", "dimension 2 down"]),
        ("mesh:3x2", ["dimension 1 up", "dimension 1 down", "dimension 2 up", "dimension 2 down"]),
        ("hypercube:2", ["dimension 1 up", "dimension 1 down", "dimension 2 up", "dimension 2 down"]),
        ("chain:2,2", ["between switches", "from hosts", "to hosts"]),
        ("tree:2x2", ["switch level 1 → 2", "switch level 2 → 1", "from hosts", "to hosts"]),
    ],
)
def test_every_channel_is_in_one_band(form: str, names: list[str]) -> None:
    network = read_network(form)
    found = bands(network)
    assert [band.name for band in found] == names
    channels = [channel for band in found for channel in band.channels]
    assert sorted(channels) == list(range(network.channels))


def test_a_band_goes_along_the_lines_of_its_dimension() -> None:
    network = _core.Network.grid("torus", [3, 4], 1e6, 0.0)
    up, down = bands(network)[:2]
    ends = [network.channel_name(channel) for channel in up.channels]
    assert ends[:4] == ["h0-0->h1-0", "h1-0->h2-0", "h2-0->h0-0", "h0-1->h1-1"]
    assert network.channel_name(down.channels[0]) == "h1-0->h0-0"


def test_a_shift_heats_one_direction() -> None:
    network = _core.Network.grid("torus", [8], 1e6, 0.0, ties=["++++++++"])
    schedule = _core.Algorithm.find("shift").make(network, _core.Demand(8, 10))
    use = schedule.channel_use(network).T
    up, down = (use[band.channels] for band in bands(network))
    assert (up == [1, 2, 3, 4, 0, 0, 0]).all() and (down == [0, 0, 0, 0, 3, 2, 1]).all()


def test_a_hot_spot_survives_shrinking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted all at once or few phases at a time."""
    network = _core.Network.grid("torus", [8, 4], 1e6, 0.0)
    hot = [(2000, 0, 1, 0, 1, offset, 1) for offset in range(7)]
    schedule = _core.Schedule.from_rows(32, 10, [(0, 5, 6, 5, 6, 0, 10), *hot])
    whole = use_of(Panel("", schedule, network))
    assert (whole.worst, whole.total) == (7, 8)
    assert [cell.shape for cell in whole.cells] == [(32, 1001)] * 4
    row, column = np.argwhere(whole.cells[2] == 7)[0]
    assert (
        whole.cells[2].sum() == 8
        and bands(network)[2].channels[row] in network.route(0, 1)
        and column == 1000
    )
    monkeypatch.setattr(sys.modules[Panel.__module__], "COUNTED_AT_ONCE", 1000)
    parts = use_of(Panel("", schedule, network))
    assert (parts.worst, parts.total) == (whole.worst, whole.total)
    assert all(map(np.array_equal, parts.cells, whole.cells))
    assert worst_of_rows(whole.cells[2], 10).shape == (8, 1001)


def test_a_schedule_may_be_longer_than_memory(tmp_path: Path) -> None:
    network = _core.Network.grid("torus", [16, 16], 1e6, 0.0)
    schedule = _core.Schedule.from_rows(256, 10, [(140_000, 0, 1, 0, 1, 0, 10)])
    with pytest.raises(_core.InputError, match="too many to count"):
        schedule.channel_use(network)
    text = heat(schedule, network, tmp_path / "a.svg").read_text()
    assert "140,001 phases on 1,024 channels; worst use of a channel 1, 1 in sum" in text


def test_channels_that_share_a_line_show_their_mean() -> None:
    cells = np.array([[1.0, 0.0], [0.0, 0.0], [0.5, 1.0]])
    assert (mean_of_blocks(cells, 2) == [[0.5, 0.0], [0.5, 1.0]]).all()
    assert (mean_of_blocks(cells, 3) == cells).all()


@pytest.mark.parametrize("form", ["torus:4x4", "tree:2x4", "chain:3,3"])
def test_without_contention_the_colour_is_the_time_busy(form: str, tmp_path: Path) -> None:
    network = read_network(f"{form}@1Gbit,1us")
    name = "product" if form.startswith("torus") else "tree"
    schedule = _core.Algorithm.find(name).make(network, _core.Demand(network.ranks, 65536))
    assert schedule.channel_use(network).max() == 1
    simulation = _core.simulate(network, schedule, None, "token")
    text = heat(schedule, network, tmp_path / "a.svg", name=name, simulation=simulation).read_text()
    for words in ("busy (%)", "idle", "100 %", f"Time that each channel is busy, by '{name}'"):
        assert f"<!-- {words.replace(chr(39), '&apos;')} -->" in text or f"<!-- {words} -->" in text, words
    assert "colour: share of time" in text and f"{network.channels} channels" in text
    assert "<!-- messages -->" not in text


def test_with_contention_the_colour_is_the_messages(tmp_path: Path) -> None:
    network = read_network("torus:8@1Gbit,1us")
    schedule = _core.Algorithm.find("shift").make(network, _core.Demand(8, 1000))
    simulation = _core.simulate(network, schedule, None, "free")
    text = heat(schedule, network, tmp_path / "a.svg", title="T", simulation=simulation).read_text()
    assert "<!-- messages -->" in text and "<!-- Messages on each channel: T -->" in text
    assert "<!-- busy (%) -->" not in text


@pytest.mark.parametrize("form", ["torus:8x4", "torus:2", "mesh:5", "hypercube:3", "chain:4,4", "star:20"])
@pytest.mark.parametrize("name", ["ring", "linear"])
def test_pictures(form: str, name: str, tmp_path: Path) -> None:
    network = read_network(form)
    schedule = _core.Algorithm.find(name).make(network, _core.Demand(network.ranks, 10))
    path = heat(schedule, network, tmp_path / "a.png", name=name)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert heat(schedule, network, tmp_path / "b.png", name=name).read_bytes() == path.read_bytes()


def panel(form: str) -> Panel:
    network = read_network(form)
    return Panel(form, _core.Algorithm.find("shift").make(network, _core.Demand(network.ranks, 10)), network)


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_panels_side_by_side_show_their_names(suffix: str, tmp_path: Path) -> None:
    panels = [panel("torus:8x4/up"), panel("torus:8x4"), panel("torus:8x4/parity")]
    content = heats(panels, tmp_path / f"a{suffix}", title="three").read_bytes()
    assert content.startswith({".svg": b"<?xml", ".png": b"\x89PNG"}[suffix])
    if suffix == ".svg":
        text = content.decode()
        assert all(f"<!-- {name} -->" in text for name in ("torus:8x4/up", "torus:8x4/parity", "three"))


def test_panels_need_the_same_channels(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="different channels"):
        heats([panel("torus:8x4"), panel("torus:4x8")], tmp_path / "a.png", title="")
    with pytest.raises(UsageError, match="no schedule"):
        heats([], tmp_path / "a.png", title="")


def test_bad_input_is_one_clear_message(tmp_path: Path) -> None:
    network = read_network("torus:4")
    schedule = _core.Algorithm.find("shift").make(network, _core.Demand(4, 10))
    with pytest.raises(UsageError, match=r"\.svg"):
        heat(schedule, network, tmp_path / "a.doc")
    memory = one_host(3)
    inside = _core.Algorithm.find("ring").make(memory, _core.Demand(3, 10))
    with pytest.raises(UsageError, match="no message crosses a link"):
        heat(inside, memory, tmp_path / "a.png")
    assert not list(tmp_path.iterdir())
