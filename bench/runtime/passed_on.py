"""What Hocket costs where it does not help: calls that are passed on, and programs that never need it.

    python bench/runtime/passed_on.py [--mpi mpich --mpi PATH/mpirun] [--pairs 25]

Pairs of the same job without and with the preload library, in turn, each first in every second pair: two
ranks on this host that call MPI_Alltoall with 8 bytes, a plan set; MPI_Init and MPI_Finalize; a program
without MPI.
For a machine that does nothing else. Writes bench/results/passed-on.{json,md}.
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
from statistics import median, quantiles
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parents[1] / "irregular"))
from records import keep, measured

from hocket.mpi import Mpi, find_mpi, launch_command
from hocket.network import read_network_description
from hocket.runtime import RuntimeOptions, scheduled_environment

ROOT: Final = Path(__file__).resolve().parents[2]
COMMAND: Final = shlex.join(["python", *sys.argv]).replace(f"{ROOT}/", "")
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
    """Something done without and with Hocket."""

    what: str
    measure: Measure
    relative: bool  # what counts: the ratio, or the difference

    def pairs(self, count: int, hocket: Mapping[str, str]) -> list[Pair]:
        self.measure({}), self.measure(hocket)  # files into memory
        found: list[Pair] = []
        for i in range(count):
            if i % 2:
                with_hocket = self.measure(hocket)
                found.append((self.measure({}), with_hocket))
            else:
                native = self.measure({})
                found.append((native, self.measure(hocket)))
        return found


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


def added(case: dict[str, Any]) -> tuple[list[float], str, float]:
    """The ratios or differences of the pairs, their unit, and the most they should be in the middle."""
    if case["relative"]:
        return [b / a for a, b in case["pairs"]], "×", TARGET_RATIO
    return [1e3 * (b - a) for a, b in case["pairs"]], "ms", 1e3 * TARGET_SECONDS


def table(report: dict[str, Any]) -> str:
    lines = [
        "# What Hocket costs where it does not help",
        "",
        f"`{report['command']}`, {report['date']}, {report['machine']}, Python {report['python']}.",
        f"{report['pairs']} pairs of jobs in turn, without and with the preload library",
        f"({report['network']}, a plan set). 8-byte all-to-all: {RANKS} ranks on one host;",
        f"a job's figure is the median of {report['batches']} batches of {report['calls']} calls.",
        f"Init and finalize: {RANKS} ranks that call nothing else, launcher included. No MPI:",
        f"`{NO_MPI}`. With against without: median over the pairs (quartiles).",
        "",
        "| MPI | what | without | with | with against without | target |",
        "|---|---|---|---|---|---|",
    ]
    for case in report["cases"]:
        values, unit, target = added(case)
        low, middle, high = quantiles(values, n=4)
        scale, of_scale = (1e6, "µs") if case["relative"] else (1e3, "ms")
        plain = [f"{scale * median(column):.3f} {of_scale}" for column in zip(*case["pairs"], strict=True)]
        digits = 3 if case["relative"] else 2
        ratio = f"{middle:.{digits}f} ({low:.{digits}f}–{high:.{digits}f}) {unit}"
        lines.append(
            f"| {case['mpi']} | {case['what']} | {plain[0]} | {plain[1]} | {ratio} | ≤ {target:g} {unit} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mpi", action="append", help="mpich, openmpi or the path of an mpiexec")
    parser.add_argument("--network", default="chain:2,2")
    parser.add_argument("--pairs", type=int, default=25)
    parser.add_argument("--batches", type=int, default=50)
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--output", default="passed-on", help="name under bench/results/, or - for none")
    options = parser.parse_args()
    network = read_network_description(options.network).build()
    report = measured(COMMAND)
    report |= {name: getattr(options, name) for name in ("network", "pairs", "batches", "calls")}
    report["cases"] = []
    with tempfile.TemporaryDirectory() as work:
        for name in options.mpi or ["mpich"]:
            mpi = find_mpi(name)
            program = Path(work) / f"passed-on-{mpi.family.value}"
            source = Path(__file__).with_suffix(".c")
            subprocess.run([mpi.mpicc, "-O2", str(source), "-o", str(program)], check=True)
            hocket = scheduled_environment(mpi.mpicc, network, RuntimeOptions(placement="order"))
            for case in cases(mpi, program, options):
                pairs = case.pairs(options.pairs, hocket)
                report["cases"].append(
                    {"mpi": mpi.family.value, "what": case.what, "relative": case.relative, "pairs": pairs}
                )
                if options.output != "-":
                    keep(options.output, report, table)
                print(f"{mpi.family.value}, {case.what}: done", file=sys.stderr)
    print(table(report))


if __name__ == "__main__":
    main()
