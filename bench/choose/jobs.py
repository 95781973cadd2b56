"""The cells that benches of choosing measure: a place, an MPI, a collective and a size; and the program of the jobs."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hocket.launch.mpi import Mpi, launch_command
from hocket.network import read_network_description

sys.path.insert(0, str(Path(__file__).parents[1]))
from mpi_jobs import add_mpi, compiled, mpis
from results_file import Results, Row

CELL = ("place", "mpi", "collective", "bytes")
PROGRAM = Path(__file__).with_name("total_time.c")
HOCKET = [sys.executable, "-m", "hocket"]


@dataclass(frozen=True, slots=True)
class Place:
    """Place of a job. Without options: in shared memory, where ranks stand for hosts."""

    network: str
    options: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Place:
        network, *options = text.split("/")
        return cls("chain:4,4" if network == "shared" else network, tuple(options))

    def __str__(self) -> str:
        if not self.options:
            return f"shared memory, {ranks_of(self.network)} ranks"
        return " ".join([self.network, *self.options])

    def command(self, mpi: Mpi, hocket: bool, program: list[str]) -> list[str]:
        if not self.options:
            variables = scheduling_variables(self.network, mpi.mpiexec) if hocket else {}
            return launch_command(mpi, ranks_of(self.network), [], variables, program)
        lab = [*HOCKET, "lab", "run", "--network", self.network, "--mpi", mpi.mpiexec]
        native = [] if hocket else ["--native"]
        return [*lab, *(f"--{option}" for option in self.options), *native, *program]


@cache
def scheduling_variables(network: str, mpiexec: str, placement: str = "order") -> dict[str, str]:
    """Environment variables as job scripts set them. Under ``hocket run``, Python would run before only one
    of the candidates, and programs before a job affect the scheduling of ranks that outnumber cores."""
    command = [*HOCKET, "env", "--network", network, "--mpi", mpiexec, "--placement", placement]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    words = [shlex.split(line) for line in said.splitlines() if line.startswith("export ")]
    variables = dict(word.split("=", 1) for _, word in words)
    return {name: value for name, value in variables.items() if name != "HOCKET_CHOICES"}


def ranks_of(network: str) -> int:
    return sum(node.ranks for node in read_network_description(network).nodes)


class JobError(Exception):
    """A job failed, or a message was wrong."""


class Told(NamedTuple):
    """Seconds of all calls, of each call, and of an agreement; standard error."""

    total: float
    costs: list[float]
    agree: float
    log: str


@dataclass(frozen=True, slots=True)
class Job:
    """Job that runs in a cell."""

    place: Place
    mpi: Mpi
    program: Path
    what: tuple[str, str]  # collective, bytes

    def run(self, hocket: bool, calls: int, environment: Mapping[str, str], timeout: float) -> Told:
        """Return what the program prints. Raises JobError where it fails or gets wrong data, and TimeoutExpired."""
        command = self.place.command(self.mpi, hocket, [str(self.program), *self.what, str(calls)])
        return told_by(command, environment, timeout)


def told_by(command: list[str], environment: Mapping[str, str], timeout: float) -> Told:
    """Words of a job's program. Raises JobError where it fails or gets wrong data, and TimeoutExpired."""
    env = os.environ | environment
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=timeout, check=False)
    told = re.search(r"^agree (.+)\ncosts (.+)\ntotal ([\d.]+) right$", done.stdout, re.MULTILINE)
    if told is None:
        raise JobError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return Told(float(told[3]), [float(cost) for cost in told[2].split(";")], float(told[1]), done.stderr)


def add_cells(parser: argparse.ArgumentParser) -> None:
    add_mpi(parser)
    parser.add_argument("--place", action="append", help="shared, or NETWORK/OPTION=VALUE/… of a lab")
    parser.add_argument("--cell", action="append", metavar="COLLECTIVE:BYTES")
    parser.add_argument("--timeout", type=float, default=300, help="seconds a job")


def measure_cells(
    arguments: argparse.Namespace, results: Results, measure: Callable[[Job, Row], Iterable[Row]]
) -> None:
    """Rows of every cell that was asked for, each written as soon as it is there."""
    with tempfile.TemporaryDirectory(prefix="hocket-bench-") as work:
        for mpi in mpis(arguments):
            program = compiled(mpi, PROGRAM, Path(work))
            for place in map(Place.parse, arguments.place or ["shared"]):
                for text in arguments.cell or ["alltoall:32768", "allgather:32768"]:
                    collective, _, size = text.partition(":")
                    cell = dict(zip(CELL, (str(place), mpi.family.value, collective, int(size)), strict=True))
                    results.rows = [row for row in results.rows if any(row[key] != cell[key] for key in cell)]
                    for row in measure(Job(place, mpi, program, (collective, size)), cell):
                        results.add(row)
                    print(f"{place} {mpi.family.value} {collective} {size}", file=sys.stderr)
