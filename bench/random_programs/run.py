"""Random MPI programs with both MPIs, each without and with the preload library: the bytes must be the same.

    python bench/random_programs/run.py [--programs 1000] [--first 1] [--mpi mpich --mpi PATH/mpirun]

A launch runs several programs. What differs is shrunk and printed with a line that runs it again. Finished
launches are kept in a file beside the results; a run that was cut off goes on after them. Results go to
bench/results/random-programs.{csv,md}.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from hocket.launch.mpi import Mpi
from hocket.launch.runtime import build_runtime
from hocket.system.text import picked

sys.path.extend([str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "tests")])
from mpi_jobs import add_mpi, mpis
from random_runs import Launch, alike, compare, compile_command, shrink
from results_file import Block, Row, begin, cells, grouped, pairs, provenance, read, write


def run_launch(mpi: Mpi, program: Path, launch: Launch, exports: list[str], shrinks: bool) -> Row:
    """Compares, and tells on standard error what differs."""
    began = time.monotonic()
    failure, outcome = compare(mpi, program, launch, exports)
    if failure:
        print(shrink(failure, program, exports) if shrinks else failure, file=sys.stderr, flush=True)
    return {
        "mpi": mpi.family.value,
        "first": launch.first,
        "programs": outcome.compared,
        **picked(launch, "ranks", "network", "threads", "flow"),
        **picked(outcome, "operations", "calls", "failed_natively"),
        "different": failure is not None,
        "seconds": round(time.monotonic() - began, 1),
        **launch.settings,
    }


def calls_of(rows: list[Row]) -> list[tuple[str, str, str]]:
    """Outcomes of the calls: call, number scheduled, numbers served by the MPI library."""
    calls: dict[str, Counter[str]] = {}
    for row in rows:
        for what, count in pairs(row["calls"]).items():
            call, outcome = what.split(" ")
            calls.setdefault(call, Counter())[outcome] += int(count)
    found = []
    for call, outcomes in sorted(calls.items()):
        native = ", ".join(f"{why} {n:,}" for why, n in outcomes.most_common() if why != "scheduled")
        found.append((call, f"{outcomes['scheduled']:,}", native))
    return found


def summary(heading: Row, rows: list[Row]) -> list[Block]:
    """Sums for each MPI, and what became of its calls."""
    sums = []
    for name, of in sorted(grouped(rows, "mpi").items()):
        programs, *others = (
            f"{sum(row[key] for row in of):,}"
            for key in ("programs", "operations", "different", "failed_natively")
        )
        sums.append((name, programs, len(of), *others))
    columns = ("MPI", "programs", "launches", "operations", "launches that differ")
    last = max(row["first"] + row["programs"] for row in rows) - 1
    networks, flows = (", ".join(sorted(grouped(rows, key))) for key in ("network", "flow"))
    threaded = sum(row["programs"] for row in rows if row["threads"] > 1)
    ranks = [row["ranks"] for row in rows]
    return [
        "# Random MPI programs with and without the preload library",
        f"{provenance(heading)}, seeds {heading['first']} to {last}. A launch differs if a rank of one "
        "of its programs received other bytes, another status or error than without it, or did not end.",
        cells([*columns, "failed without Hocket, repeated"], sums),
        cells(("call", "scheduled", "served by the MPI library"), calls_of(rows)),
        "Calls: of a rank, in the half of the launches that asked (`--report`). "
        f"Networks: {networks}. Flow control: {flows}. Ranks: {min(ranks)} to {max(ranks)}. "
        f"Programs with several threads: {threaded:,}. The settings of each launch: the CSV file.",
    ]


def compiled(mpi: Mpi, out: Path) -> Path:
    """The generator of programs."""
    subprocess.run([*compile_command(mpi), "-o", str(out)], check=True, timeout=300)
    return out


def main() -> None:
    """Runs what the command line asks for and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--first", type=int, default=1, help="seed of the first one")
    parser.add_argument("--launch", type=int, default=25, help="programs of a launch")
    add_mpi(parser)
    parser.add_argument("--alone", type=int, help="run one program, with --like and --leave-out")
    parser.add_argument("--like", default="", help="settings, as they are printed where a program differs")
    parser.add_argument("--leave-out", default="", help="numbers of operations, separated by commas")
    parser.add_argument("--export", action="append", default=[], help="NAME=VALUE, in ranks with Hocket")
    parser.add_argument("--no-shrinking", action="store_true")
    arguments, results = begin(parser, "random-programs", summary)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends what it has launched, too
    found = mpis(arguments)
    for mpi in found:
        build_runtime(mpi.mpicc)
    with tempfile.TemporaryDirectory() as folder:
        programs = {mpi.mpiexec: compiled(mpi, Path(folder) / mpi.family.value) for mpi in found}
        if arguments.alone is not None:
            left_out = tuple(int(number) for number in arguments.leave_out.split(",") if number)
            launch = alike(arguments.like, arguments.alone, left_out)
            failure, _ = compare(found[0], programs[found[0].mpiexec], launch, arguments.export)
            sys.exit(str(failure) if failure else "no difference")
        kept = arguments.output.with_name(f".{arguments.output.stem}.rows")
        results.rows = read(kept)[1] if kept.exists() else []
        done = {(row["mpi"], row["first"]) for row in results.rows}
        end = arguments.first + arguments.programs
        for first in range(arguments.first, end, arguments.launch):
            launch = Launch.draw(first, min(arguments.launch, end - first))
            for mpi in found:
                if (mpi.family.value, first) in done:
                    continue
                program, shrinks = programs[mpi.mpiexec], not arguments.no_shrinking
                row = run_launch(mpi, program, launch, arguments.export, shrinks)
                results.rows.append(row)
                write(kept, {}, results.rows)
                print(row, file=sys.stderr)
    results.heading["first"] = arguments.first
    results.add()
    kept.unlink()
    print(results.summarise())
    sys.exit(1 if any(row["different"] for row in results.rows) else 0)


if __name__ == "__main__":
    main()
