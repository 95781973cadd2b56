"""Figures 12 to 15 of the NICE paper: what an exchange costs, by message size and scheme.

    python bench/irregular/curves.py [--matrices 10] [--processes 2]

Writes bench/results/irregular-curves.{json,md} and docs/pictures/irregular-curves.png. The
airfoil grids need `pip install 'hocket[meshes]'`.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from random import Random
from statistics import fmean
from typing import Any, Final

from machines import SCHEMES, Machine, cm5, in_order, ipsc
from meshes import VALUE_BYTES, airfoil, halo_matrix, partition
from nice_pictures import PICTURES, Curves, bytes_text, draw_curves
from records import keep, stamp
from testsets import Matrix, demand, random_matrix

OURS: Final = ("colouring", "open-shop", "critical", "list")
UNITS: Final = tuple(1 << k for k in range(4, 16))  # bytes
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


def cases() -> tuple[Case, ...]:
    """Those for which there is what they need."""
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


def measure(case: Case, unit: int, matrices: int) -> dict[str, dict[str, float]]:
    """Mean seconds by model and scheme, over matrices of test set 1; there is one of test set 2, where the
    random schemes take that many seeds."""
    on = machine(case.machine)
    seconds: dict[str, dict[str, list[float]]] = {
        model: {scheme: [] for scheme in SCHEMES + OURS} for model in on.models
    }
    for seed in range(1, matrices + 1):
        exchange = demand(case.matrix(unit, seed))
        for scheme in SCHEMES + OURS:
            schedule = on.plan(exchange, scheme, seed)
            for model in on.models:
                seconds[model][scheme].append(on.seconds(model, schedule, scheme))
    return {
        model: {scheme: fmean(times) for scheme, times in by_scheme.items()}
        for model, by_scheme in seconds.items()
    }


def ways_of_ac(on: Machine, density: int, unit: int, matrices: int) -> dict[str, float]:
    """Mean seconds of three ways to send without a schedule, by flows, and of RS_N."""
    times: dict[str, list[float]] = defaultdict(list)
    for seed in range(1, matrices + 1):
        exchange = demand(numbers(on.ranks, density, "non-uniform", seed) * unit)
        schedule = on.plan(exchange, "AC")
        times["by receiver"].append(on.asynchronous(in_order(schedule)).seconds)
        times["shuffled"].append(on.asynchronous(in_order(schedule, Random(seed))).seconds)
        times["all at once"].append(on.asynchronous(schedule).seconds)
        times["RS_N"].append(on.seconds("flows", on.plan(exchange, "RS_N", seed), "RS_N"))
    return {way: fmean(values) for way, values in times.items()}


def table(record: dict[str, Any]) -> str:
    lines = [
        "# What an exchange costs, by message size and scheme",
        "",
        f"`{record['command']}`, {record['date']}. Simulated, not measured: the machines and models of",
        "`bench/irregular/machines.py`. Milliseconds; test set 1: means over "
        f"{record['matrices']} matrices with sizes of 1",
        "to 8 msg_unit; test set 2: one matrix, means over as many seeds of the random schemes.",
    ]
    for title, by_model in record["figures"].items():
        for model, by_unit in by_model.items():
            names = list(next(iter(by_unit.values())))
            lines += ["", f"## {title}: {model}", ""]
            lines += [f"| msg_unit | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
            for unit, times in by_unit.items():
                cells = " | ".join(f"{1e3 * times[name]:.4g}" for name in names)
                lines.append(f"| {bytes_text(int(unit))} | {cells} |")
    if record["ac"]:
        ways = list(next(iter(record["ac"].values())))
        lines += [
            "",
            "## AC, by flows",
            "",
            "Non-uniform sizes, ms. By receiver, shuffled: messages of a rank leave one after the other.",
            "All at once: they share its processor.",
            "",
            f"| machine, d, msg_unit | {' | '.join(ways)} |",
            "|---" * (len(ways) + 1) + "|",
        ]
        for title, times in record["ac"].items():
            lines.append(f"| {title} | {' | '.join(f'{1e3 * times[way]:.4g}' for way in ways)} |")
    return "\n".join(lines) + "\n"


def measured(matrices: int, processes: int) -> Iterator[tuple[Case, int, dict[str, dict[str, float]]]]:
    with ProcessPoolExecutor(processes) as pool:
        jobs = [
            (case, unit, pool.submit(measure, case, unit, matrices))
            for case in cases()
            for unit in case.units
        ]
        for case, unit, job in jobs:
            yield case, unit, job.result()


def draw(record: dict[str, Any]) -> None:
    """Also from a record read back from its file."""
    panels = []
    for case in CASES:
        if case.drawn and case.title in record["figures"]:
            for model, by_unit in record["figures"][case.title].items():
                times = {name: [row[name] for row in by_unit.values()] for name in SCHEMES + OURS}
                panels.append(Curves(f"{case.title}: {model}", [int(unit) for unit in by_unit], times))
    subtitle = "time over that of the best of the paper's six schemes; simulated"
    draw_curves(panels, PICTURES / "irregular-curves.png", "Irregular exchange by message size", subtitle)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--matrices", type=int, default=10, help="of test set 1 (default 10)")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    record: dict[str, Any] = stamp(f"python bench/irregular/curves.py --matrices {options.matrices}")
    record |= {"matrices": options.matrices, "figures": {}, "ac": {}}
    for case, unit, found in measured(options.matrices, options.processes):
        curves = record["figures"].setdefault(case.title, {model: {} for model in found})
        for model, times in found.items():
            curves[model][str(unit)] = times
        best = {model: min(times, key=lambda name: times[name]) for model, times in found.items()}
        print(f"{case.title}, {unit} B: {best}", flush=True)
        keep("irregular-curves", record, table)
    for name in MACHINES:
        for density in (8, 16, 24):
            for unit in (64, 1024, 8192):
                found = ways_of_ac(machine(name), density, unit, options.matrices)
                record["ac"][f"{machine(name).name}, {density}, {bytes_text(unit)}"] = found
    keep("irregular-curves", record, table)
    draw(record)


if __name__ == "__main__":
    main()
