"""Starting ranks of test programs, with each MPI family."""

from __future__ import annotations

import functools
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from builds import compile_once, make_once
from hocket.cli import cli
from hocket.errors import HocketError
from hocket.launch import end
from hocket.launch.environment import find_runtime
from hocket.launch.mpi import Mpi, MpiFamily, find_mpi, launch_command


def installation(family: str) -> Mpi:
    """Open MPI's directory comes from HOCKET_TEST_OPENMPI or PATH."""
    if family == "openmpi" and (where := os.environ.get("HOCKET_TEST_OPENMPI")):
        return find_mpi(str(Path(where) / "mpirun"))
    return find_mpi(family)


@pytest.fixture(params=["mpich", "openmpi"], scope="session")
def mpi(request: pytest.FixtureRequest) -> Mpi:
    """Each MPI family in turn."""
    try:
        return installation(request.param)
    except HocketError as error:
        pytest.skip(f"no {request.param}: {error}")


def run_ranks(
    command: Sequence[str], env: Mapping[str, str] | None, timeout: float
) -> subprocess.CompletedProcess[str]:
    """Its output. A launcher that is killed leaves its ranks behind: one that takes too long is asked to end them."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=env,
        start_new_session=True,
    )
    with process:
        try:
            out, errors = process.communicate(timeout=timeout)
        finally:
            end(process)
    return subprocess.CompletedProcess(command, process.returncode, out, errors)


found_runtime = functools.cache(find_runtime)  # which asks the compiler and reads all sources


def hocket_here(
    arguments: Sequence[str], env: Mapping[str, str] | None = None, timeout: float = 240
) -> subprocess.CompletedProcess[str]:
    """The command in this process, with the output of ranks that it starts: to start Python and import Hocket takes
    more than the ranks of most tests."""
    done: list[subprocess.CompletedProcess[str]] = []

    def start(command: Sequence[str]) -> int:
        done.append(run_ranks(command, None, timeout))
        return done[-1].returncode

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hocket.launch.exit_code", start)
        patch.setattr("hocket.launch.environment.find_runtime", found_runtime)
        result = CliRunner().invoke(cli, list(arguments), prog_name="hocket", env=env)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    out = "".join([result.stdout, *(ranks.stdout for ranks in done)])
    errors = "".join([result.stderr, *(ranks.stderr for ranks in done)])
    return subprocess.CompletedProcess(arguments, result.exit_code, out, errors)


def mpiexec(mpi: Mpi, ranks: int, argv: Sequence[str], env: Mapping[str, str], timeout: int = 120) -> str:
    """Output of the ranks, without Hocket's launcher and preload library."""
    done = run_ranks(launch_command(mpi, ranks, [], env, argv), None, timeout)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@functools.cache
def _flags(mpi: str, *more: str) -> list[str]:
    """To compile and link with. Builds the runtime, so that ranks need not wait for it."""
    command = ["info", "--cflags", "--libs", *more, "--mpi", mpi]
    return shlex.split(
        make_once(command, "flags", lambda made: made.write_text(hocket(*command))).read_text()
    )


def python_env(mpi: Mpi, *more: str) -> dict[str, str]:
    """Environment of ranks that use mpi4py; skips the test where it cannot be used. ``--sort``: they sort,
    too."""
    pytest.importorskip("mpi4py")
    _flags(mpi.mpiexec, *more)
    env = {"PYTHONFAULTHANDLER": "1"}
    if mpi.family is MpiFamily.OPENMPI:  # mpi4py's wheel speaks both, and looks for MPICH first
        library = Path(mpi.mpiexec).parent.parent / "lib" / "libmpi.so.40"
        if not library.exists():
            pytest.skip(f"mpi4py's wheel needs the path of Open MPI's library, which is not {library}")
        env["MPI4PY_LIBMPI"] = str(library)
    return env


def hocket(*arguments: str, env: Mapping[str, str] | None = None) -> str:
    """Output of the command, with more variables. It may compile a runtime."""
    done = subprocess.run(
        [sys.executable, "-m", "hocket", *arguments],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=1800,
        check=False,
        env={**os.environ, **(env or {})},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def compile_with_hocket(mpi: Mpi, source: Path, *more: str) -> Path:
    """A C program, compiled and linked as `hocket info` says; ``--sort``: one that sorts."""
    strict = ["-std=c11", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror"]
    return compile_once([mpi.mpicc, *strict, str(source), *_flags(mpi.mpiexec, *more)], source.stem)
