"""Programs of benches, compiled with an MPI and started by its launcher."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from hocket.launch.mpi import Mpi, find_mpi, launch_command


def add_mpi(parser: argparse.ArgumentParser) -> None:
    """--mpi, which ``mpis`` reads."""
    parser.add_argument("--mpi", action="append", help="mpich, openmpi or the path of an mpiexec")


def mpis(options: argparse.Namespace) -> list[Mpi]:
    return [find_mpi(name) for name in options.mpi or ["mpich"]]


def compiled(mpi: Mpi, source: Path, work: Path, *flags: str) -> Path:
    """The program, in ``work``."""
    program = work / f"{source.stem}-{mpi.family.value}"
    subprocess.run([mpi.mpicc, "-O2", str(source), *flags, "-o", str(program)], check=True)
    return program


def run_job(
    mpi: Mpi, ranks: int, env: Mapping[str, str], command: Sequence[object], timeout: float
) -> subprocess.CompletedProcess[str]:
    """Run a job and return its output as text; a failure ends the bench with what the ranks printed."""
    words = launch_command(mpi, ranks, [], env, [str(word) for word in command])
    done = subprocess.run(words, capture_output=True, text=True, timeout=timeout, check=False)
    if done.returncode != 0:
        sys.exit(
            f"{mpi.family.value}: exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    return done
