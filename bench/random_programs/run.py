"""Random MPI programs with both MPIs, each without and with the preload library: the bytes must be the same.

    python bench/random_programs/run.py [--programs 1000] [--first 1] [--mpi mpich --mpi PATH/mpirun]

A launch runs several programs. What differs is shrunk and printed with a line that runs it again. Finished
launches are kept in a file beside the results; a run that was cut off goes on after them. Results go to
bench/results/.
"""

from __future__ import annotations

import argparse
import datetime
import json
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from hocket.mpi import Mpi, find_mpi  # noqa: E402
from hocket.runtime import build_runtime  # noqa: E402
from random_runs import Launch, alike, compare, compile_programs, shrink  # noqa: E402

Row = dict[str, Any]


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
        "ranks": launch.ranks,
        "network": launch.network,
        "threads": launch.threads,
        "flow": launch.flow,
        "settings": launch.settings,
        "operations": outcome.operations,
        "calls": outcome.calls,
        "failed_natively": outcome.failed_natively,
        "different": failure is not None,
        "seconds": round(time.monotonic() - began, 1),
    }


def table(rows: list[Row]) -> str:
    """Sums for each MPI, and what became of its calls, as Markdown."""
    lines = [
        "| MPI | programs | launches | operations | launches that differ | failed without Hocket, repeated |",
        "|---|---|---|---|---|---|",
    ]
    calls: dict[str, Counter[str]] = {}
    for name in sorted({row["mpi"] for row in rows}):
        of_mpi = [row for row in rows if row["mpi"] == name]
        programs, operations, different, failed = (
            f"{sum(row[key] for row in of_mpi):,}"
            for key in ("programs", "operations", "different", "failed_natively")
        )
        lines.append(f"| {name} | {programs} | {len(of_mpi)} | {operations} | {different} | {failed} |")
        for row in of_mpi:
            for what, count in row["calls"].items():
                call, outcome = what.split(" ")
                calls.setdefault(call, Counter())[outcome] += count
    lines += ["", "| call | scheduled | served by the MPI library |", "|---|---|---|"]
    for call, outcomes in sorted(calls.items()):
        native = ", ".join(f"{why} {n:,}" for why, n in outcomes.most_common() if why != "scheduled")
        lines.append(f"| {call} | {outcomes['scheduled']:,} | {native} |")
    return "\n".join(lines)


def write(rows: list[Row], first: int, output: str) -> None:
    """Raw rows as JSON and sums as Markdown."""
    results = ROOT / "bench/results"
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    document = {"date": date, "first": first, "rows": rows}
    (results / f"{output}.json").write_text(json.dumps(document, indent=1) + "\n")
    last = max(row["first"] + row["programs"] for row in rows) - 1
    settings = ", ".join(sorted({row["network"] for row in rows}))
    flows = ", ".join(sorted({row["flow"] for row in rows}))
    threaded = sum(row["programs"] for row in rows if row["threads"] > 1)
    ranks = [row["ranks"] for row in rows]
    (results / f"{output}.md").write_text(
        f"# Random MPI programs with and without the preload library, {date}\n\n"
        f"`python bench/random_programs/run.py`, seeds {first} to {last}. A launch differs if a rank of one "
        "of its programs received other bytes, another status or error than without it, or did not end.\n\n"
        f"{table(rows)}\n\nCalls: of a rank, in the half of the launches that asked (`--report`). "
        f"Networks: {settings}. Flow control: {flows}. Ranks: {min(ranks)} to {max(ranks)}. "
        f"Programs with several threads: {threaded:,}. The settings of each launch: {output}.json.\n"
    )


def kept_rows(path: Path) -> list[Row]:
    """Of a run that was cut off."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def main() -> None:
    """Runs what the command line asks for and writes the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--first", type=int, default=1, help="seed of the first one")
    parser.add_argument("--launch", type=int, default=25, help="programs of a launch")
    parser.add_argument("--mpi", action="append", help="mpich, openmpi or the path of an mpiexec")
    parser.add_argument("--alone", type=int, help="run one program, with --like and --leave-out")
    parser.add_argument("--like", default="", help="settings, as they are printed where a program differs")
    parser.add_argument("--leave-out", default="", help="numbers of operations, separated by commas")
    parser.add_argument("--export", action="append", default=[], help="NAME=VALUE, in ranks with Hocket")
    parser.add_argument("--no-shrinking", action="store_true")
    parser.add_argument(
        "--output", default="random-programs", help="name under bench/results/, or - for none"
    )
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends what it has launched, too
    mpis = [find_mpi(name) for name in arguments.mpi or ["mpich"]]
    for mpi in mpis:
        build_runtime(mpi.mpicc)
    with tempfile.TemporaryDirectory() as folder:
        programs = {mpi.mpiexec: compile_programs(mpi, Path(folder) / mpi.family.value) for mpi in mpis}
        if arguments.alone is not None:
            left_out = tuple(int(number) for number in arguments.leave_out.split(",") if number)
            launch = alike(arguments.like, arguments.alone, left_out)
            failure, _ = compare(mpis[0], programs[mpis[0].mpiexec], launch, arguments.export)
            sys.exit(str(failure) if failure else "no difference")
        kept = ROOT / "bench/results" / f".{arguments.output}.rows"
        rows = kept_rows(kept)
        done = {(row["mpi"], row["first"]) for row in rows}
        end = arguments.first + arguments.programs
        for first in range(arguments.first, end, arguments.launch):
            launch = Launch.draw(first, min(arguments.launch, end - first))
            for mpi in mpis:
                if (mpi.family.value, first) in done:
                    continue
                program, shrinks = programs[mpi.mpiexec], not arguments.no_shrinking
                rows.append(run_launch(mpi, program, launch, arguments.export, shrinks))
                if arguments.output != "-":
                    with kept.open("a") as file:
                        file.write(json.dumps(rows[-1]) + "\n")
                print(json.dumps({k: v for k, v in rows[-1].items() if k != "settings"}), file=sys.stderr)
    if arguments.output != "-":
        write(rows, arguments.first, arguments.output)
        kept.unlink()
    print(table(rows))
    sys.exit(1 if any(row["different"] for row in rows) else 0)


if __name__ == "__main__":
    main()
