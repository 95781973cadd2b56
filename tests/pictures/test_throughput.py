"""Histograms of throughput: the numbers under them are exact, and a picture comes out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from hocket import _core
from hocket.errors import UsageError
from hocket.pictures import draw_throughput, stage, throughput
from strategies import one_host

RATE = 75e6


@dataclass
class Timed:
    """Times of transfers as any model returns them."""

    posted: list[float]
    end: list[float]
    seconds: float


def ring(ties: str) -> _core.Network:
    return _core.Network.grid("torus", [8], RATE, 0.0, ties=[ties])


def shifted(ties: str, name: str = "shift") -> tuple[throughput.Stage, _core.Schedule]:
    network = ring(ties)
    schedule = _core.Algorithm.find(name).make(network, _core.Demand(8, 75_000))
    simulation = _core.simulate(network, schedule, None, "barrier")
    return stage("a", simulation, schedule, network), schedule


def test_a_shift_shares_each_link_among_as_many_as_it_is_long() -> None:
    found, _ = shifted("+" * 8)
    shares = [1, 2, 3, 4, 3, 2, 1]
    assert found.phases == pytest.approx([RATE / share for share in shares])
    assert sorted(found.routes) == pytest.approx(sorted(RATE / share for share in shares * 8))
    assert found.per_node == pytest.approx(7 * 75_000 / (sum(shares) * 1e-3))
    assert found.limit == RATE


def test_every_message_and_phase_is_counted_in_its_bin() -> None:
    found, _ = shifted("+" * 8)
    counts, edges = throughput.histogram(found.phases, found.limit)
    assert counts.sum() == 7 and len(counts) == throughput.BINS and edges[-1] == RATE
    # A half, a third and a quarter of a link fall inside bins, wherever rounding pushes them.
    at = {int(throughput.BINS / share): count for share, count in ((1, 2), (2, 2), (3, 2), (4, 1))}
    at[throughput.BINS - 1] = at.pop(throughput.BINS)  # full speed belongs to the last bin
    assert {int(i): int(counts[i]) for i in np.nonzero(counts)[0]} == at
    beyond, _ = throughput.histogram(np.array([RATE * (1 + 1e-12), 2 * RATE]), RATE)
    assert beyond[-1] == 2


def test_the_slowest_message_decides_a_phase_and_empty_phases_do_not_count() -> None:
    network = _core.Network.grid("torus", [3], RATE, 0.0)
    rows = [(0, 0, 1, 0, 1, 0, 60), (0, 1, 2, 1, 2, 0, 60), (2, 2, 0, 2, 0, 0, 30)]
    schedule = _core.Schedule.from_rows(3, 60, rows)
    found = stage("a", Timed([0, 1, 5], [2, 7, 6], 10.0), schedule, network, limit=50)
    assert list(found.routes) == [30, 10, 30]
    assert list(found.phases) == [10, 30]
    assert found.per_node == 150 / 3 / 10 and found.limit == 50


def test_a_message_takes_its_alpha_too_and_memory_is_no_route() -> None:
    network = _core.Network.grid("torus", [4], RATE, 0.0, ranks=2)
    schedule = _core.Algorithm.find("product").make(network, _core.Demand(8, 7500))
    found = _core.simulate(network, schedule, None, "barrier", _core.ModelParameters(alpha=1e-4))
    drawn = stage("a", found, schedule, network)
    assert len(drawn.routes) == 8 * 6  # one partner is on the same host
    assert drawn.phases == pytest.approx([7500 / 2e-4] * len(drawn.phases), rel=1e-3)


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_one_stage_and_three(suffix: str, tmp_path: Path) -> None:
    stages = [shifted("+" * 8)[0], shifted("++--++--", "paired-shift")[0], shifted("+" * 8)[0]]
    magic = {".svg": b"<?xml", ".png": b"\x89PNG"}[suffix]
    for shown in (stages[:1], stages):
        content = draw_throughput(shown, tmp_path / f"a{suffix}", title="t").read_bytes()
        assert content.startswith(magic)
        assert draw_throughput(shown, tmp_path / f"b{suffix}", title="t").read_bytes() == content
    assert len(content) > 5000


def test_bad_input_is_one_clear_message(tmp_path: Path) -> None:
    found, schedule = shifted("+" * 8)
    with pytest.raises(UsageError, match="no stage"):
        draw_throughput([], tmp_path / "a.png")
    with pytest.raises(UsageError, match=r"\.svg"):
        draw_throughput([found], tmp_path / "a.doc")
    with pytest.raises(UsageError, match="does not belong"):
        stage("a", Timed([0], [1], 1.0), schedule, ring("+" * 8))
    memory = one_host(3)
    inside = _core.Algorithm.find("ring").make(memory, _core.Demand(3, 10))
    nothing = stage("inside", _core.simulate(memory, inside, None, "free"), inside, memory)
    assert not len(nothing.routes) and not len(nothing.phases)
    with pytest.raises(UsageError, match="inside: no message crosses a link"):
        draw_throughput([nothing], tmp_path / "a.png")
    assert not list(tmp_path.iterdir())
