"""What every candidate's calls cost, call by call, in real jobs: the records that replay.py judges policies by.

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
import tempfile
from pathlib import Path
from statistics import median

from hocket.mpi import Mpi

sys.path.insert(0, str(Path(__file__).parents[1]))
from jobs import PROGRAM, Place

from mpi_jobs import add_mpi, compiled, mpis
from results_file import Row, begin, cells, grouped, provenance, read, values

CELL = ("place", "mpi", "collective", "bytes")
NAMED = re.compile(r"predicted milliseconds:((?: \S+ \S+)+)")


class Job:
    """Runs the program at one place with one MPI."""

    def __init__(self, place: Place, mpi: Mpi, program: Path, what: list[object], timeout: float) -> None:
        self.place, self.mpi, self.program, self.what, self.timeout = place, mpi, program, what, timeout

    def run(self, calls: int, variables: dict[str, str] | None) -> tuple[str, list[float], float]:
        """Standard error, costs of the calls, seconds of an agreement. Without variables: natively."""
        program = [str(self.program), *map(str, self.what), str(calls)]
        command = self.place.command(self.mpi, variables is not None, program)
        environment = os.environ | {"HOCKET_CHOICES": ""} | (variables or {})
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, timeout=self.timeout, check=False
        )
        costs = re.search(r"^costs (.+)$", done.stdout, re.MULTILINE)
        agree = re.search(r"^agree (.+)$", done.stdout, re.MULTILINE)
        if costs is None or agree is None or " right" not in done.stdout:
            sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stderr, [float(one) for one in costs[1].split(";")], float(agree[1])


def record(job: Job, cell: Row, arguments: argparse.Namespace) -> list[Row]:
    """A row for each candidate."""
    _, first, agree = job.run(2, None)
    calls = max(12, min(arguments.calls, int(arguments.seconds / first[-1])))
    said, _, _ = job.run(min(calls, 12), {"HOCKET_CHOOSE": "learn", "HOCKET_LOG": "2"})
    named = NAMED.search(said)
    words = named[1].split() if named else ["native", "nan"]
    rows: list[Row] = []
    for name, predicted in zip(words[::2], words[1::2], strict=True):
        variables = None if name == "native" else {"HOCKET_CANDIDATE": name}
        _, costs, agreed = job.run(calls, variables)
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
    add_mpi(parser)
    parser.add_argument("--place", action="append", help="shared, or NETWORK/OPTION=VALUE/… of a lab")
    parser.add_argument("--cell", action="append", metavar="COLLECTIVE:BYTES")
    parser.add_argument("--calls", type=int, default=200, help="in a job, at most")
    parser.add_argument("--seconds", type=float, default=10, help="of a native job, at most")
    parser.add_argument("--timeout", type=float, default=300, help="seconds a job")
    parser.add_argument("--append", action="store_true", help="keep other cells that the file has")
    arguments, results = begin(parser, "choice-records", summary)
    if arguments.append and results.path.exists():
        before, results.rows = read(results.path)
        results.heading["command"] = f"{before['command']}; {results.heading['command']}"
    with tempfile.TemporaryDirectory(prefix="hocket-bench-") as work:
        for mpi in mpis(arguments):
            program = compiled(mpi, PROGRAM, Path(work))
            for place in map(Place.parse, arguments.place or ["shared"]):
                for text in arguments.cell or ["alltoall:32768", "allgather:32768"]:
                    collective, _, size = text.partition(":")
                    cell = dict(zip(CELL, (str(place), mpi.family.value, collective, int(size)), strict=True))
                    results.rows = [row for row in results.rows if any(row[key] != cell[key] for key in cell)]
                    job = Job(place, mpi, program, [collective, size], arguments.timeout)
                    results.add(*record(job, cell, arguments))
                    print(f"{place} {mpi.family.value} {collective} {size}", file=sys.stderr)


if __name__ == "__main__":
    main()
