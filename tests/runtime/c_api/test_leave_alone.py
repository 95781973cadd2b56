"""hocket_leave_alone: the MPI library serves a communicator, also under `hocket run`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hocket.launch.mpi import Mpi
from mpi_programs import compile_with_hocket, mpiexec

PROGRAMS = Path(__file__).parents[1] / "programs"
Launch = Callable[..., subprocess.CompletedProcess[str]]
REFUSED = "error the communicator is null or an intercommunicator; Hocket serves no others"
EVERYTHING = {"HOCKET_MIN_BYTES": "1"}


@pytest.fixture(scope="module")
def program(mpi: Mpi) -> Path:
    return compile_with_hocket(mpi, PROGRAMS / "leave_alone.c")


def test_what_is_left_alone(launch: Launch, program: Path, tmp_path: Path) -> None:
    """Blocking, irregular, nonblocking calls; a communicator before and after its first call; a duplicate."""
    report = tmp_path / "report.json"
    done = launch([str(program)], "chain:2,2", 4, f"--report={report}", env=EVERYTHING)
    assert done.returncode == 0, done.stderr
    scheduled = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert scheduled.pop("error") == REFUSED.partition(" ")[2]
    assert scheduled.pop("wrong") == "0"
    assert scheduled["fresh"] == scheduled["used"] == scheduled["twice"] == "0"
    assert scheduled["duplicate"] == scheduled["world"] == scheduled["chosen"] != "0"
    assert scheduled["passed"] == "0"
    reasons = {line["why"] for line in json.loads(report.read_text())["lines"]}
    assert "left_alone" in reasons


def test_without_hocket_nothing_is_scheduled(mpi: Mpi, program: Path) -> None:
    said = mpiexec(mpi, 3, [str(program)], {})
    assert [line for line in said.splitlines() if line != REFUSED] == [
        "fresh 0", "duplicate 0", "used 0", "twice 0", "world 0", "chosen 0", "passed 0", "wrong 0",
    ]  # fmt: skip
