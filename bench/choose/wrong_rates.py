"""Measures jobs whose network file states wrong host rates, beside the right file and no Hocket.

    python bench/choose/wrong_rates.py --mpi mpich --said 1Mbit --said 10Gbit [--calls 30] [--jobs 3]

All-gathers of 32 KB in the lab: two switches with 4 hosts each, 50 Mbit/s, ranks at random. The job's
variables are those of `hocket env --network chain:4,4@RATE`. Writes bench/results/wrong-rates.{csv,md}. Needs root.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from hocket.launch.mpi import Mpi

sys.path.insert(0, str(Path(__file__).parents[1]))
from jobs import HOCKET, PROGRAM, scheduling_variables

from mpi_jobs import add_mpi, compiled, mpis
from results_file import Row, begin, cells, provenance, values

NETWORK, RATE = "chain:4,4", "50Mbit"
CELL = ("allgather", "32768")
NATIVE = "without Hocket"


def job(mpi: Mpi, program: Path, said: str, calls: int) -> tuple[float, str]:
    """Seconds of all calls, and what the ranks have measured in place of ``said``."""
    variables: dict[str, str] = {}
    if said != NATIVE:
        variables = scheduling_variables(f"{NETWORK}@{said}", mpi.mpiexec, placement="names")
        variables |= {"HOCKET_CHOICES": "", "HOCKET_LOG": "1"}
    lab = [*HOCKET, "lab", "run", "--network", NETWORK, f"--rate={RATE}", "--shuffle=1", "--mpi", mpi.mpiexec]
    command = [*lab, "--native", "env", *(f"{name}={value}" for name, value in variables.items())]
    done = subprocess.run(
        [*command, str(program), *CELL, str(calls)],
        capture_output=True, text=True, env=os.environ, timeout=120, check=False,
    )  # fmt: skip
    total = re.search(r"^total ([\d.]+) right$", done.stdout, re.MULTILINE)
    if total is None:
        sys.exit(f"{said}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    measured = re.search(r"measured with (.+), which counts", done.stderr)
    return float(total[1]), measured[1] if measured else ""


def summary(heading: Row, rows: list[Row]) -> list[str]:
    told = [
        [row["mpi"], row["said"], f"{median(values(row['seconds'])):.2f}", row["measured"] or "-"]
        for row in rows
    ]
    return [
        "# Network files that say wrongly how fast hosts are",
        "",
        f"{provenance(heading)}.",
        "",
        f"Lab: two switches with 4 hosts each, {RATE} a host, ranks at random; all-gathers of 32 KB, default settings,",
        "nothing kept. Seconds of all calls of a job, median of the jobs; what the ranks measured in the last of them.",
        "",
        *cells(["MPI", "said of a host", "seconds", "measured"], told),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_mpi(parser)
    parser.add_argument("--said", action="append", metavar="RATE")
    parser.add_argument("--calls", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=3, help="of each, in turn")
    arguments, results = begin(parser, "wrong-rates", summary)
    said = [NATIVE, RATE, *(arguments.said or ["1Mbit", "10Gbit"])]
    with tempfile.TemporaryDirectory() as directory:
        for mpi in mpis(arguments):
            program = compiled(mpi, PROGRAM, Path(directory))
            jobs = [
                (one, job(mpi, program, one, arguments.calls)) for _ in range(arguments.jobs) for one in said
            ]
            for one in said:
                found = [result for of, result in jobs if of == one]
                seconds = [total for total, _ in found]
                results.add(
                    {"mpi": mpi.family.value, "said": one, "seconds": seconds, "measured": found[-1][1]}
                )


if __name__ == "__main__":
    main()
