"""Calibrations as files: what is written is read, what is damaged is refused."""

from __future__ import annotations

import contextlib
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hocket.costs.calibration import Calibration, Figure, from_json, kept_path, read_calibration, read_file_of
from hocket.errors import HocketError
from hocket.network import read_network_description
from measure.calibration.conftest import made


def test_what_is_written_is_read(kept: Path, calibration: Calibration) -> None:
    assert read_file_of(kept) == calibration


def test_figures() -> None:
    assert Figure.of([3.0]) == Figure(3.0, 0.0)
    assert Figure.of([1.0, 2.0, 3.0, 4.0, 5.0]) == Figure(3.0, pytest.approx(1 / 3))


def test_times_lie_on_lines(calibration: Calibration) -> None:
    near = calibration.between_hosts
    assert near.name == "same switch" and near.per_byte == pytest.approx(1.08 * 8e-8)
    for size in (1, 100, 4096, 50_000, 10**6):
        assert near.seconds(size) == pytest.approx(1.5e-5 + near.per_byte * size)


def test_flows_of_the_nearest_size(calibration: Calibration) -> None:
    assert calibration.flows("host", 1) == (1.0, 0.9, 0.8, 0.5)
    assert calibration.flows("switch_link", 1 << 20) == (1.0, 1.0, 1.0, 1.0)
    few = made(host_flows=calibration.host_flows[:2])
    assert few.flows("host", 65536) == (1.0, 0.9, 0.9, 0.9)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"format": "x"}, "not a calibration of a network"),
        ({"version": 2}, "another version"),
        ({"classes": []}, "classes is "),
        ({"eager": -1}, "eager"),
        ({"token": {"median": "fast", "spread": 0}}, "median"),
        ({"token": {"median": math.inf, "spread": 0}}, "median"),
        ({"mpi": 5}, "mpi is '5'"),
        ({"mpi": "a\nb"}, "mpi is "),
        ({"host_flows": [{"flows": 2, "bytes": 8, "part": 1.5, "spread": 0}]}, "part"),
        ({"host_rate": 0}, "host_rate"),
        ({"ranks": True}, "ranks"),
    ],
)
def test_damaged_files(kept: Path, change: dict[str, Any], complaint: str) -> None:
    kept.write_text(json.dumps(json.loads(kept.read_text()) | change))
    with pytest.raises(HocketError, match=complaint) as caught:
        read_file_of(kept)
    assert str(kept) in str(caught.value) and "hocket calibrate network" in caught.value.remedy


@given(st.data())
def test_nothing_but_a_message_comes_of_other_texts(data: st.DataObject) -> None:
    plain = json.loads(json.dumps(made().as_json()))
    value = data.draw(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.just([[]])
    )
    plain[data.draw(st.sampled_from(sorted(plain)))] = value
    with contextlib.suppress(ValueError):
        from_json(plain)


@pytest.mark.parametrize("cut", [0, 1, 50, 400])
def test_truncated_files(kept: Path, cut: int) -> None:
    kept.write_bytes(kept.read_bytes()[:cut])
    with pytest.raises(HocketError, match="not a calibration, or damaged"):
        read_file_of(kept)


def test_the_kept_one_is_of_this_network_and_its_rates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calibration: Calibration
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    description = read_network_description("chain:4,4@100Mbit")
    assert read_calibration(None, description, 12.5e6) == (None, "")
    path = kept_path(description)
    path.write_text(json.dumps(calibration.as_json()))
    path.chmod(0o600)
    assert read_calibration(None, description, 12.5e6) == (calibration, str(path))
    assert read_calibration(None, read_network_description("chain:5,4@100Mbit"), 12.5e6)[0] is None
    other = read_calibration(None, description, 125e6)
    assert other[0] is None and "other rates" in other[1]
    path.write_text("{")
    damaged = read_calibration(None, description, 12.5e6)
    assert damaged[0] is None and "damaged" in damaged[1]
    with pytest.raises(HocketError):
        read_calibration(str(path), description, 12.5e6)
