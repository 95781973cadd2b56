"""A network file that says how fast hosts are, and is wrong, is found out by the ranks."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from builds import compile_once
from hocket.lab import Lab
from hocket.launch.environment import RuntimeOptions, scheduled_environment
from hocket.launch.mpi import Mpi
from hocket.network import read_known_network, read_network_description

pytestmark = [
    pytest.mark.by_turns,
    pytest.mark.lab,
    pytest.mark.skipif(
        os.geteuid() != 0 or shutil.which("nsenter") is None,
        reason="the lab needs root and nsenter (util-linux)",
    ),
]
WIRES, RATE, SLOW = "chain:3,3", 50, 2  # Mbit/s
LOOKS = 3  # tests share their processors, and other processes may hold up a sample
PROGRAM = Path(__file__).parents[2] / "bench" / "choose" / "total_time.c"


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab.up(read_network_description(f"{WIRES}@{RATE}Mbit")) as lab:
        yield lab


def rates_told(lab: Lab, mpi: Mpi, described: str, size: int = 262144) -> list[float]:
    """Mbit/s that a job of all-to-alls has found in place of ``described``."""
    program = compile_once([mpi.mpicc, "-O1", str(PROGRAM)], "total_time")
    known = read_known_network(f"{WIRES}@{described}")
    env = scheduled_environment(mpi.mpicc, known, RuntimeOptions(choose="learn", log=1)) | {
        "HOCKET_CHOICES": ""
    }
    done = lab.run([str(program), "alltoall", str(size), "8"], mpi=mpi, env=env, timeout=120, capture=True)
    assert done.exit_code == 0 and " right" in done.output, done.output
    return [float(rate) for rate in re.findall(r"measured with ([\d.]+) Mbit/s, which counts", done.output)]


@pytest.mark.parametrize("described", ["2Mbit", "10Gbit"])
def test_a_wrong_rate_is_measured_once(lab: Lab, mpi: Mpi, described: str) -> None:
    """To within a factor of two: samples are short."""
    for _ in range(LOOKS):
        rates = rates_told(lab, mpi, described)
        assert len(rates) == 1
        if RATE / 2 < rates[0] < 2 * RATE:
            return
    pytest.fail(f"{RATE} Mbit/s measured with {rates[0]}")


def test_a_slow_rate_is_measured_with_longer_samples(mpi: Mpi) -> None:
    """No message comes in the shortest sample."""
    with Lab.up(read_network_description(f"{WIRES}@{SLOW}Mbit")) as lab:
        rates = rates_told(lab, mpi, f"{RATE}Mbit", 16384)
    assert len(rates) == 1 and rates[0] < 2 * SLOW


def test_a_right_rate_is_not_doubted(lab: Lab, mpi: Mpi) -> None:
    assert rates_told(lab, mpi, f"{RATE}Mbit") == []
