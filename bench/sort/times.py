"""Sorting 10^8 keys against others, by distribution, and step by step against the model: `make bench NAME=sort`.

Candidates alternate in one job; figures are medians of rounds. Writes bench/results/sort.{csv,md}
as it goes.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from hocket.launch.mpi import Mpi, find_mpi, launch_command

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Block, Row, begin, cells, grouped, median_ratio, provenance, table, values

SORTERS: Final = Path(__file__).with_name("sorters.py")
DISTRIBUTIONS: Final = ("uniform", "zipf", "equal", "sorted", "reversed")
LIMIT: Final = 300  # seconds, of one job


def measure(
    mpi: Mpi, part: str, ranks: int, elements: float, rounds: int, candidates: list[str]
) -> list[Row]:
    """Measure each candidate: one row of its rounds, and one of each of its steps."""
    command = [sys.executable, str(SORTERS), str(elements), str(rounds), *candidates]
    words = launch_command(mpi, ranks, [], {}, command)
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False)
    if done.returncode != 0:
        sys.exit(f"exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    rows: list[Row] = []
    for told in (json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")):
        sorter, _, keys = told["candidate"].partition(":")
        where = {"part": part, "ranks": ranks, "elements": elements, "sorter": sorter, "keys": keys}
        rows.append(where | {"seconds": told["seconds"], "imbalance": told.get("imbalance")})
        rows += [
            where | {"step": step, "measured": measured, "model": model}
            for step, (measured, model) in told.get("steps", {}).items()
        ]
    return rows


def whole_sorts(rows: list[Row]) -> list[Row]:
    """Rows without those of steps; seconds as lists, with the times of uniform keys beside them."""
    whole = [row | {"seconds": values(row["seconds"])} for row in rows if row["step"] is None]
    uniform = {row["sorter"]: row["seconds"] for row in whole if row["keys"] == "uniform"}
    return [row | {"uniform": uniform} for row in whole]


def against_others(rows: list[Row]) -> list[str]:
    whole = whole_sorts(rows)
    other = whole[-1]["sorter"]

    def told(row: Row) -> str:
        figures = (f"{of(row['seconds']):.3f}" for of in (statistics.median, min, max))
        ratio = median_ratio(row["uniform"][other], row["seconds"])
        return " | ".join((row["sorter"], *figures, f"{ratio:.2f}"))

    return table(f"sorter | median s | min s | max s | {other} / it", told, whole)


def by_distribution(rows: list[Row]) -> list[str]:
    def told(row: Row) -> str:
        slower = 1 / median_ratio(row["uniform"][row["sorter"]], row["seconds"])
        figures = f"{statistics.median(row['seconds']):.3f} | {slower:.2f} | {row['imbalance']:.4f}"
        return f"{row['sorter']} | {row['keys']} | {figures}"

    return table("sorter | keys | median s | of uniform | imbalance", told, whole_sorts(rows))


def step_by_step(rows: list[Row]) -> list[str]:
    lines = []
    for sorter, steps in grouped((row for row in rows if row["step"]), "sorter").items():
        times = [(row["step"], row["measured"], row["model"]) for row in steps]
        times.append(("**all**", sum(time[1] for time in times), sum(time[2] for time in times)))
        for step, measured, model in times:
            ratio = model / measured if measured > 0 else float("nan")
            lines.append((sorter, step, f"{1e3 * measured:.2f}", f"{1e3 * model:.2f}", f"{ratio:.2f}"))
    return cells(("sorter", "step", "measured ms", "model ms", "model / measured"), lines)


PARTS: Final[dict[str, tuple[str, Callable[[list[Row]], list[str]]]]] = {
    "others": ("{elements:.0e} uniform keys, {ranks} ranks", against_others),
    "mpsort": ("{elements:.0e} uniform keys, {ranks} ranks, one round", against_others),
    "keys": ("{elements:.1e} keys by distribution, {ranks} ranks", by_distribution),
    "steps": ("{elements:.0e} keys step by step, {ranks} ranks", step_by_step),
}


def summary(heading: Row, rows: list[Row]) -> Iterator[Block]:
    yield "# Sorting"
    yield (
        f"{provenance(heading)}, {heading['mpi']}. uint32 keys; "
        f"candidates alternate, medians of {heading['rounds']} rounds after one that is not counted. "
        "radix-11: by all digits, of 11 bits."
    )
    for (part, _), of_part in grouped(rows, "part", "ranks").items():
        title, part_table = PARTS[part]
        yield f"## {title.format(**of_part[0])}"
        yield part_table(of_part)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", default="mpich")
    parser.add_argument("--elements", type=float, default=1e8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ranks", type=int, nargs="*", default=[2, 4, 8], help="of the model's table")
    options, results = begin(parser, "sort", summary)
    mpi = find_mpi(options.mpi)
    n, rounds = options.elements, options.rounds
    results.heading |= {"mpi": mpi.family.value, "rounds": rounds}
    uniform = [f"{name}:uniform" for name in ("radix", "radix-11", "sample", "gather")]
    results.add(*measure(mpi, "others", 2, n, rounds, uniform))
    # A round of mpsort takes a minute.
    results.add(*measure(mpi, "mpsort", 2, n, 1, ["radix:uniform", "mpsort:uniform"]))
    sorters = ("sample", "sample-regular", "radix")
    every = [f"{sorter}:{keys}" for sorter in sorters for keys in DISTRIBUTIONS]
    for ranks in (2, 4):
        results.add(*measure(mpi, "keys", ranks, n / 4, rounds, every))
    for ranks in options.ranks:
        results.add(*measure(mpi, "steps", ranks, n, rounds, [*uniform[:3]]))
    print(results.summarise())


if __name__ == "__main__":
    main()
