"""Random permutations of 8-byte elements, candidates in turn: `make bench NAME=permute`.

Candidates alternate in one job; figures are medians of rounds, ratios medians of the rounds' ratios. MP-sort,
which permutes by sorting twice, is measured at the smallest size. Writes bench/results/permute.{csv,md}
as it goes.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import sys
from pathlib import Path
from typing import Final

from hocket.launch.mpi import Mpi, find_mpi

sys.path.insert(0, str(Path(__file__).parents[1]))
from mpi_jobs import run_job
from results_file import Row, begin, cells, grouped, median_ratio, provenance, values

PROGRAM: Final = Path(__file__).with_name("candidates.py")
LIMIT: Final = 150  # seconds, of one job
CANDIDATES: Final = ("chained", "packed", "alltoallv", "take-chained", "take-packed")

Times = dict[str, list[float]]


def measure(mpi: Mpi, ranks: int, megabytes: int, rounds: int, candidates: tuple[str, ...]) -> Times:
    command = [sys.executable, PROGRAM, megabytes, rounds, *candidates]
    done = run_job(mpi, ranks, {}, command, LIMIT)
    times: Times = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    return times


def job_table(megabytes: int, rows: list[Row]) -> list[str]:
    """Throughput as the talk counts it: bytes of elements by time, of all ranks."""
    times = {row["candidate"]: values(row["seconds"]) for row in rows}
    return cells(
        ("candidate", "median s", "min s", "max s", "MB/s", "its time / chained"),
        (
            [
                name,
                *(f"{of(seconds):.3f}" for of in (statistics.median, min, max)),
                f"{megabytes / statistics.median(seconds):.0f}",
                f"{median_ratio(seconds, times['chained']):.2f}",
            ]
            for name, seconds in times.items()
        ),
    )


def summary(heading: Row, rows: list[Row]) -> list[str]:
    lines = [
        "# Random permutations of 8-byte elements",
        "",
        f"{provenance(heading)}, {heading['mpi']}, one host. "
        "Candidates alternate; the first round is not counted.",
    ]
    for (_, ranks, megabytes, rounds), of_job in grouped(rows, "job", "ranks", "megabytes", "rounds").items():
        lines += ["", f"## {megabytes} MB in all, {ranks} ranks, {rounds} rounds", ""]
        lines += job_table(megabytes, of_job)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", default="mpich")
    parser.add_argument("--megabytes", type=int, nargs="*", default=[64, 128, 256, 512])
    parser.add_argument("--ranks", type=int, nargs="*", default=[4, 8], help="beside 2, at 256 MB")
    parser.add_argument("--rounds", type=int, default=5)
    options, results = begin(parser, "permute", summary)
    mpi = find_mpi(options.mpi)
    jobs = [(2, megabytes, options.rounds, CANDIDATES) for megabytes in options.megabytes]
    if importlib.util.find_spec("mpsort"):
        jobs.insert(1, (2, min(options.megabytes), 2, ("chained", "mpsort")))
    else:
        print("mpsort is not installed, and left out: pip install mpsort", file=sys.stderr)
    jobs += [(ranks, 256, options.rounds, CANDIDATES) for ranks in options.ranks]
    results.heading["mpi"] = mpi.family.value
    for number, (ranks, megabytes, rounds, candidates) in enumerate(jobs):
        times = measure(mpi, ranks, megabytes, rounds, candidates)
        job = {"job": number, "ranks": ranks, "megabytes": megabytes, "rounds": rounds}
        results.add(*(job | {"candidate": name, "seconds": seconds} for name, seconds in times.items()))
        print(f"{megabytes} MB, {ranks} ranks: done", flush=True)
    print(results.summarise())


if __name__ == "__main__":
    main()
