"""MPI installations to test with, and the generator of programs compiled for them."""

from __future__ import annotations

from pathlib import Path

import pytest

import mpi_programs
from hocket.mpi import Mpi
from random_runs import compile_programs

mpi = mpi_programs.mpi


@pytest.fixture(scope="session")
def program(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs the programs of some seeds."""
    return compile_programs(mpi, tmp_path_factory.mktemp(mpi.family.value) / "random_program")
