"""MPI installations to test with, and programs compiled for them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import pytest

import mpi_programs
from hocket.mpi import Mpi

mpi = mpi_programs.mpi
PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """Compiles a test program with a compiler wrapper, once per session."""
    programs: dict[tuple[str, str], Path] = {}

    def build(mpicc: str, name: str) -> Path:
        if (mpicc, name) not in programs:
            out = tmp_path_factory.mktemp("programs") / name
            source = PROGRAMS / f"{name}.c"
            flags = ["-g", "-O1", "-Wall", "-Werror", "-pthread"]
            subprocess.run([mpicc, *flags, str(source), "-o", str(out)], check=True, timeout=120)
            programs[mpicc, name] = out
        return programs[mpicc, name]

    return build


@pytest.fixture
def compiled(mpi: Mpi, built: Callable[[str, str], Path]) -> Callable[[str], Path]:
    """Compiles tests/runtime/programs/NAME.c with the mpicc of the MPI at hand."""
    return lambda name: built(mpi.mpicc, name)


@pytest.fixture(scope="session")
def names_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Preloaded, gives a rank the processor name in its HOCKET_TEST_NAME."""
    library = tmp_path_factory.mktemp("names") / "names.so"
    source = PROGRAMS / "processor_names.c"
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(library)], check=True, timeout=60)
    return library


class Launch(Protocol):
    """``hocket run`` of a test program, or of any command; output captured."""

    def __call__(
        self,
        program: str | list[str],
        network: str,
        ranks: int,
        *options: str,
        placement: str | None = "order",
        env: Mapping[str, str] | None = None,
        exports: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]: ...


@pytest.fixture
def launch(mpi: Mpi, compiled: Callable[[str], Path], tmp_path: Path) -> Launch:
    """``env`` is set around the launcher; ``exports`` change in the ranks what the launcher has set."""

    def run(
        program: str | list[str],
        network: str,
        ranks: int,
        *options: str,
        placement: str | None = "order",
        env: Mapping[str, str] | None = None,
        exports: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        if isinstance(program, str):
            name, *arguments = program.split()
            program = [str(compiled(name)), *arguments]
        if exports:
            wrapper = tmp_path / "wrapper.sh"
            lines = "".join(f"export {name}={value}\n" for name, value in exports.items())
            wrapper.write_text(f'#!/bin/sh\n{lines}exec "$@"\n')
            wrapper.chmod(0o755)
            program = [str(wrapper), *program]
        placed = ["--placement", placement] if placement else []
        where = ["--mpi", mpi.mpiexec, "--network", network, "-n", str(ranks), *placed]
        return subprocess.run(
            [sys.executable, "-m", "hocket.cli", "run", *where, *options, "-v", "--", *program],
            capture_output=True,
            text=True,
            timeout=240,
            env={**os.environ, **(env or {})},
            check=False,
        )

    return run


@pytest.fixture
def check(launch: Launch) -> Callable[..., str]:
    """Launches a test program that must find every byte right; returns what Hocket said."""

    def run(*arguments: object, **more: object) -> str:
        done = launch(*arguments, **more)  # type: ignore[arg-type]
        assert done.returncode == 0, done.stdout + done.stderr
        assert "ok " in done.stdout and " 0 wrong" in done.stdout, done.stdout + done.stderr
        return done.stderr

    return run
