"""Programs of benches, compiled with an MPI."""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

from hocket.launch.mpi import Mpi, find_mpi


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
