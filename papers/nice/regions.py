"""Figures 16 and 17 of the NICE paper: which of the six schemes wins, by density and message size.

    python papers/nice/regions.py [--flows 10] [--circuits 2] [--processes 2]

Writes results/regions.{csv,md} and results/regions{,-reuse}.png: maps
without scheduling cost, and by flows where the cost of a schedule is shared by the times it is used.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from statistics import fmean, median
from typing import Final

from curves import MACHINES, machine, numbers
from nice_pictures import PICTURES, Map, bytes_text, draw_regions

from hocket import _core
from machines import SCHEMES

sys.path.extend(str(Path(__file__).parents[2] / folder) for folder in ("bench", "bench/irregular"))
from testsets import SIZES, demand, random_matrix

from results_file import Block, Row, begin, cells, grouped, provenance, read

UNITS: Final = tuple(1 << k for k in range(4, 18))  # bytes
DENSITIES: Final = {"CM-5": (4, 8, 12, 16, 20, 24, 28, 31), "iPSC/860": (4, 8, 16, 24, 32, 40, 48, 56, 63)}
KINDS: Final = SIZES[:2]  # uniform, non-uniform
PLANNING: Final = "planning"  # in place of a model
TIE: Final = 0.01
USES: Final = (1, 10, 100)  # R
Cell = dict[str, Row]  # rows by model, and "operations"
Cells = dict[tuple[str, str, int, int], Cell]  # by machine, sizes, density and msg_unit
OPERATION: Final = 1e-6  # s, assumed: some thirty instructions of these machines' processors


def operations(scheme: str, ranks: int, density: int, phases: int, route: float) -> float:
    """Operations with which one processor finds a schedule, by the paper's complexities (section 3):
    compressing the matrix, n·d; a phase of RS_N, n·ln d + n; looking at links, `route` times as much in a
    phase besides; finding where to cut messages, sorting n sizes in a phase."""
    if scheme == "AC":
        return 0
    if scheme == "LP":
        return ranks - 1
    phase = ranks * (math.log(density) + 1)
    if "L" in scheme.removeprefix("RS_"):
        phase *= 1 + route
    if scheme.endswith("H"):
        phase += ranks * math.log(ranks)
    return ranks * density + phases * phase


@cache
def route_length(name: str) -> float:
    """Channels between two ranks, the mean."""
    network, ranks = machine(name).planned, machine(name).ranks
    return fmean(len(network.route(0, other)) for other in range(1, ranks))


def measure(name: str, density: int, kind: str, unit: int, matrices: dict[str, int]) -> list[Row]:
    """Measure the schemes: mean seconds, a row per model, and "operations"."""
    on = machine(name)
    found: Cell = {figure: {} for figure in (*on.models, "operations")}
    exchanges = [
        demand(numbers(on.ranks, density, kind, seed) * unit)
        for seed in range(1, max(matrices[model] for model in on.models) + 1)
    ]
    for scheme in SCHEMES:
        schedules = [on.plan(exchange, scheme, seed) for seed, exchange in enumerate(exchanges, 1)]
        for model in on.models:
            found[model][scheme] = fmean(
                on.seconds(model, schedule, scheme) for schedule in schedules[: matrices[model]]
            )
        found["operations"][scheme] = fmean(
            operations(scheme, on.ranks, density, schedule.phases, route_length(name))
            for schedule in schedules
        )
    where = {"machine": name, "sizes": kind, "density": density, "msg_unit": unit}
    return [where | {"figure": figure} | of for figure, of in found.items()]


def planning_times(name: str, density: int, matrices: int) -> Row:
    """Median CPU seconds of our algorithms on the machine at hand."""
    on = machine(name)
    exchanges = [
        demand(random_matrix(on.ranks, density, "non-uniform", seed)) for seed in range(1, matrices + 1)
    ]
    row: Row = {"machine": name, "sizes": "non-uniform", "density": density, "figure": PLANNING}
    for scheme in SCHEMES:
        algorithm = _core.Algorithm.find(scheme, "irregular")
        taken = []
        for seed, exchange in enumerate(exchanges, 1):
            began = time.process_time()
            for _ in range(10):
                algorithm.make(on.planned, exchange, on.alpha, seed)
            taken.append((time.process_time() - began) / 10)
        row[scheme] = median(taken)
    return row


def cells_of(rows: list[Row]) -> Cells:
    keys = grouped(rows, "machine", "sizes", "density", "msg_unit")
    return {key: {row["figure"]: row for row in of_cell} for key, of_cell in keys.items()}


def winner(cell: Cell, model: str, uses: int | None = None) -> str:
    """The scheme of least C + S / R; of those within a hundredth of it the first, which is the cheapest one
    to schedule."""
    share = OPERATION / uses if uses else 0.0
    cost = {scheme: cell[model][scheme] + share * cell["operations"][scheme] for scheme in SCHEMES}
    least = min(cost.values())
    return next(scheme for scheme in SCHEMES if cost[scheme] <= least * (1 + TIE))


def region_map(found: Cells, name: str, kind: str, model: str, uses: int | None = None) -> Map | None:
    """None before all its cells are there."""
    if any((name, kind, density, unit) not in found for density in DENSITIES[name] for unit in UNITS):
        return None
    winners = [
        [winner(found[name, kind, density, unit], model, uses) for density in DENSITIES[name]]
        for unit in UNITS
    ]
    title = f"{machine(name).name}, {kind}" + (f", R = {uses}" if uses else f", {model}")
    return Map(title, DENSITIES[name], UNITS, winners)


def free_maps(found: Cells) -> list[Map]:
    """Scheduling cost neglected."""
    maps = (
        region_map(found, name, kind, model)
        for name in MACHINES
        for model in machine(name).models
        for kind in KINDS
    )
    return [region for region in maps if region]


def shared_maps(found: Cells) -> list[Map]:
    """Scheduling cost shared by R uses."""
    maps = (region_map(found, name, "non-uniform", "flows", uses) for name in MACHINES for uses in USES)
    return [region for region in maps if region]


def text_map(region: Map) -> list[Block]:
    share = Counter(name for row in region.winners for name in row)
    shares = ", ".join(f"{name} {count / share.total():.0%}" for name, count in share.most_common())
    rows = reversed(list(zip(region.sizes, region.winners, strict=True)))
    table = cells(["msg_unit \\ d", *region.densities], ([bytes_text(size), *row] for size, row in rows))
    return [f"### {region.title}", f"Share of the map: {shares}.", table]


def summary(heading: Row, rows: list[Row]) -> list[Block]:
    found = cells_of(rows)
    blocks: list[Block] = [
        "# Which scheme wins where",
        f"{provenance(heading)}. Simulated, not measured: the machines and models of\n"
        f"`papers/nice/machines.py`; means over {heading['flows']} matrices of test set 1 per\n"
        f"cell by flows, {heading['circuits']} by circuits (figures 16 and 17 of the NICE paper).\n"
        "Non-uniform: sizes of 1 to 8 msg_unit. Of schemes within\n"
        "1 % of the best the one that is cheapest to schedule wins.",
        "## Scheduling cost neglected",
        *(block for region in free_maps(found) for block in text_map(region)),
        "## Scheduling cost shared by R uses",
        f"By flows, non-uniform. S: operations by the paper's complexities, {1e6 * OPERATION:g} µs each\n"
        "(assumed).",
        *(block for region in shared_maps(found) for block in text_map(region)),
    ]
    planned = [row for row in rows if row["figure"] == PLANNING]
    if planned:
        blocks += [
            "## Scheduling cost of our algorithms",
            "Median CPU time on the machine at hand, µs: its figures, not the software's. Operations: by the\n"
            "paper's complexities, for the phases found (16 KB).",
            cells(["machine", "d", "", *SCHEMES], planning_cells(planned, found)),
        ]
    return blocks


def planning_cells(planned: list[Row], found: Cells) -> Iterator[list[object]]:
    for row in planned:
        counts = found[row["machine"], "non-uniform", row["density"], 16384]["operations"]
        yield [row["machine"], row["density"], "µs", *(f"{1e6 * row[scheme]:.0f}" for scheme in SCHEMES)]
        yield ["", "", "operations", *(f"{counts[scheme]:,.0f}" for scheme in SCHEMES)]


def draw(rows: list[Row]) -> None:
    """Also of rows that are read from the file."""
    title, found = "The fastest of NICE's six schemes", cells_of(rows)
    subtitle = "scheduling cost neglected; simulated"
    draw_regions(free_maps(found), 2, PICTURES / "regions.png", title, subtitle)
    subtitle = "communication plus 1/R of the scheduling cost; simulated by flows"
    path = PICTURES / "regions-reuse.png"
    draw_regions(shared_maps(found), len(USES), path, title, subtitle)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flows", type=int, default=10, help="matrices per cell by flows (default 10)")
    parser.add_argument(
        "--circuits", type=int, default=2, help="and by circuits, which are slower (default 2)"
    )
    parser.add_argument("--processes", type=int, default=2)
    options, results = begin(parser, "regions", summary)
    matrices = {"flows": options.flows, "circuits": options.circuits}
    results.heading |= matrices
    with ProcessPoolExecutor(options.processes) as pool:
        jobs = [
            (name, density, kind, [pool.submit(measure, name, density, kind, u, matrices) for u in UNITS])
            for name in MACHINES
            for kind in KINDS
            for density in DENSITIES[name]
        ]
        for name, density, kind, of_units in jobs:
            results.add(*(row for job in of_units for row in job.result()))
            print(f"{name}, {kind}, d = {density}: done", flush=True)
    for name in MACHINES:
        for density in DENSITIES[name]:
            results.add(planning_times(name, density, 5))
    draw(read(options.output)[1])


if __name__ == "__main__":
    main()
