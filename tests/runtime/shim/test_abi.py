"""The ABI of the MPI standard: the usual programs, compiled with mpicc_abi, under a runtime built with it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import builds
import mpi_programs
from call_rows import all_gathers, all_to_alls, vectors
from hocket.launch.mpi import Abi, Mpi, abi_of
from reported_calls import Said

Check = Callable[..., Said]
EVERY_SIZE = {"HOCKET_MIN_BYTES": "1"}


@pytest.fixture(scope="session")
def mpi() -> Mpi:
    """MPICH's library of the standard ABI."""
    found = replace(mpi_programs.installation("mpich"), abi=Abi.STANDARD)
    if not Path(found.mpicc).exists():
        pytest.skip(f"this MPICH has no {found.mpicc}")
    return found


@pytest.fixture(scope="module", autouse=True)
def compiled_fast(mpi: Mpi) -> Iterator[None]:
    """Handles and constants are what differs here. With MPICH and Open MPI all is tested as users have it.

    Compiled before a launch has to wait for it: the time limits of launches are not for compilers.
    """
    with pytest.MonkeyPatch.context() as environment:
        if "HOCKET_CXXFLAGS" not in os.environ:
            environment.setenv("HOCKET_CXXFLAGS", builds.QUICK_RUNTIME["HOCKET_CXXFLAGS"])
        mpi_programs.hocket("info", "--libs", "--abi", "standard", "--mpi", mpi.mpiexec)
        yield


def test_every_byte_arrives(check: Check) -> None:
    """The ABI is found by what the program is linked with. One test: each in another process would wait for the
    compiler."""
    for program, call in (
        (all_to_alls(), "MPI_Alltoall"),
        (all_gathers(1), "MPI_Allgather"),
        (vectors(20000), "MPI_Alltoallv"),
        ("persistent_check", "MPI_Alltoall_init"),
    ):
        assert check(program, "chain:3,3", 6, env=EVERY_SIZE).scheduled(call, ranks=6) > 0, call


def test_the_other_abi_of_the_same_library_is_left_alone(
    check: Check, compiled: Callable[[str], Path], mpi: Mpi, tmp_path: Path
) -> None:
    """Both tell the same version; their handles differ."""
    native = tmp_path / "native"
    source = Path(__file__).parents[1] / "programs" / "call_grid.c"
    subprocess.run(
        [replace(mpi, abi=Abi.NATIVE).mpicc, str(source), "-o", str(native)], check=True, timeout=120
    )
    assert abi_of(str(native)) is Abi.NATIVE
    assert abi_of(str(compiled("call_grid"))) is Abi.STANDARD
    said = check([str(native)], "chain:3,3", 4, "--abi", "standard")
    assert said.count("hocket: not active: this process uses another MPI") == 1
    assert said.scheduled() == 0


def test_scripts_are_taken_for_native(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert abi_of(str(script)) is Abi.NATIVE
    assert abi_of("/no/such/program") is Abi.NATIVE
