"""FFTW's distributed transforms and transposes: the same bits with and without Hocket."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from client_runs import PROGRAMS, installed_mpi, with_hocket
from mpi_programs import mpiexec

RANKS = 6


def test_fftw(tmp_path: Path) -> None:
    mpi = installed_mpi("openmpi")  # what Debian's FFTW is built with
    program = tmp_path / "fftw_transpose"
    compiled = subprocess.run(
        ["/usr/bin/mpicc.openmpi", "-O1", "-Wall", "-Werror", str(PROGRAMS / "fftw_transpose.c"),
         "-lfftw3_mpi", "-lfftw3", "-lm", "-o", str(program)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    if "fftw3-mpi.h" in compiled.stderr or "-lfftw3_mpi" in compiled.stderr:
        pytest.skip("no FFTW with MPI: apt-get install libfftw3-mpi-dev")
    assert compiled.returncode == 0, compiled.stderr
    plain = mpiexec(mpi, RANKS, [str(program)], {})
    run = with_hocket(mpi, RANKS, [str(program)], tmp_path / "reports")
    assert run.printed == plain
    # Out of place FFTW calls MPI_Alltoall where all ranks have equal shares, and MPI_Alltoallv where not.
    assert "mpi-transpose-alltoall/e" in plain
    assert run.said.scheduled("MPI_Alltoall") >= 9
    assert run.said.scheduled("MPI_Alltoallv") >= 6
