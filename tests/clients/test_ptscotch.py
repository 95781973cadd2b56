"""PT-Scotch: halo exchanges and redistributed graphs are the same with and without Hocket."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from client_runs import PROGRAMS, installed_mpi, with_hocket
from mpi_programs import mpiexec

RANKS = 6


def test_ptscotch(tmp_path: Path) -> None:
    mpi = installed_mpi("openmpi")  # what Debian's PT-Scotch is built with
    program = tmp_path / "ptscotch"
    compiled = subprocess.run(
        ["/usr/bin/mpicc.openmpi", "-O1", "-I/usr/include/scotch", str(PROGRAMS / "ptscotch.c"),
         "-lptscotch", "-lscotch", "-lptscotcherr", "-lm", "-o", str(program)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    if "ptscotch.h" in compiled.stderr or "-lptscotch" in compiled.stderr:
        pytest.skip("no PT-Scotch: apt-get install libptscotch-dev")
    assert compiled.returncode == 0, compiled.stderr
    plain = mpiexec(mpi, RANKS, [str(program)], {})
    run = with_hocket(mpi, RANKS, [str(program)], tmp_path / "reports")
    assert run.printed == plain
    # It exchanges with MPI_Alltoallv, and gathers with MPI_Allgather and MPI_Allgatherv.
    assert run.said.scheduled("MPI_Alltoallv") > 0
    assert run.said.scheduled("MPI_Allgather") + run.said.scheduled("MPI_Allgatherv") > 0
