"""Figures 12 to 15 of the NICE paper: what an exchange costs, by message size and scheme.

    python papers/nice/curves.py [--matrices 10] [--processes 2]

Writes results/curves.{csv,md} and results/curves.png. The
airfoil grids need `pip install 'hocket[meshes]'`.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Final

from nice_pictures import PICTURES, Curves, bytes_text, draw_curves

from machines import SCHEMES, Machine, cm5, in_order, ipsc

sys.path.extend(
    str(Path(__file__).parents[2] / folder) for folder in ("bench", "bench/irregular", "examples/fluid")
)
from testsets import Matrix, demand, random_matrix

from meshes import VALUE_BYTES, airfoil, halo_matrix, partition
from results_file import Block, Row, begin, cells, grouped, provenance, read

OURS: Final = ("colouring", "open-shop", "critical", "list")
UNITS: Final = tuple(1 << k for k in range(4, 16))  # bytes
AC: Final = "AC, by flows"  # in place of a figure
WAYS: Final = ("by receiver", "shuffled", "all at once", "RS_N")
POINTS: Final = (2_800, 9_428, 53_961)
MACHINES: Final[dict[str, Callable[[], Machine]]] = {"CM-5": cm5, "iPSC/860": ipsc}


@dataclass(frozen=True)
class Case:
    """A curve. `density`: of test set 1; else `points`: of the airfoil grid."""

    figure: int
    machine: str
    density: int = 0
    points: int = 0
    drawn: bool = True

    @property
    def title(self) -> str:
        what = f"non-uniform, d = {self.density}" if self.density else f"airfoil, {self.points:,} points"
        return f"Figure {self.figure}: {machine(self.machine).name}, {what}"

    @property
    def units(self) -> tuple[int, ...]:
        """Bytes of msg_unit, which multiplies 1 to 8 in test set 1, vertices of a halo in test set 2."""
        return UNITS if self.density else UNITS[:8]

    def matrix(self, unit: int, seed: int) -> Matrix:
        ranks = machine(self.machine).ranks
        if self.density:
            return numbers(ranks, self.density, "non-uniform", seed) * unit
        return halo(self.points, ranks) * unit


CASES: Final = (
    Case(12, "CM-5", density=8, drawn=False),
    Case(12, "CM-5", density=16),
    Case(13, "iPSC/860", density=32),
    Case(14, "CM-5", points=2_800, drawn=False),
    Case(14, "CM-5", points=9_428),
    Case(14, "CM-5", points=53_961, drawn=False),
    Case(15, "iPSC/860", points=53_961),
)


def cases_at_hand() -> tuple[Case, ...]:
    """Cases whose requirements are installed."""
    try:
        import meshpy  # noqa: F401
        import pymetis  # noqa: F401
    except ImportError as error:
        print(f"without airfoil grids, {error.name} is missing: pip install 'hocket[meshes]'")
        return tuple(case for case in CASES if case.density)
    return CASES


@cache
def machine(name: str) -> Machine:
    return MACHINES[name]()


@cache
def numbers(ranks: int, density: int, sizes: str, seed: int) -> Matrix:
    """A matrix of test set 1, in units."""
    return random_matrix(ranks, density, sizes, seed, 1)


@cache
def halo(points: int, parts: int) -> Matrix:
    """Vertices that each rank sends to each other one."""
    mesh = airfoil(points)
    return halo_matrix(mesh, partition(mesh, parts)) // VALUE_BYTES


def measure(case: Case, unit: int, matrices: int) -> list[Row]:
    """Mean seconds by scheme, a row per model, over matrices of test set 1; there is one of test set 2, where
    the random schemes take that many seeds."""
    on = machine(case.machine)
    seconds: dict[str, dict[str, list[float]]] = {model: defaultdict(list) for model in on.models}
    for seed in range(1, matrices + 1):
        exchange = demand(case.matrix(unit, seed))
        for scheme in SCHEMES + OURS:
            schedule = on.plan(exchange, scheme, seed)
            for model in on.models:
                seconds[model][scheme].append(on.seconds(model, schedule, scheme))
    where = {"figure": case.title, "msg_unit": unit}
    return [where | {"model": model} | means(times) for model, times in seconds.items()]


def means(times: dict[str, list[float]]) -> dict[str, float]:
    return {name: fmean(seconds) for name, seconds in times.items()}


def ways_of_ac(on: Machine, density: int, unit: int, matrices: int) -> Row:
    """Mean seconds of three ways to send without a schedule, by flows, and of RS_N."""
    times: dict[str, list[float]] = defaultdict(list)
    for seed in range(1, matrices + 1):
        exchange = demand(numbers(on.ranks, density, "non-uniform", seed) * unit)
        schedule = on.plan(exchange, "AC")
        times["by receiver"].append(on.asynchronous(in_order(schedule)).seconds)
        times["shuffled"].append(on.asynchronous(in_order(schedule, Random(seed))).seconds)
        times["all at once"].append(on.asynchronous(schedule).seconds)
        times["RS_N"].append(on.seconds("flows", on.plan(exchange, "RS_N", seed), "RS_N"))
    return {"figure": AC, "msg_unit": unit, "model": f"{on.name}, {density}"} | means(times)


def milliseconds(row: Row, names: Iterable[str]) -> list[str]:
    return [f"{1e3 * row[name]:.4g}" for name in names]


def summary(heading: Row, rows: list[Row]) -> list[Block]:
    blocks: list[Block] = [
        "# What an exchange costs, by message size and scheme",
        f"{provenance(heading)}. Simulated, not measured: the machines and models of\n"
        "`papers/nice/machines.py`. Milliseconds; test set 1: means over "
        f"{heading['matrices']} matrices with sizes of 1\n"
        "to 8 msg_unit; test set 2: one matrix, means over as many seeds of the random schemes.",
    ]
    figures = grouped(rows, "figure")
    ways = figures.pop(AC, [])
    for title, of_figure in figures.items():
        for model, of_model in grouped(of_figure, "model").items():
            told = ([bytes_text(row["msg_unit"]), *milliseconds(row, SCHEMES + OURS)] for row in of_model)
            blocks += [f"## {title}: {model}", cells(["msg_unit", *SCHEMES, *OURS], told)]
    if ways:
        blocks += [
            f"## {AC}",
            "Non-uniform sizes, ms. By receiver, shuffled: messages of a rank leave one after the other.\n"
            "All at once: they share its processor.",
            cells(
                ["machine, d, msg_unit", *WAYS],
                (
                    [f"{row['model']}, {bytes_text(row['msg_unit'])}", *milliseconds(row, WAYS)]
                    for row in ways
                ),
            ),
        ]
    return blocks


def measured(matrices: int, processes: int) -> Iterator[list[Row]]:
    with ProcessPoolExecutor(processes) as pool:
        jobs = [pool.submit(measure, case, unit, matrices) for case in cases_at_hand() for unit in case.units]
        for job in jobs:
            yield job.result()


def draw(rows: list[Row]) -> None:
    """Also of rows that are read from the file."""
    panels = []
    drawn = [case.title for case in CASES if case.drawn]
    for (title, model), of_model in grouped(rows, "figure", "model").items():
        if title in drawn:
            times = {name: [row[name] for row in of_model] for name in SCHEMES + OURS}
            panels.append(Curves(f"{title}: {model}", [row["msg_unit"] for row in of_model], times))
    subtitle = "time over that of the best of the paper's six schemes; simulated"
    draw_curves(panels, PICTURES / "curves.png", "Irregular exchange by message size", subtitle)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matrices", type=int, default=10, help="of test set 1 (default 10)")
    parser.add_argument("--processes", type=int, default=2)
    options, results = begin(parser, "curves", summary)
    results.heading["matrices"] = options.matrices
    for rows in measured(options.matrices, options.processes):
        results.add(*rows)
        for row in rows:
            best = min(SCHEMES + OURS, key=lambda name: row[name])
            print(f"{row['figure']}: {row['model']}, {row['msg_unit']} B: {best}", flush=True)
    for name in MACHINES:
        for density in (8, 16, 24):
            for unit in (64, 1024, 8192):
                results.add(ways_of_ac(machine(name), density, unit, options.matrices))
    draw(read(options.output)[1])


if __name__ == "__main__":
    main()
