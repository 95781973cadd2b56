"""Records the cost of every candidate's calls, call by call, in real jobs; replay.py judges policies by these
records.

    python bench/choose/record.py --mpi mpich --place shared --place NETWORK/OPTION=VALUE/… --cell alltoall:32768 …

Places and collectives as in overhead.py. Of each cell one job lets the runtime name its candidates and predict them;
then each candidate serves a whole job of up to --calls calls and --seconds. A call costs the mean of its durations over
the ranks. Cells in which the runtime finds nothing to try are recorded with the library's own calls alone. Writes
bench/results/choice-records.csv; --append keeps other cells. Labs need root.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))
from jobs import CELL, Job, add_cells, measure_cells

from results_file import Row, begin, cells, grouped, provenance, values

NAMED = re.compile(r"predicted milliseconds:((?: \S+ \S+)+)")


def run(
    job: Job, calls: int, variables: dict[str, str] | None, timeout: float
) -> tuple[str, list[float], float]:
    """Standard error, costs of the calls, seconds of an agreement. Without variables: natively."""
    command = job.command(variables is not None, calls)
    environment = os.environ | {"HOCKET_CHOICES": ""} | (variables or {})
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=timeout, check=False
    )
    costs = re.search(r"^costs (.+)$", done.stdout, re.MULTILINE)
    agree = re.search(r"^agree (.+)$", done.stdout, re.MULTILINE)
    if costs is None or agree is None or " right" not in done.stdout:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stderr, [float(one) for one in costs[1].split(";")], float(agree[1])


def record(job: Job, cell: Row, arguments: argparse.Namespace) -> list[Row]:
    """A row for each candidate."""
    _, first, agree = run(job, 2, None, arguments.timeout)
    calls = max(12, min(arguments.calls, int(arguments.seconds / first[-1])))
    said, _, _ = run(job, min(calls, 12), {"HOCKET_CHOOSE": "learn", "HOCKET_LOG": "2"}, arguments.timeout)
    named = NAMED.search(said)
    words = named[1].split() if named else ["native", "nan"]
    native_first = sorted(zip(words[::2], words[1::2], strict=True), key=lambda one: one[0] != "native")
    rows: list[Row] = []
    for name, predicted in native_first:
        variables = None if name == "native" else {"HOCKET_CANDIDATE": name}
        _, costs, agreed = run(job, calls, variables, arguments.timeout)
        agree = agreed if name == "native" else agree
        rows.append(
            cell
            | {
                "candidate": name,
                "predicted": None if name == "native" else float(predicted) / 1e3,
                "agree": agree,
                "costs": costs,
            }
        )
    return rows


def summary(heading: Row, rows: list[Row]) -> list[str]:
    """Median costs, a line a cell."""
    told = []
    for key, of in grouped(rows, *CELL).items():
        of_native, *others = (median(values(row["costs"])) for row in of)
        best = min(range(len(others)), key=others.__getitem__, default=None)
        name, gain = (
            ("-", "") if best is None else (of[best + 1]["candidate"], f"{of_native / others[best]:.2f}")
        )
        told.append([*key, len(values(of[0]["costs"])), f"{of_native * 1e3:.3g}", len(others), name, gain])
    head = [*CELL, "calls", "native, ms", "other candidates", "fastest of them", "times as fast"]
    return ["# Records of candidates", "", f"{provenance(heading)}.", "", *cells(head, told)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_cells(parser)
    parser.add_argument("--calls", type=int, default=200, help="in a job, at most")
    parser.add_argument("--seconds", type=float, default=10, help="of a native job, at most")
    arguments, results = begin(parser, "choice-records", summary)
    measure_cells(arguments, results, lambda job, cell: record(job, cell, arguments))


if __name__ == "__main__":
    main()
