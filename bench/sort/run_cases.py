"""Thousands of random cases under MPICH and Open MPI, with hosts of several sizes.

    python bench/sort/run_cases.py [--cases 10000] [--seed 1] [--mpi mpich --mpi PATH/mpirun]

Nine ranks form groups of 1 to 9; what makes one host look like several (HOCKET_SHARED_RANKS) is another for
every job. Stops at the first wrong case and prints how to run it alone. Results go to bench/results/.
"""

from __future__ import annotations

import argparse
import collections
import datetime
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import numpy as np

from hocket.mpi import Mpi, find_mpi, launch_command, mpi4py_environment
from hocket.runtime import build_runtime

ROOT: Final = Path(__file__).resolve().parents[2]
RANKS: Final = 9
SHARED: Final = (0, 1, 2, 3, 5)  # most ranks of a host; 0: all
LONGEST: Final = 600  # seconds of a job
Row = dict[str, Any]


def run_job(mpi: Mpi, seed: int, first: int, count: int, shared: int) -> Row:
    """Some cases; ends the program if one is wrong or the ranks crash."""
    with tempfile.NamedTemporaryFile(suffix=".log") as log:
        log.write(bytes(16 * RANKS))
        log.flush()
        script = str(Path(__file__).with_name("case_ranks.py"))
        worker = [sys.executable, script, "--seed", str(seed), "--first", str(first), "--count", str(count)]
        env = {"HOCKET_SHARED_RANKS": str(shared), **mpi4py_environment(mpi)}
        began = time.monotonic()
        try:
            done = subprocess.run(
                launch_command(mpi, RANKS, (), env, [*worker, "--log", log.name]),
                stdout=subprocess.PIPE,
                text=True,
                timeout=LONGEST,
                check=False,
            )
            code, said = done.returncode, done.stdout
        except subprocess.TimeoutExpired as late:
            code, said = 124, (late.stdout or b"").decode(errors="replace")
        if code != 0:
            at = np.fromfile(log.name, np.int64).reshape(RANKS, 2)
            where = ", ".join(f"{rank}: case {case} of {size} ranks" for rank, (case, size) in enumerate(at))
            settings = f"{mpi.family.value}, HOCKET_SHARED_RANKS={shared}"
            sys.exit(f"{said}\n{settings}: exit code {code}; ranks were at {where}")
    return {
        "mpi": mpi.family.value,
        "shared_ranks": shared,
        "first": first,
        "cases": count,
        "seconds": round(time.monotonic() - began, 1),
        "labels": json.loads(said.splitlines()[-1]),
    }


def table(rows: list[Row]) -> str:
    """How many cases there were of what, as Markdown."""
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for row in rows:
        for label, values in row["labels"].items():
            counts[label].update(values)
        counts["MPI"][row["mpi"]] += row["cases"]
        counts["ranks that share memory"][str(row["shared_ranks"] or "all")] += row["cases"]
    lines = ["| what | cases |", "|---|---|"]
    for label, values in counts.items():
        told = ", ".join(f"{value} {count:,}" for value, count in sorted(values.items()))
        lines.append(f"| {label} | {told} |")
    return "\n".join(lines)


def write(rows: list[Row], seed: int, output: str) -> None:
    """Raw rows as JSON and sums as Markdown."""
    if output == "-":
        return
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    results = ROOT / "bench/results"
    document = {"date": date, "seed": seed, "ranks": RANKS, "rows": rows}
    (results / f"{output}.json").write_text(json.dumps(document, indent=1) + "\n")
    total = sum(row["cases"] for row in rows)
    text = (
        f"# Random cases of sorting and permuting, {date}\n\n"
        f"`python bench/sort/run_cases.py`, seed {seed}: {total:,} cases, each identical byte for byte to "
        f"a stable sort, or to indexing, by numpy on one rank.\n\n{table(rows)}\n"
    )
    (results / f"{output}.md").write_text(text)


def main() -> None:
    """Runs what the command line asks for and writes the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mpi", action="append", help="mpich, openmpi or the path of an mpiexec")
    parser.add_argument("--output", default="sort-cases", help="name under bench/results/, or - for none")
    arguments = parser.parse_args()
    rows: list[Row] = []
    for name in arguments.mpi or ["mpich"]:
        build_runtime(find_mpi(name).mpicc)
    jobs = [(find_mpi(name), shared) for shared in SHARED for name in arguments.mpi or ["mpich"]]
    for number, (mpi, shared) in enumerate(jobs):
        first, end = (arguments.cases * n // len(jobs) for n in (number, number + 1))
        rows.append(run_job(mpi, arguments.seed, first, end - first, shared))
        print(f"{end:,} of {arguments.cases:,}, {rows[-1]['seconds']} s", file=sys.stderr)
    write(rows, arguments.seed, arguments.output)
    print(table(rows))


if __name__ == "__main__":
    main()
