"""A Fortran program in the three bindings: the same values with and without Hocket, and scheduled calls."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from client_runs import PROGRAMS, installed_mpi, with_hocket
from hocket.launch.mpi import MpiFamily
from mpi_programs import mpiexec

RANKS = 6


@pytest.mark.parametrize("family", ["mpich", "openmpi"])
@pytest.mark.parametrize("binding", ["MPIF_H", "MODULE_MPI", "MODULE_F08"])
def test_fortran(family: str, binding: str, tmp_path: Path) -> None:
    mpi = installed_mpi(family)
    compiler = shutil.which(f"mpifort.{family}", path="/usr/bin")
    if compiler is None or shutil.which("gfortran") is None:
        pytest.skip(f"no mpifort.{family} with gfortran: apt-get install gfortran")
    program = tmp_path / "collectives"
    # Open MPI 4 has no persistent collectives.
    persistent = ["-DPERSISTENT"] if mpi.family is MpiFamily.MPICH else []
    subprocess.run(
        [compiler, "-cpp", "-O1", "-w", "-fallow-argument-mismatch", f"-D{binding}", *persistent,
         str(PROGRAMS / "collectives.F90"), "-o", str(program)],
        check=True, cwd=tmp_path, timeout=120,
    )  # fmt: skip
    plain = mpiexec(mpi, RANKS, [str(program)], {})
    assert plain.startswith("ok ") and plain.rstrip().endswith(" wrong 0")
    run = with_hocket(mpi, RANKS, [str(program)], tmp_path / "reports")
    assert run.printed == plain
    for call in ("MPI_Alltoall", "MPI_Ialltoall", "MPI_Allgatherv", "MPI_Alltoallv"):
        assert run.said.scheduled(call) > 0, call
