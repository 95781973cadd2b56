"""Sorting 10^8 keys against others, by distribution, and step by step against the model: `make bench-sort`.

Candidates alternate in one job; figures are medians of rounds. Writes bench/results/sort.json and sort.md
as it goes.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from hocket.mpi import Mpi, find_mpi, launch_command

RESULTS: Final = Path(__file__).parents[1] / "results"
SORTERS: Final = Path(__file__).with_name("sorters.py")
DISTRIBUTIONS: Final = ("uniform", "zipf", "equal", "sorted", "reversed")
LIMIT: Final = 300  # seconds, of one job

Rows = dict[str, dict[str, Any]]


def measure(mpi: Mpi, ranks: int, elements: float, rounds: int, candidates: list[str]) -> Rows:
    argv = [sys.executable, str(SORTERS), str(elements), str(rounds), *candidates]
    done = subprocess.run(
        launch_command(mpi, ranks, [], {}, argv), stdout=subprocess.PIPE, text=True, check=True, timeout=LIMIT
    )
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {row.pop("candidate"): row for row in rows}


def times_faster(rows: Rows, name: str, other: str) -> float:
    """Median over the rounds of how much longer the other one takes."""
    pairs = zip(rows[name]["seconds"], rows[other]["seconds"], strict=True)
    return statistics.median(theirs / own for own, theirs in pairs)


def against_others(rows: Rows, others: list[str]) -> Iterator[str]:
    yield "| sorter | median s | min s | max s | " + " | ".join(f"{other} / it" for other in others) + " |"
    yield "|---|" + "---|" * (3 + len(others))
    for name, row in rows.items():
        own = row["seconds"]
        ratios = [f"{times_faster(rows, name, f'{other}:uniform'):.2f}" for other in others]
        figures = [f"{f(own):.3f}" for f in (statistics.median, min, max)]
        yield f"| {name.partition(':')[0]} | " + " | ".join([*figures, *ratios]) + " |"


def by_distribution(rows: Rows) -> Iterator[str]:
    yield "| sorter | keys | median s | of uniform | imbalance |"
    yield "|---|---|---|---|---|"
    for name, row in rows.items():
        sorter, _, keys = name.partition(":")
        slower = 1 / times_faster(rows, name, f"{sorter}:uniform")
        median = statistics.median(row["seconds"])
        yield f"| {sorter} | {keys} | {median:.3f} | {slower:.2f} | {row['imbalance']:.4f} |"


def step_by_step(rows: Rows) -> Iterator[str]:
    yield "| sorter | step | measured ms | model ms | model / measured |"
    yield "|---|---|---|---|---|"
    for name, row in rows.items():
        steps = dict(row["steps"])
        steps["**all**"] = [sum(column) for column in zip(*row["steps"].values(), strict=True)]
        for step, (measured, model) in steps.items():
            ratio = model / measured if measured > 0 else float("nan")
            figures = f"{1e3 * measured:.2f} | {1e3 * model:.2f} | {ratio:.2f}"
            yield f"| {name.partition(':')[0]} | {step} | {figures} |"


def write(settings: dict[str, Any], parts: dict[str, Rows], text: list[str]) -> None:
    RESULTS.mkdir(exist_ok=True)
    both = {"settings": settings, "parts": parts}
    (RESULTS / "sort.json").write_text(json.dumps(both, indent=1) + "\n")
    (RESULTS / "sort.md").write_text("\n".join(text) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", default="mpich")
    parser.add_argument("--elements", type=float, default=1e8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ranks", type=int, nargs="*", default=[2, 4, 8], help="of the model's table")
    arguments = parser.parse_args()
    mpi = find_mpi(arguments.mpi)
    n, rounds = arguments.elements, arguments.rounds
    settings = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "mpi": str(mpi.family.value),
        "elements": n,
        "rounds": rounds,
    }
    text = [
        "# Sorting",
        "",
        f"`make bench-sort`, {settings['date']}, {settings['machine']}, {settings['mpi']}. uint32 keys; "
        f"candidates alternate, medians of {rounds} rounds after one that is not counted. "
        "radix-11: by all digits, of 11 bits.",
    ]
    parts: dict[str, Rows] = {}

    def add(title: str, name: str, rows: Rows, lines: Iterator[str]) -> None:
        parts[name] = rows
        text.extend(["", f"## {title}", "", *lines])
        write(settings, parts, text)
        print("\n".join(text[-len(rows) - 12 :]), flush=True)

    uniform = [f"{name}:uniform" for name in ("radix", "radix-11", "sample", "gather")]
    rows = measure(mpi, 2, n, rounds, uniform)
    add(f"{n:.0e} uniform keys, 2 ranks", "others", rows, against_others(rows, ["gather"]))
    rows = measure(mpi, 2, n, 1, ["radix:uniform", "mpsort:uniform"])  # which takes a minute
    add(f"{n:.0e} uniform keys, 2 ranks, one round", "mpsort", rows, against_others(rows, ["mpsort"]))
    for ranks in (2, 4):
        sorters = ("sample", "sample-regular", "radix")
        every = [f"{sorter}:{keys}" for sorter in sorters for keys in DISTRIBUTIONS]
        rows = measure(mpi, ranks, n / 4, rounds, every)
        add(f"{n / 4:.1e} keys by distribution, {ranks} ranks", f"keys-{ranks}", rows, by_distribution(rows))
    for ranks in arguments.ranks:
        rows = measure(mpi, ranks, n, rounds, ["radix:uniform", "radix-11:uniform", "sample:uniform"])
        add(f"{n:.0e} keys step by step, {ranks} ranks", f"steps-{ranks}", rows, step_by_step(rows))


if __name__ == "__main__":
    main()
