"""MPI_Alltoallw by schedules made at run time, every byte checked; and what mistakes come to: under both MPI
families."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import mpi_programs
from call_rows import typed
from hocket.launch.mpi import Mpi, MpiFamily
from reported_calls import Said
from scheduled_calls import ALL, scheduled

Check = Callable[..., Said]
Told = Callable[..., tuple[subprocess.CompletedProcess[str], Said]]

PROGRAM = "alltoallw_check"


# Each part makes three calls; the first tells the ranks what the sizes are. The transposition makes six of
# the same sizes.
PARTS = {"transpose": 5, "bottom": 2, "nulls": 2, "far": 2, "part": 2}


def test_every_byte_arrives(check: Check, tmp_path: Path, mpi: Mpi) -> None:
    trace = tmp_path / "trace"
    parts = {part: calls for part, calls in PARTS.items() if part != "nulls" or mpi.family is MpiFamily.MPICH}
    check(f"{PROGRAM} {' '.join(parts)}", "chain:2,2", 4, env=ALL | {"HOCKET_TRACE": str(trace)})
    assert scheduled(trace) == sum(parts.values())


def test_types_of_their_own(check: Check, tmp_path: Path) -> None:
    """Empty exchanges, and those between two groups, are left to the MPI library; the first call tells the sizes."""
    trace = tmp_path / "trace"
    check(typed(2000), "chain:2,2", 4, env=ALL | {"HOCKET_TRACE": str(trace)})
    assert scheduled(trace) == 2 * 4


def test_what_one_rank_alone_has_wrong(check: Check, tmp_path: Path, mpi: Mpi) -> None:
    trace = tmp_path / "trace"
    check(f"{PROGRAM} alone", "chain:2,2", 4, env=ALL | {"HOCKET_TRACE": str(trace)})
    assert scheduled(trace) == (0 if mpi.family is MpiFamily.MPICH else 2)


def test_several_ranks_on_a_host(check: Check) -> None:
    for program in (f"{PROGRAM} transpose part", typed(2000)):
        said = check(program, "star:3*2", 5, env=ALL | {"HOCKET_SEGMENT": "1031"})
        assert said.scheduled("MPI_Alltoallw", ranks=5) > 0


def test_mistakes_come_to_the_same_as_without_hocket(
    told: Told, compiled: Callable[[str], Path], mpi: Mpi
) -> None:
    def classes(output: str) -> list[str]:
        return re.findall("^(.*: class [0-9]+)$", output, re.MULTILINE)

    alone = classes(mpi_programs.mpiexec(mpi, 4, [str(compiled(PROGRAM)), "mistakes"], {}))
    done, said = told(f"{PROGRAM} mistakes", "chain:2,2", 4, env=ALL)
    assert done.returncode == 0, done.stderr
    assert len(alone) >= 16 and classes(done.stdout) == alone
    assert said.scheduled() > 0  # the good one among them
