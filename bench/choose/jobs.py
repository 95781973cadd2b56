"""The places where benches of choosing run their jobs, and the program of these jobs."""

from __future__ import annotations

import shlex
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hocket.mpi import Mpi, launch_command
from hocket.network import read_network_description

PROGRAM = Path(__file__).with_name("total_time.c")
HOCKET = [sys.executable, "-m", "hocket.cli"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a job runs. Without options: in shared memory, where ranks stand for hosts."""

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
        return [
            *lab,
            *(f"--{option}" for option in self.options),
            *([] if hocket else ["--native"]),
            *program,
        ]


@cache
def scheduling_variables(network: str, mpiexec: str) -> dict[str, str]:
    """As job scripts take them. With ``hocket run``, Python would run before one of the candidates only, and what ran
    before a job has its share in how ranks that outnumber cores are served."""
    command = [*HOCKET, "env", "--network", network, "--mpi", mpiexec, "--placement", "order"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    words = [shlex.split(line) for line in said.splitlines() if line.startswith("export ")]
    variables = dict(word.split("=", 1) for _, word in words)
    return {name: value for name, value in variables.items() if name != "HOCKET_CHOICES"}


def ranks_of(network: str) -> int:
    return sum(node.ranks for node in read_network_description(network).nodes)
