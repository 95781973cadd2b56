"""A Fortran program in the three bindings: the same values with and without Hocket, and scheduled calls."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from client_runs import PROGRAMS, installed_mpi, with_hocket
from hocket.launch.mpi import Mpi, MpiFamily
from mpi_programs import mpiexec

RANKS = 6


# Calls of Fortran come to the runtime as those of C. A runtime for Debian's Open MPI serves other tests, too; one for
# its MPICH would be compiled for this alone.
@pytest.mark.parametrize("family", [pytest.param("mpich", marks=pytest.mark.slow), "openmpi"])
def test_fortran(family: str, tmp_path: Path) -> None:
    """One test for each MPI: others would wait for its runtime to be compiled."""
    mpi = installed_mpi(family)
    compiler = shutil.which(f"mpifort.{family}", path="/usr/bin")
    if compiler is None or shutil.which("gfortran") is None:
        pytest.skip(f"no mpifort.{family} with gfortran: apt-get install gfortran")
    for binding in ("MPIF_H", "MODULE_MPI", "MODULE_F08"):
        (tmp_path / binding).mkdir()
        check(mpi, compiler, binding, tmp_path / binding)


def check(mpi: Mpi, compiler: str, binding: str, folder: Path) -> None:
    program = folder / "collectives"
    # Open MPI 4 has no persistent collectives.
    persistent = ["-DPERSISTENT"] if mpi.family is MpiFamily.MPICH else []
    subprocess.run(
        [compiler, "-cpp", "-O1", "-w", "-fallow-argument-mismatch", f"-D{binding}", *persistent,
         str(PROGRAMS / "collectives.F90"), "-o", str(program)],
        check=True, cwd=folder, timeout=120,
    )  # fmt: skip
    plain = mpiexec(mpi, RANKS, [str(program)], {})
    assert plain.startswith("ok ") and plain.rstrip().endswith(" wrong 0"), binding
    run = with_hocket(mpi, RANKS, [str(program)], folder / "reports")
    assert run.printed == plain, binding
    for call in ("MPI_Alltoall", "MPI_Ialltoall", "MPI_Allgatherv", "MPI_Alltoallv"):
        assert run.said.scheduled(call) > 0, (binding, call)
