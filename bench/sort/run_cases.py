"""Thousands of random cases under MPICH and Open MPI, with hosts of several sizes.

    python bench/sort/run_cases.py [--cases 10000] [--seed 1] [--mpi mpich --mpi PATH/mpirun]

Nine ranks form groups of 1 to 9; what makes one host look like several (HOCKET_SHARED_RANKS) is another for
every job. Stops at the first wrong case and prints how to run it alone. Results go to
bench/results/sort-cases.{csv,md}.
"""

from __future__ import annotations

import argparse
import collections
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import numpy as np

from hocket.launch.mpi import Mpi, launch_command, mpi4py_environment
from hocket.launch.runtime import find_sort

sys.path.insert(0, str(Path(__file__).parents[1]))
from mpi_jobs import add_mpi, mpis
from results_file import Row, begin, cells, pairs, provenance

RANKS: Final = 9
SHARED: Final = (0, 1, 2, 3, 5)  # most ranks of a host; 0: all
LONGEST: Final = 600  # seconds of a job
OF_JOB: Final = ("mpi", "shared_ranks", "first", "cases", "seconds")  # other columns count cases


def run_job(mpi: Mpi, seed: int, first: int, count: int, shared: int) -> Row:
    """Run some cases; ends the program if one is wrong or the ranks crash."""
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
        **json.loads(said.splitlines()[-1]),
    }


def summary(heading: Row, rows: list[Row]) -> list[str]:
    """Summary of the numbers of cases by label."""
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for row in rows:
        for label in (column for column in row if column not in OF_JOB):
            counts[label].update({value: int(count) for value, count in pairs(row[label]).items()})
        counts["MPI"][row["mpi"]] += row["cases"]
        counts["ranks that share memory"][str(row["shared_ranks"] or "all")] += row["cases"]
    return [
        "# Random cases of sorting and permuting",
        "",
        f"{provenance(heading)}, seed {heading['seed']}: "
        f"{counts['MPI'].total():,} cases, each identical byte for byte to "
        "a stable sort, or to indexing, by numpy on one rank.",
        "",
        *cells(
            ("what", "cases"),
            (
                (label, ", ".join(f"{value} {count:,}" for value, count in sorted(of.items())))
                for label, of in counts.items()
            ),
        ),
    ]


def main() -> None:
    """Runs what the command line asks for and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    add_mpi(parser)
    options, results = begin(parser, "sort-cases", summary)
    results.heading |= {"seed": options.seed, "ranks": RANKS}
    for mpi in mpis(options):
        find_sort(mpi.mpicc)
    jobs = [(mpi, shared) for shared in SHARED for mpi in mpis(options)]
    for number, (mpi, shared) in enumerate(jobs):
        first, end = (options.cases * n // len(jobs) for n in (number, number + 1))
        results.add(run_job(mpi, options.seed, first, end - first, shared))
        print(f"{end:,} of {options.cases:,}, {results.rows[-1]['seconds']} s", file=sys.stderr)
    print(results.summarise())


if __name__ == "__main__":
    main()
