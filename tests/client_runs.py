"""Programs that were written without Hocket in mind, with and without it."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import mpi_programs
from hocket.launch.mpi import Mpi, find_mpi

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
    """Output of a program, and the number of scheduled calls, by kind."""

    printed: str
    scheduled: Mapping[str, int]


def _flags(mpi: Mpi) -> dict[str, str]:
    """Debian's MPIs serve here alone: to optimise a runtime for them would take longer than all that it runs."""
    return {"HOCKET_CXXFLAGS": "-O0"} if Path(mpi.mpiexec).parent == Path("/usr/bin") else {}


@functools.cache
def _build(mpi: Mpi) -> None:
    """The runtime, which takes longer than a program may."""
    mpi_programs.hocket("info", "--libs", "--mpi", mpi.mpiexec, env=_flags(mpi))


def with_hocket(
    mpi: Mpi, ranks: int, argv: Sequence[str], traces: Path, env: Mapping[str, str] | None = None
) -> Run:
    """`hocket run` with limits so low that all calls that can be scheduled are; traces tell which were."""
    _build(mpi)
    traces.mkdir(parents=True)
    command = [sys.executable, "-m", "hocket", "run", "--mpi", mpi.mpiexec, "--network", NETWORK]
    command += ["--placement", "order", "-n", str(ranks), "--", *argv]
    variables = {**os.environ, **_flags(mpi), **LOW, "HOCKET_TRACE": str(traces / "rank"), **(env or {})}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS, env=variables, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    begun = "".join(trace.read_text() for trace in sorted(traces.iterdir()))
    kinds = re.findall(r"^(all-to-all|all-gather|irregular) \d+ 0$", begun, re.MULTILINE)
    return Run(done.stdout, {kind: kinds.count(kind) for kind in kinds})
