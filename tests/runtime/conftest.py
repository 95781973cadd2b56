"""MPI installations to test with, and programs compiled for them."""

from __future__ import annotations

import functools
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import pytest
from click.testing import CliRunner

import mpi_programs
from builds import compile_once
from hocket.cli import cli
from hocket.launch.environment import find_runtime
from hocket.launch.mpi import Mpi
from mpi_programs import run_ranks
from reported_calls import Said

mpi = mpi_programs.mpi
PROGRAMS = Path(__file__).parent / "programs"

found_runtime = functools.cache(find_runtime)  # which asks the compiler and reads all sources
Built = Callable[[str, str], Path]


@pytest.fixture(scope="session")
def built() -> Built:
    """Compiles tests/runtime/programs/NAME.c with a compiler wrapper."""

    def build(mpicc: str, name: str) -> Path:
        source = PROGRAMS / f"{name}.c"
        return compile_once(
            [mpicc, "-g", "-O3", "-march=native", "-Wall", "-Werror", "-pthread", str(source)], name
        )

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


def run_here(
    arguments: Sequence[str], env: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    """``hocket run`` in this process: to start Python and import Hocket takes more than the ranks of most tests."""
    done: list[subprocess.CompletedProcess[str]] = []

    def start(command: Sequence[str]) -> int:
        done.append(run_ranks(command, None, timeout))
        return done[-1].returncode

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hocket.launch.exit_code", start)
        patch.setattr("hocket.launch.environment.find_runtime", found_runtime)
        result = CliRunner().invoke(cli, ["run", *arguments], prog_name="hocket", env=env)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    out = "".join([result.stdout, *(ranks.stdout for ranks in done)])
    errors = "".join([result.stderr, *(ranks.stderr for ranks in done)])
    return subprocess.CompletedProcess(arguments, result.exit_code, out, errors)


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
        return run_here([*where, *options, "-v", "--", *program], env or {}, timeout)

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
