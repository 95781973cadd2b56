"""Random plans of all collectives, networks, algorithms and sizes: is what is shown what is saved, proven and run?

    python bench/planner/agreement.py [--cases 2000] [--first 1]

Each case is planned by ``hocket plan -o``, proven by ``hocket verify``, carried out by its rank programs in two random
orders, and looked up in the runtime's plan store as a rank does: by its file, and without one
(tests/plan_agreement.py).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from hocket.launch.mpi import find_mpi

sys.path.extend([str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "tests")])
from plan_agreement import check, draw, run_cases
from plan_store_program import compile_command
from results_file import Row, begin, cells, grouped, provenance

BATCH = 50  # cases whose files are there at the same time


def batch(first: int, count: int, store: Path) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="hocket-agreement-") as name:
        folder = Path(name)
        outcomes = [check(draw(seed, folder), folder) for seed in range(first, first + count)]
        run_cases(outcomes, store, folder)
        for one in outcomes:
            yield {
                "seed": one.case.seed,
                "collective": one.case.collective,
                "family": one.case.family,
                "asked_algorithm": one.case.algorithm,
                "algorithm": one.algorithm,
                "ports": one.case.ports or "chosen",
                "bytes": one.case.size,
                "saved": one.plan is not None,
                "refused": one.refused,
                "asked_of_runtime": one.asked,
                "wrong": "; ".join(one.wrong).replace(str(folder), "FOLDER"),
            }


def summary(heading: Row, rows: list[Row]) -> Iterator[str]:
    yield "# Plans shown, saved, proven and run"
    yield ""
    wrong = [row for row in rows if row["wrong"]]
    yield (
        f"{provenance(heading)}, {heading['seconds']} s. {len(rows):,} random cases from 1 byte on: in {len(wrong)} "
        "`plan -o`, `verify`, the rank programs carried out in random order, the bounds and what ranks run do not "
        "agree. Refused: schedules that make no promise (as libraries order messages) whose messages meet; no file is "
        "written of them."
    )
    for title, column in (("collective", "collective"), ("network", "family"), ("ports", "ports")):
        yield ""
        yield from cells(
            [title, "cases", "saved and proven", "refused", "programs asked of the runtime", "do not agree"],
            (
                [
                    name, len(some), sum(row["saved"] for row in some), sum(row["refused"] for row in some),
                    sum(row["asked_of_runtime"] for row in some), sum(1 for row in some if row["wrong"]),
                ]
                for name, some in sorted(grouped(rows, column).items())
            ),
        )  # fmt: skip
    if wrong:
        yield ""
        yield from (f"- seed {row['seed']}: {row['wrong']}" for row in wrong)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--first", type=int, default=1, help="seed of the first case")
    parser.add_argument("--mpi", default="mpich", help="whose mpicc compiles the plan store")
    options, results = begin(parser, "plan-agreement", summary)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hocket-agreement-") as name:
        store = Path(name) / "plan_store"
        subprocess.run([*compile_command(find_mpi(options.mpi).mpicc), "-o", str(store)], check=True)
        for first in range(options.first, options.first + options.cases, BATCH):
            count = min(BATCH, options.first + options.cases - first)
            results.heading["seconds"] = round(time.monotonic() - began)
            results.add(*batch(first, count, store))
    if any(row["wrong"] for row in results.rows):
        raise SystemExit("there are cases that do not agree")


if __name__ == "__main__":
    main()
