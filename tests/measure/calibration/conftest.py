"""A calibration that nobody measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import hocket  # noqa: F401 - a fixture
from hocket.costs.calibration import Calibration, Class, Figure, Flows, Transfer


def made(**changes: Any) -> Calibration:
    """Calibration of 8 hosts on links of 100 Mbit/s: 2 µs a send, 3 µs a receive, 10 µs and 20 µs of latency,
    8 % of headers."""
    per_byte = 1.08 * 8e-8

    def distance(links: int, latency: float) -> Class:
        transfers = tuple(Transfer(n, Figure(5e-6 + latency + per_byte * n, 0.1)) for n in (1, 4096, 65536))
        return Class(links, 2, Figure(2e-6, 0.1), Figure(3e-6, 0.1), latency, transfers)

    parts = ((1, 1.0), (2, 0.9), (4, 0.8), (8, 0.5))
    flows = tuple(Flows(k, 65536, part, 0.05) for k, part in parts)
    fields: dict[str, Any] = {
        "date": "2026-11-23", "mpi": "MPICH Version: 5.0.1", "ranks": 8, "hosts": 8, "cores": 2,
        "ranks_per_host": 1, "host_rate": 12.5e6, "wiring": None,
        "classes": (distance(2, 1e-5), distance(4, 2e-5)), "eager": 65536, "token": Figure(2e-5),
        "token_loaded": Figure(5e-5, 0.2), "token_bytes": 1024, "per_byte_loaded": per_byte, "sendrecv": Figure(1.5e-5),
        "host_flows": flows, "switch_link_flows": (),
        "memory": {"1C1": 5000.0}, "memory_origin": "here", "seconds": 12.5, "left_out": 0,
    }  # fmt: skip
    return Calibration(**(fields | changes))


@pytest.fixture
def calibration() -> Calibration:
    return made()


@pytest.fixture
def kept(tmp_path: Path, calibration: Calibration) -> Path:
    path = tmp_path / "calibration.json"
    path.write_text(json.dumps(calibration.as_json()))
    return path
