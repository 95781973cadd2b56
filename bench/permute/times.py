"""Random permutations of 8-byte elements, candidates in turn: `make bench-permute`.

Candidates alternate in one job; figures are medians of rounds, ratios medians of the rounds' ratios. MP-sort,
which permutes by sorting twice, is measured at the smallest size. Writes bench/results/permute.json and
permute.md as it goes.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from hocket.mpi import Mpi, find_mpi, launch_command

RESULTS: Final = Path(__file__).parents[1] / "results"
PROGRAM: Final = Path(__file__).with_name("candidates.py")
LIMIT: Final = 150  # seconds, of one job
CANDIDATES: Final = ("chained", "packed", "alltoallv", "take-chained", "take-packed")

Times = dict[str, list[float]]


def measure(mpi: Mpi, ranks: int, megabytes: int, rounds: int, candidates: tuple[str, ...]) -> Times:
    argv = [sys.executable, str(PROGRAM), str(megabytes), str(rounds), *candidates]
    done = subprocess.run(
        launch_command(mpi, ranks, [], {}, argv), stdout=subprocess.PIPE, text=True, check=True, timeout=LIMIT
    )
    times: Times = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    return times


def table(times: Times, megabytes: int) -> Iterator[str]:
    """Throughput as the talk counts it: bytes of elements by time, of all ranks."""
    yield "| candidate | median s | min s | max s | MB/s | its time / chained |"
    yield "|---|---|---|---|---|---|"
    for name, seconds in times.items():
        ratio = statistics.median(t / own for t, own in zip(seconds, times["chained"], strict=True))
        figures = [f"{f(seconds):.3f}" for f in (statistics.median, min, max)]
        figures.append(f"{megabytes / statistics.median(seconds):.0f}")
        yield f"| {name} | {' | '.join(figures)} | {ratio:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", default="mpich")
    parser.add_argument("--megabytes", type=int, nargs="*", default=[64, 128, 256, 512])
    parser.add_argument("--ranks", type=int, nargs="*", default=[4, 8], help="beside 2, at 256 MB")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    mpi = find_mpi(arguments.mpi)
    jobs = [(2, megabytes, arguments.rounds, CANDIDATES) for megabytes in arguments.megabytes]
    if importlib.util.find_spec("mpsort"):
        jobs.insert(1, (2, min(arguments.megabytes), 2, ("chained", "mpsort")))
    else:
        print("mpsort is not installed, and left out: pip install mpsort", file=sys.stderr)
    jobs += [(ranks, 256, arguments.rounds, CANDIDATES) for ranks in arguments.ranks]
    settings = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "mpi": str(mpi.family.value),
    }
    text = [
        "# Random permutations of 8-byte elements",
        "",
        f"`make bench-permute`, {settings['date']}, {settings['machine']}, {settings['mpi']}, one host. "
        "Candidates alternate; the first round is not counted.",
    ]
    rows = []
    for ranks, megabytes, rounds, candidates in jobs:
        times = measure(mpi, ranks, megabytes, rounds, candidates)
        rows.append({"ranks": ranks, "megabytes": megabytes, "seconds": times})
        part = ["", f"## {megabytes} MB in all, {ranks} ranks, {rounds} rounds", "", *table(times, megabytes)]
        text += part
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "permute.json").write_text(
            json.dumps({"settings": settings, "jobs": rows}, indent=1) + "\n"
        )
        (RESULTS / "permute.md").write_text("\n".join(text) + "\n")
        print("\n".join(part), flush=True)


if __name__ == "__main__":
    main()
