"""MPI installations to test with, and programs compiled for them."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import pytest

import mpi_programs
from builds import compile_once
from hocket.launch.mpi import Mpi
from mpi_programs import hocket_here
from reported_calls import Said

mpi = mpi_programs.mpi
PROGRAMS = Path(__file__).parent / "programs"

Built = Callable[[str, str], Path]


@pytest.fixture(scope="session")
def built() -> Built:
    """Compiles tests/runtime/programs/NAME.c with a compiler wrapper."""

    def build(mpicc: str, name: str) -> Path:
        source = PROGRAMS / f"{name}.c"
        # Of what -O3 makes faster only loops over bytes count here; the rest would take the compiler thrice as long.
        fast = ["-g", "-O1", "-ftree-vectorize", "-march=native"]
        return compile_once([mpicc, *fast, "-Wall", "-Werror", "-pthread", str(source)], name)

    return build


@pytest.fixture
def compiled(mpi: Mpi, built: Built) -> Callable[[str], Path]:
    """Compiles tests/runtime/programs/NAME.c with the mpicc of the MPI at hand."""
    return lambda name: built(mpi.mpicc, name)


@pytest.fixture(scope="session")
def names_library() -> Path:
    """Preloaded, gives a rank the processor name in its HOCKET_TEST_NAME."""
    return compile_once(["cc", "-shared", "-fPIC", str(PROGRAMS / "processor_names.c")], "names.so")


@pytest.fixture(scope="session")
def freed_library() -> Path:
    """Preloaded, ends a process that writes to memory that it has freed."""
    return compile_once(["cc", "-O1", "-shared", "-fPIC", str(PROGRAMS / "freed_memory.c")], "freed.so")


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
        timeout: float = 240,
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
        timeout: float = 240,
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
        return hocket_here(["run", *where, *options, "-v", "--", *program], env or {}, timeout)

    return run


@pytest.fixture
def told(launch: Launch, tmp_path: Path) -> Callable[..., tuple[subprocess.CompletedProcess[str], Said]]:
    """Launches a test program; what became of it, and what Hocket and its ranks said."""

    def run(
        *arguments: Any, env: Mapping[str, str] | None = None, **more: Any
    ) -> tuple[subprocess.CompletedProcess[str], Said]:
        with tempfile.TemporaryDirectory(dir=tmp_path, prefix="ranks-") as directory:
            done = launch(*arguments, env={"HOCKET_REPORT": directory, **(env or {})}, **more)
            return done, Said(done.stderr, Path(directory))

    return run


@pytest.fixture
def check(told: Callable[..., tuple[subprocess.CompletedProcess[str], Said]]) -> Callable[..., Said]:
    """Launches a test program that must find every byte right; what Hocket and its ranks said."""

    def run(*arguments: object, **more: object) -> Said:
        done, said = told(*arguments, **more)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "ok " in done.stdout and " 0 wrong" in done.stdout, done.stdout + done.stderr
        return said

    return run
