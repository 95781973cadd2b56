"""Programs that were written without Hocket in mind, with and without it."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import builds
import mpi_programs
from hocket.launch.mpi import Mpi, find_mpi
from reported_calls import Said

PROGRAMS = Path(__file__).parent / "clients" / "programs"
# So slow that planning an irregular exchange always pays; every message is worth scheduling.
NETWORK = "star:8@8kbit,1us"
LOW = {
    "HOCKET_MIN_BYTES": "1",
}
SECONDS = 120


def installed_mpi(family: str) -> Mpi:
    """Debian's MPI of this family, under its own name; skips the test where it is not installed."""
    launcher = shutil.which(f"mpiexec.{family}", path="/usr/bin")
    if launcher is None or shutil.which(f"mpicc.{family}", path="/usr/bin") is None:
        pytest.skip(
            f"no mpiexec.{family} and mpicc.{family} in /usr/bin: apt-get install mpich libopenmpi-dev"
        )
    return find_mpi(launcher)


@dataclass(frozen=True, slots=True)
class Run:
    """Output of a program, and who has served its calls."""

    printed: str
    said: Said


def _flags(mpi: Mpi) -> dict[str, str]:
    """Debian's MPIs serve here alone."""
    return builds.QUICK_RUNTIME if Path(mpi.mpiexec).parent == Path("/usr/bin") else {}


@functools.cache
def _build(mpi: Mpi) -> None:
    """The runtime, which takes longer than a program may."""
    mpi_programs.hocket("info", "--libs", "--mpi", mpi.mpiexec, env=_flags(mpi))


def with_hocket(mpi: Mpi, ranks: int, argv: Sequence[str], reports: Path) -> Run:
    """`hocket run` with limits so low that all calls that can be scheduled are; the ranks report which were."""
    _build(mpi)
    reports.mkdir(parents=True)
    command = [sys.executable, "-m", "hocket", "run", "--mpi", mpi.mpiexec, "--network", NETWORK]
    command += ["--placement", "order", "-n", str(ranks), "--", *argv]
    variables = {**os.environ, **_flags(mpi), **LOW, "HOCKET_REPORT": str(reports)}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS, env=variables, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return Run(done.stdout, Said(done.stderr, reports))
