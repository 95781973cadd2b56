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
import re
import sys
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))
from jobs import CELL, Job, Told, add_cells, measure_cells

from results_file import Block, Row, begin, cells, grouped, provenance, values

NAMED = re.compile(r"predicted milliseconds:((?: \S+ \S+)+)")


def record(job: Job, cell: Row, arguments: argparse.Namespace) -> list[Row]:
    """A row for each candidate."""

    def run(calls: int, variables: dict[str, str] | None) -> Told:
        """Without variables: natively."""
        environment = {"HOCKET_CHOICES": "", **(variables or {})}
        return job.run(variables is not None, calls, environment, arguments.timeout)

    _, first, agree, _ = run(2, None)
    calls = max(12, min(arguments.calls, int(arguments.seconds / first[-1])))
    named = NAMED.search(run(min(calls, 12), {"HOCKET_CHOOSE": "learn", "HOCKET_LOG": "2"}).log)
    words = named[1].split() if named else ["native", "nan"]
    native_first = sorted(zip(words[::2], words[1::2], strict=True), key=lambda one: one[0] != "native")
    rows: list[Row] = []
    for name, predicted in native_first:
        variables = None if name == "native" else {"HOCKET_CHOOSE": name}
        told = run(calls, variables)
        agree = told.agree if name == "native" else agree
        seconds = None if name == "native" else float(predicted) / 1e3
        rows.append(cell | {"candidate": name, "predicted": seconds, "agree": agree, "costs": told.costs})
    return rows


def summary(heading: Row, rows: list[Row]) -> list[Block]:
    """Median costs, a line a cell."""
    told = []
    for key, of in grouped(rows, *CELL).items():
        of_native, *others = (median(values(row["costs"])) for row in of)
        best = min(range(len(others)), key=others.__getitem__, default=None)
        name, gain = "-", ""
        if best is not None:
            name, gain = of[best + 1]["candidate"], f"{of_native / others[best]:.2f}"
        told.append([*key, len(values(of[0]["costs"])), f"{of_native * 1e3:.3g}", len(others), name, gain])
    head = [*CELL, "calls", "native, ms", "other candidates", "fastest of them", "times as fast"]
    return ["# Records of candidates", f"{provenance(heading)}.", cells(head, told)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_cells(parser)
    parser.add_argument("--calls", type=int, default=200, help="in a job, at most")
    parser.add_argument("--seconds", type=float, default=10, help="of a native job, at most")
    arguments, results = begin(parser, "choice-records", summary)
    measure_cells(arguments, results, lambda job, cell: record(job, cell, arguments))


if __name__ == "__main__":
    main()
