"""mpi4py-fft's transforms: the same bits with and without Hocket, with the MPICH that mpi4py uses."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from client_runs import PROGRAMS, with_hocket
from hocket.launch.mpi import find_mpi
from mpi_programs import mpiexec

RANKS = 6


def test_mpi4py_fft(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py_fft", reason="not installed (no wheels): make clients")
    mpi = find_mpi("mpich")
    argv = [sys.executable, str(PROGRAMS / "pfft.py")]
    plain = mpiexec(mpi, RANKS, argv, {})
    run = with_hocket(mpi, RANKS, argv, tmp_path / "reports")
    assert run.printed == plain
    # Every redistribution is an MPI_Alltoallw of subarrays.
    assert run.said.scheduled("MPI_Alltoallw_c") > 0
