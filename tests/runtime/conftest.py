"""MPI installations to test with, and programs compiled for them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hocket.errors import HocketError
from hocket.mpi import Mpi, find_mpi

PROGRAMS = Path(__file__).parent / "programs"


def _installation(family: str) -> Mpi:
    if family == "openmpi" and (where := os.environ.get("HOCKET_TEST_OPENMPI")):
        return find_mpi(str(Path(where) / "mpirun"))
    return find_mpi(family)


@pytest.fixture(params=["mpich", "openmpi"], scope="session")
def mpi(request: pytest.FixtureRequest) -> Mpi:
    """Each MPI family in turn; Open MPI's directory comes from HOCKET_TEST_OPENMPI or PATH."""
    try:
        return _installation(request.param)
    except HocketError as error:
        pytest.skip(f"no {request.param}: {error}")


@pytest.fixture(scope="session")
def compiled(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Compiles tests/runtime/programs/NAME.c with the mpicc of the MPI at hand."""
    built: dict[str, Path] = {}

    def compile_program(name: str) -> Path:
        if name not in built:
            out = tmp_path_factory.mktemp(mpi.family.value) / name
            subprocess.run(
                [mpi.mpicc, "-O1", "-Wall", "-Werror", str(PROGRAMS / f"{name}.c"), "-o", str(out)],
                check=True,
                timeout=120,
            )
            built[name] = out
        return built[name]

    return compile_program
