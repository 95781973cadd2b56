"""MPI installations to test with, and the generator of programs compiled for them."""

from __future__ import annotations

from pathlib import Path

import pytest

import mpi_programs
from builds import compile_once
from hocket.launch.mpi import Mpi
from random_runs import compile_command

mpi = mpi_programs.mpi


@pytest.fixture(scope="session")
def program(mpi: Mpi) -> Path:
    """Runs the programs of some seeds."""
    return compile_once(compile_command(mpi), "random_program")
