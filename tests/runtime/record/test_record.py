"""hocket record under real launchers: every byte of every call, whatever the MPI."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from hocket.demand import read_traffic
from hocket.errors import HocketError
from hocket.launch.mpi import Mpi, MpiFamily, find_mpi, launch_command
from hocket.launch.runtime import build_runtime

pytestmark = pytest.mark.by_turns

RANKS = 4
EVERYONE = [(i, j) for i in range(RANKS) for j in range(RANKS)]
Record = Callable[..., subprocess.CompletedProcess[str]]
Matrix = dict[tuple[int, int], int]


@pytest.fixture
def record(mpi: Mpi, compiled: Callable[[str], Path], tmp_path: Path) -> Record:
    """Programs are names of test programs, or paths; ``begin``: of the command, before the launcher."""

    def run(
        program: str | Path,
        *arguments: str,
        begin: Sequence[str] = ("--",),
        start: Sequence[str] = (),
        **env: str,
    ) -> subprocess.CompletedProcess[str]:
        path = compiled(program) if isinstance(program, str) else program
        command = start or launch_command(mpi, RANKS, [], {}, [])
        return subprocess.run(
            [sys.executable, "-m", "hocket", "record", "-o", str(tmp_path / "t.json"),
             *begin, *command, str(path), *arguments],
            capture_output=True,
            text=True,
            timeout=240,
            env={**os.environ, **env},
            check=False,
        )  # fmt: skip

    return run


def calls_of(path: Path) -> list[dict[str, Any]]:
    whole = json.loads(path.read_text())
    assert (whole["format"], whole["version"], whole["ranks"]) == ("hocket-traffic", 1, RANKS)
    calls: list[dict[str, Any]] = whole["calls"]
    return calls


def matrix(call: dict[str, Any]) -> Matrix:
    return {
        (src, dst): size for src, row in zip(call["members"], call["rows"], strict=True) for dst, size in row
    }


def test_every_call_and_every_byte(record: Record, tmp_path: Path) -> None:
    done = record("traffic")
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
    ints = {(i, j): 4 * (10 * i + j) for i, j in EVERYONE if 10 * i + j}
    assert matrix(calls[0]) == ints
    assert matrix(calls[1]) == ints | {(1, 2): 4 * 112}
    assert matrix(calls[2]) == {(i, j): 8 for i, j in EVERYONE if i != j}
    assert matrix(calls[3]) == {(i, j): i for i, j in EVERYONE if i != j and i}
    assert matrix(calls[4]) == dict.fromkeys(EVERYONE, 8)
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
    assert record("traffic", "code").returncode == 5
    assert len(calls_of(tmp_path / "t.json")) == 11


def test_a_rank_that_dies(record: Record, tmp_path: Path) -> None:
    """The others are killed by their launcher; what all had done is kept."""
    done = record("traffic", "die")
    assert done.returncode not in (0, 2)
    assert "ended without MPI_Finalize" in done.stderr and "Traceback" not in done.stderr
    assert sum(call["repeated"] for call in calls_of(tmp_path / "t.json")) in (3, 4)


def test_a_program_without_collective_calls(record: Record, tmp_path: Path) -> None:
    done = record("traffic", "nothing")
    assert done.returncode == 2 and "no collective call was recorded; record a program that" in done.stderr
    assert not list(tmp_path.glob("*.json"))


def test_a_rank_writes_its_file_at_finalize(
    mpi: Mpi, compiled: Callable[[str], Path], tmp_path: Path
) -> None:
    """Though it has made no call that Hocket knows."""
    env = build_runtime(mpi.mpicc).environment() | {"HOCKET_RECORD": str(tmp_path)}
    command = launch_command(mpi, RANKS, [], env, [str(compiled("traffic")), "nothing"])
    subprocess.run(command, check=True, timeout=120)
    written = {path.name: path.read_text() for path in tmp_path.glob("rank-*")}
    assert written == {f"rank-{i}": f"hocket-rank 1 {i} {RANKS}\nend\n" for i in range(RANKS)}


def to_neighbours(vertical: int, down: int, up: int) -> Matrix:
    """On two rows of two: bytes to the other row, to the rank before and to the one behind in the row."""
    places = [(2 * x + y, x, y) for x in range(2) for y in range(2)]
    return {
        pair: size
        for rank, x, y in places
        for pair, size in (((rank, 2 * (1 - x) + y), vertical), ((rank, 2 * x + 1 - y), down if y else up))
    }


def known_traffic() -> dict[str, Matrix]:
    """Traffic of traffic_forms.c, by call."""
    others = [(i, j) for i, j in EVERYONE if i != j]
    sizes = {(i, j): 10 * i + j for i, j in EVERYONE if 10 * i + j}
    row = to_neighbours(4, 3, 4)
    contributed = {(i, j): times * (i + 1) for (i, j), times in to_neighbours(2, 1, 1).items()}
    return {
        "alltoall": dict.fromkeys(EVERYONE, 3),
        "alltoallv": sizes,
        "alltoallw": {pair: 2 * size for pair, size in sizes.items()},
        "allgather": dict.fromkeys(others, 5),
        "allgatherv": {(i, j): i + 1 for i, j in others},
        "bcast": {(1, j): 8 for j in (0, 2, 3)},
        "reduce": {(i, 2): 6 for i in (0, 1, 3)},
        "reduce_scatter_block": dict.fromkeys(others, 3),
        "reduce_scatter": {(i, j): j + 1 for i, j in others},
        "allreduce": {(i, j): 4 if 3 not in (i, j) else 3 for i, j in others},  # shares of 2, 2, 2, 1
        "neighbor_alltoall": to_neighbours(6, 3, 3),
        "neighbor_alltoallv": row,
        "neighbor_alltoallw": {pair: 2 * size for pair, size in row.items()},
        "neighbor_allgather": to_neighbours(10, 5, 5),
        "neighbor_allgatherv": contributed,
    }


def test_every_form_of_every_call(record: Record, mpi: Mpi, tmp_path: Path) -> None:
    """Nonblocking, persistent, with large counts where the MPI has them, to all ranks and to neighbours."""
    done = record("traffic_forms")
    assert done.returncode == 0, done.stderr
    calls = calls_of(tmp_path / "t.json")
    *calls, graph = calls
    assert matrix(graph) == {(i, (i + step) % RANKS): 7 for i in range(RANKS) for step in (1, 3)}
    suffixes = ("", "_c") if mpi.family is MpiFamily.MPICH else ("",)
    expected = {
        operation: traffic
        for call, traffic in known_traffic().items()
        for suffix in suffixes
        for operation in (
            f"MPI_{call.capitalize()}{suffix}",
            f"MPI_I{call}{suffix}",
            f"MPI_{call.capitalize()}_init{suffix}",
        )
    }
    assert {call["operation"]: matrix(call) for call in calls} == expected
    assert all(call["repeated"] == 1 for call in calls) and len(calls) == len(expected)


def test_fortran(record: Record, mpi: Mpi, tmp_path: Path) -> None:
    wrapper = next(
        filter(None, (shutil.which(str(Path(mpi.mpicc).with_name(n))) for n in ("mpifort", "mpif90"))), ""
    )
    program = tmp_path / "traffic"
    source = Path(__file__).parents[1] / "programs/traffic.f90"
    made = subprocess.run(
        [wrapper or "false", source, "-o", program], capture_output=True, timeout=120, check=False
    )
    if made.returncode != 0:
        pytest.skip(f"no Fortran compiler for {mpi.family.value}")
    done = record(program)
    assert done.returncode == 0, done.stderr
    v, in_place, gather = calls_of(tmp_path / "t.json")
    assert [c["operation"] for c in (v, in_place, gather)] == [
        "MPI_Alltoallv",
        "MPI_Alltoall",
        "MPI_Iallgather",
    ]
    assert matrix(v) == {(i, j): 4 * (10 * i + j) for i, j in EVERYONE if 10 * i + j}
    assert matrix(in_place) == dict.fromkeys(EVERYONE, 8)
    assert matrix(gather) == {(i, j): 12 for i, j in EVERYONE if i != j}


def test_recording_alone_follows_no_schedule(record: Record, mpi: Mpi, tmp_path: Path) -> None:
    """With a plan calls are recorded and follow it."""
    told = {"HOCKET_TRACE": str(tmp_path / "trace"), "HOCKET_LOG": "1"}
    alone = record("traffic", **told)
    assert alone.returncode == 0, alone.stderr
    calls = calls_of(tmp_path / "t.json")
    assert "phases" not in alone.stderr and not list(tmp_path.glob("trace.*"))
    where = ["--mpi", mpi.mpiexec, "--network", "chain:2,2", "-n", str(RANKS), "--placement", "order"]
    start = [sys.executable, "-m", "hocket", "run", *where, "--min-bytes", "1", "--"]
    scheduled = record("traffic", begin=["--mpi", mpi.mpiexec, "--"], start=start, **told)
    assert scheduled.returncode == 0, scheduled.stderr
    assert "all-gather of 4 ranks on 4 hosts" in scheduled.stderr
    assert calls_of(tmp_path / "t.json") == calls


def test_a_launcher_in_a_script(record: Record, mpi: Mpi, tmp_path: Path) -> None:
    refused = record("traffic", begin=["--", "env"])
    assert refused.returncode == 2 and "env is not a launcher of MPICH or Open MPI" in refused.stderr
    done = record("traffic", begin=["--mpi", mpi.mpiexec, "--", "env"])
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
    done = record("traffic", begin=["--mpi", wrong, "--", "env"])
    assert done.returncode != 0 and "uses another MPI" in done.stderr
