"""Measures the cost or gain of switching Hocket on: total times of a number of calls, learning included.

    python bench/choose/overhead.py --mpi mpich [--place shared] [--place NETWORK/OPTION=VALUE/…]
        [--cell alltoall:65536] [--calls 200] [--pairs 5] [--seconds 20]

A place is shared memory or a lab, with options of `hocket lab run`, such as chain:4,4*2/rate=50Mbit/shuffle=1. Dense
and sparse are MPI_Alltoallv with messages of half to one and a half times the size, and with one message in four;
changing is an all-to-all whose messages have the size, half of it, and so on down to a 32nd, in turn; allreduce and
bcast have vectors of the size, reduce_scatter blocks of it.
Each cell (place, collective, size, MPI) runs jobs in pairs, native and with Hocket, in turn; nothing is known
from before (`first`); --again: a second job with Hocket uses what the first has kept; --forced: a schedule serves all
calls, as nobody gets it without asking; --control: a second native job shows what chance does to such ratios. Labs need
root.
Fewer calls are made where as many would take longer than --seconds natively, and more pairs where --pairs take less
than --cell-seconds. Raw totals and medians of ratios go to
bench/results/overhead.{csv,md}, or another --output.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import tempfile
import time
from operator import itemgetter
from pathlib import Path
from statistics import fmean, median, stdev

sys.path.insert(0, str(Path(__file__).parents[1]))
from jobs import CELL, Job, add_cells, measure_cells

from results_file import Block, Row, alternating, begin, cells, grouped, provenance, quartiles, values

PROBE_CALLS = 10  # how long a call takes, connections opened, to know how many fit
LEAST_CALLS = 24  # of a job, unless fewer are asked for
MOST = 1.05  # times the native total that a job may take


def run(job: Job, calls: int, kept: Path | None, timeout: float, choose: str = "learn") -> float:
    """Seconds of all calls. ``kept``: where the run with Hocket keeps what it learns; None: natively."""
    environment = {"HOCKET_CHOICES": str(kept), "HOCKET_CHOOSE": choose} if kept else {}
    return job.run(kept is not None, calls, environment, timeout).total


def measure(job: Job, cell: Row, arguments: argparse.Namespace) -> Row:
    """Measure the pairs of a cell: seconds of the native job and of the others."""
    calls = arguments.calls
    if calls > LEAST_CALLS:
        per_call = run(job, PROBE_CALLS, None, arguments.timeout) / PROBE_CALLS
        calls = min(calls, max(LEAST_CALLS, int(arguments.seconds / per_call)))
    candidates = ["native", "first"]
    candidates += [name for name in ("again", "forced", "control") if getattr(arguments, name)]
    took: dict[str, list[float]] = {name: [] for name in candidates}
    began = time.monotonic()
    for pair in itertools.count():
        if pair >= arguments.pairs and time.monotonic() - began >= arguments.cell_seconds:
            break
        with tempfile.TemporaryDirectory(prefix="hocket-bench-") as directory:
            for candidate in alternating(candidates, pair):
                # Kept timings come from the run before; in backward turns that run is made first, untimed.
                kept = None if candidate in ("native", "control") else Path(directory) / candidate
                if candidate == "again":
                    run(job, calls, kept, arguments.timeout)
                choose = "off" if candidate == "forced" else "learn"
                took[candidate].append(run(job, calls, kept, arguments.timeout, choose))
    return cell | {"calls": calls} | took


def ratios(row: Row, candidate: str) -> list[float]:
    """Ratio to native of each pair."""
    took = values(row.get(candidate))
    return [one / native for one, native in zip(took, values(row["native"]), strict=True)] if took else []


def against_chance(rows: list[Row]) -> list[Block]:
    """All cells of one size together, beside what chance does."""

    def mean(of: list[Row], candidate: str) -> str:
        logs = [math.log(ratio) for row in of for ratio in ratios(row, candidate)]
        return f"{math.exp(fmean(logs)):.2f} ± {math.exp(fmean(logs)) * stdev(logs) / len(logs) ** 0.5:.2f}"

    controlled = [row for row in rows if row.get("control") is not None]
    told = [
        [*key, sum(len(ratios(row, "first")) for row in of), mean(of, "first"), mean(of, "control")]
        for key, of in grouped(controlled, "place", "mpi", "bytes").items()
    ]
    if not told:
        return []
    return [
        "## Against chance",
        cells(["place", "MPI", "bytes", "pairs", "first job / native", "native / native"], told),
        "Geometric means over the pairs of all collectives, with standard errors.",
    ]


def summary(heading: Row, rows: list[Row]) -> list[Block]:
    """Medians per cell, and how many keep the promise."""
    told, medians = [], []
    for row in sorted(rows, key=itemgetter(*CELL)):
        first, *others = (ratios(row, candidate) for candidate in ("first", "again", "forced", "control"))
        medians.append(median(first))
        shown = (quartiles(of) if of else "" for of in (first, *others))
        verdict = "" if median(first) <= MOST else "missed"
        told.append([*(row[name] for name in CELL), row["calls"], len(first), *shown, verdict])
    kept = sum(value <= MOST for value in medians)
    return [
        "# Overhead",
        f"{provenance(heading)}.",
        f"{kept} of {len(medians)} cells at most {MOST} times the native total, the highest {max(medians):.3f}.",
        cells(
            ["place", "MPI", "collective", "bytes", "calls", "pairs", "first job / native", "second job / native",
             "forced / native", "native / native", f"target {MOST}"],
            told,
        ),
        "Total time of all calls of a job with Hocket over that of a native job, median (quartiles) of alternating\n"
        "pairs. First job: nothing is known; what it takes to load the runtime, to meet, to plan and to try counts.\n"
        "Second job: with what the first has kept. Forced: a schedule serves all calls (`HOCKET_CHOOSE=off`), for\n"
        "comparison. Native over native: what chance alone does to such ratios. Ranks in shared memory stand for\n"
        "hosts, more of them than cores.",
        *against_chance(rows),
    ]  # fmt: skip


def main() -> None:
    """Measures what the command line asks for and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_cells(parser)
    parser.add_argument("--calls", type=int, default=200, help="in a job, at most")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--again", action="store_true", help="also a second job, with what the first kept")
    parser.add_argument("--forced", action="store_true", help="also a job whose calls all go by a schedule")
    parser.add_argument("--control", action="store_true", help="also a second native job")
    parser.add_argument("--cell-seconds", type=float, default=0, help="more pairs until this time is over")
    parser.add_argument("--seconds", type=float, default=20, help="of a native job, at most")
    arguments, results = begin(parser, "overhead", summary)
    measure_cells(arguments, results, lambda job, cell: [measure(job, cell, arguments)])


if __name__ == "__main__":
    main()
