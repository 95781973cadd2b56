"""hocket record under real launchers: every byte of every call, whatever the MPI."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hocket.demand import read_traffic
from hocket.errors import HocketError
from hocket.mpi import Mpi, MpiFamily, find_mpi

RANKS = 4
Record = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def record(mpi: Mpi, compiled: Callable[[str], Path], tmp_path: Path) -> Record:
    def run(*arguments: str, begin: list[str] | None = None) -> subprocess.CompletedProcess[str]:
        start = [mpi.mpiexec, "-n", str(RANKS)]
        if mpi.family is MpiFamily.OPENMPI:
            start[1:1] = ["--oversubscribe", "--allow-run-as-root", "--mca", "mpi_yield_when_idle", "1"]
        command = [*(begin if begin is not None else ["--"]), *start, str(compiled("traffic")), *arguments]
        return subprocess.run(
            [sys.executable, "-m", "hocket.cli", "record", "-o", str(tmp_path / "t.json"), *command],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


def calls_of(path: Path) -> list[dict[str, Any]]:
    whole = json.loads(path.read_text())
    assert (whole["format"], whole["version"], whole["ranks"]) == ("hocket-traffic", 1, RANKS)
    calls: list[dict[str, Any]] = whole["calls"]
    return calls


def matrix(call: dict[str, Any]) -> dict[tuple[int, int], int]:
    return {
        (src, dst): size for src, row in zip(call["members"], call["rows"], strict=True) for dst, size in row
    }


def test_every_call_and_every_byte(record: Record, tmp_path: Path) -> None:
    done = record()
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix == ".json") == ["t.json"]
    assert not list(tmp_path.glob(".hocket-record-*"))
    calls = calls_of(tmp_path / "t.json")
    assert [(c["operation"], c["members"], c["repeated"]) for c in calls] == [
        ("MPI_Alltoallv", [0, 1, 2, 3], 3),
        ("MPI_Alltoallv", [0, 1, 2, 3], 1),
        ("MPI_Allgather", [0, 1, 2, 3], 1),
        ("MPI_Allgatherv", [0, 1, 2, 3], 1),
        ("MPI_Ialltoallw", [0, 1, 2, 3], 1),
        ("MPI_Alltoall", [2, 0], 1),
        ("MPI_Alltoall", [2, 0], 1),
        ("MPI_Neighbor_alltoallv", [0, 1, 2, 3], 1),
        ("MPI_Neighbor_alltoallv_init", [0, 1, 2, 3], 1),
        ("MPI_Alltoall", [3, 1], 1),
        ("MPI_Alltoall", [3, 1], 1),
    ]
    everyone = [(i, j) for i in range(RANKS) for j in range(RANKS)]
    ints = {(i, j): 4 * (10 * i + j) for i, j in everyone if 10 * i + j}
    assert matrix(calls[0]) == ints
    assert matrix(calls[1]) == ints | {(1, 2): 4 * 112}
    assert matrix(calls[2]) == {(i, j): 8 for i, j in everyone if i != j}
    assert matrix(calls[3]) == {(i, j): i for i, j in everyone if i != j and i}
    assert matrix(calls[4]) == dict.fromkeys(everyone, 8)
    for call, size in ((5, 24), (6, 10), (9, 24), (10, 10)):
        members = calls[call]["members"]
        assert matrix(calls[call]) == {(i, j): size for i in members for j in members}
    assert matrix(calls[7]) == {(i, (i + 1) % RANKS): 3 for i in range(RANKS)}
    assert matrix(calls[8]) == {(i, (i + 1) % RANKS): 12 for i in range(RANKS)}
    traffic = read_traffic(f"{tmp_path / 't.json'}:2")
    assert traffic.total_bytes + traffic.kept_bytes == sum(ints.values()) + 400
    assert "MPI_Neighbor_alltoallv           4         4" in done.stderr
    assert "hocket plan irregular --network NETWORK --demand" in done.stderr and done.stdout == ""


def test_the_exit_code_is_passed_on(record: Record, tmp_path: Path) -> None:
    assert record("code").returncode == 5
    assert len(calls_of(tmp_path / "t.json")) == 11


def test_a_rank_that_dies(record: Record, tmp_path: Path) -> None:
    """The others are killed by their launcher; what all had done is kept."""
    done = record("die")
    assert done.returncode not in (0, 2)
    assert "ended without MPI_Finalize" in done.stderr and "Traceback" not in done.stderr
    assert sum(call["repeated"] for call in calls_of(tmp_path / "t.json")) in (3, 4)


def test_a_program_without_collective_calls(record: Record, tmp_path: Path) -> None:
    done = record("nothing")
    assert done.returncode == 2 and "no collective call was recorded" in done.stderr
    assert not list(tmp_path.glob("*.json"))


def test_a_launcher_in_a_script(record: Record, mpi: Mpi, tmp_path: Path) -> None:
    refused = record(begin=["--", "env"])
    assert refused.returncode == 2 and "env is no launcher of MPICH or Open MPI" in refused.stderr
    done = record(begin=["--mpi", mpi.mpiexec, "--", "env"])
    assert done.returncode == 0, done.stderr
    assert len(calls_of(tmp_path / "t.json")) == 11


def test_the_wrong_mpi(record: Record, mpi: Mpi) -> None:
    other = MpiFamily.MPICH if mpi.family is MpiFamily.OPENMPI else MpiFamily.OPENMPI
    where = os.environ.get("HOCKET_TEST_OPENMPI")
    name = f"{where}/mpirun" if other is MpiFamily.OPENMPI and where else other.value
    try:
        wrong = find_mpi(name).mpiexec
    except HocketError as error:
        pytest.skip(str(error))
    done = record(begin=["--mpi", wrong, "--", "env"])
    assert done.returncode != 0 and "uses another MPI" in done.stderr
