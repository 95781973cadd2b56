"""Measures Hocket's cost where it does not help: calls that are passed on, and programs that never need it.

    python bench/runtime/passed_on.py [--mpi mpich --mpi PATH/mpirun] [--pairs 25]

Pairs of the same job without and with the preload library, in turn, each first in every second pair: two
ranks on this host that call MPI_Alltoall with 8 bytes, a plan set; MPI_Init and MPI_Finalize; a program
without MPI.
For a machine that does nothing else. Writes bench/results/passed-on.{csv,md}.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from hocket.launch.environment import RuntimeOptions, scheduled_environment
from hocket.launch.mpi import Mpi, launch_command
from hocket.network import read_network_description

sys.path.insert(0, str(Path(__file__).parents[1]))
from mpi_jobs import add_mpi, compiled, mpis
from results_file import Row, alternating, begin, provenance, quartiles, table, values

RANKS: Final = 2
TARGET_RATIO, TARGET_SECONDS = 1.02, 0.005
NO_MPI: Final = "/bin/true"

Measure = Callable[[Mapping[str, str]], float]
Pair = tuple[float, float]  # seconds without and with Hocket


def output_of(command: list[str], env: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, env={**os.environ, **(env or {})}
    )
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def duration_of(command: list[str], env: Mapping[str, str] | None = None) -> float:
    """Seconds from start to end."""
    start = time.perf_counter()
    output_of(command, env)
    return time.perf_counter() - start


@dataclass(frozen=True, slots=True)
class Case:
    """Case that runs without and with Hocket."""

    what: str
    measure: Measure
    relative: bool  # what counts: the ratio, or the difference

    def pairs(self, count: int, hocket: Mapping[str, str]) -> list[Pair]:
        self.measure({}), self.measure(hocket)  # files into memory
        return [self.pair(hocket, number) for number in range(count)]

    def pair(self, hocket: Mapping[str, str], number: int) -> Pair:
        taken = {which: self.measure(hocket if which else {}) for which in alternating((0, 1), number)}
        return taken[0], taken[1]


def cases(mpi: Mpi, program: Path, options: argparse.Namespace) -> list[Case]:
    def ranks(env: Mapping[str, str], *arguments: int) -> list[str]:
        return launch_command(mpi, RANKS, [], env, [str(program), *map(str, arguments)])

    return [
        Case(
            "8-byte all-to-all",
            lambda env: float(output_of(ranks(env, options.batches, options.calls))),
            relative=True,
        ),
        Case("init and finalize", lambda env: duration_of(ranks(env)), relative=False),
        Case("no MPI", lambda env: duration_of([NO_MPI], env), relative=False),
    ]


def told(row: Row) -> Row:
    """A row with what the summary says of it."""
    without, within = values(row["without"]), values(row["with"])
    scale, unit = (1e6, "µs") if row["relative"] else (1e3, "ms")
    row |= {"a": f"{scale * median(without):.3f} {unit}", "b": f"{scale * median(within):.3f} {unit}"}
    pairs = zip(without, within, strict=True)
    if row["relative"]:
        more, target = f"{quartiles([b / a for a, b in pairs], 3)} ×", f"{TARGET_RATIO:g} ×"
    else:
        more, target = f"{quartiles([1e3 * (b - a) for a, b in pairs])} ms", f"{1e3 * TARGET_SECONDS:g} ms"
    return row | {"more": more, "target": target}


def summary(heading: Row, rows: list[Row]) -> list[str]:
    return [
        "# What Hocket costs where it does not help",
        "",
        f"{provenance(heading)}.",
        f"{heading['pairs']} pairs of jobs in turn, without and with the preload library",
        f"({heading['network']}, a plan set). 8-byte all-to-all: {RANKS} ranks on one host;",
        f"a job's figure is the median of {heading['batches']} batches of {heading['calls']} calls.",
        f"Init and finalize: {RANKS} ranks that call nothing else, launcher included. No MPI:",
        f"`{NO_MPI}`. With against without: median over the pairs (quartiles).",
        "",
        *table(
            "MPI | what | without | with | with against without | target",
            "{mpi} | {what} | {a} | {b} | {more} | ≤ {target}",
            map(told, rows),
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_mpi(parser)
    parser.add_argument("--network", default="chain:2,2")
    parser.add_argument("--pairs", type=int, default=25)
    parser.add_argument("--batches", type=int, default=50)
    parser.add_argument("--calls", type=int, default=5000)
    options, results = begin(parser, "passed-on", summary)
    network = read_network_description(options.network).build()
    results.heading |= {name: getattr(options, name) for name in ("network", "pairs", "batches", "calls")}
    with tempfile.TemporaryDirectory() as work:
        for mpi in mpis(options):
            program = compiled(mpi, Path(__file__).with_suffix(".c"), Path(work))
            hocket = scheduled_environment(mpi.mpicc, network, RuntimeOptions(placement="order"))
            for case in cases(mpi, program, options):
                without, within = zip(*case.pairs(options.pairs, hocket), strict=True)
                row = {"mpi": mpi.family.value, "what": case.what, "relative": case.relative}
                results.add(row | {"without": without, "with": within})
                print(f"{mpi.family.value}, {case.what}: done", file=sys.stderr)
    print(results.summarise())


if __name__ == "__main__":
    main()
