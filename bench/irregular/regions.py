"""Figures 16 and 17 of the NICE paper: which of the six schemes wins, by density and message size.

    python bench/irregular/regions.py [--flows 10] [--circuits 2] [--processes 2]

Writes bench/results/irregular-regions.{json,md} and docs/pictures/irregular-regions{,-reuse}.png: maps
without scheduling cost, and by flows where the cost of a schedule is shared by the times it is used.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from statistics import fmean, median
from typing import Any, Final

from curves import MACHINES, machine, numbers
from machines import SCHEMES, Machine
from nice_pictures import PICTURES, Map, bytes_text, draw_regions
from records import keep, stamp
from testsets import SIZES, demand, random_matrix

from hocket import _core

UNITS: Final = tuple(1 << k for k in range(4, 18))  # bytes
DENSITIES: Final = {"CM-5": (4, 8, 12, 16, 20, 24, 28, 31), "iPSC/860": (4, 8, 16, 24, 32, 40, 48, 56, 63)}
KINDS: Final = SIZES[:2]  # uniform, non-uniform
TIE: Final = 0.01
USES: Final = (1, 10, 100)  # R
Found = dict[str, dict[str, float]]  # by model, and "operations", and by scheme
OPERATION: Final = 1e-6  # s, assumed: some thirty instructions of these machines' processors


def operations(scheme: str, ranks: int, density: int, phases: int, route: float) -> float:
    """What one processor does to find a schedule, by the paper's complexities (section 3): compressing the
    matrix, n·d; a phase of RS_N, n·ln d + n; looking at links, `route` times as much in a phase besides;
    finding where to cut messages, sorting n sizes in a phase."""
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


def measure(name: str, density: int, kind: str, unit: int, matrices: dict[str, int]) -> Found:
    """Mean seconds by model and scheme, and "operations" by scheme."""
    on = machine(name)
    found: Found = {key: {} for key in (*on.models, "operations")}
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
    return found


def planning_times(on: Machine, density: int, matrices: int) -> dict[str, float]:
    """Median CPU seconds of our schedulers on the machine at hand."""
    exchanges = [
        demand(random_matrix(on.ranks, density, "non-uniform", seed)) for seed in range(1, matrices + 1)
    ]
    times = {}
    for scheme in SCHEMES:
        scheduler = _core.find_scheduler(scheme, "irregular")
        taken = []
        for seed, exchange in enumerate(exchanges, 1):
            began = time.process_time()
            for _ in range(10):
                scheduler.make(on.planned, exchange, on.startup, seed)
            taken.append((time.process_time() - began) / 10)
        times[scheme] = median(taken)
    return times


def winner(found: Found, model: str, uses: int | None = None) -> str:
    """The scheme of least C + S / R; of those within a hundredth of it the first, which is the cheapest one
    to schedule."""
    share = OPERATION / uses if uses else 0.0
    cost = {scheme: found[model][scheme] + share * found["operations"][scheme] for scheme in SCHEMES}
    least = min(cost.values())
    return next(scheme for scheme in SCHEMES if cost[scheme] <= least * (1 + TIE))


def region_map(record: dict[str, Any], name: str, kind: str, model: str, uses: int | None = None) -> Map:
    cells = record["cells"][f"{name}, {kind}"]
    winners = [
        [winner(cells[f"{density} {unit}"], model, uses) for density in DENSITIES[name]] for unit in UNITS
    ]
    title = f"{machine(name).name}, {kind}" + (f", R = {uses}" if uses else f", {model}")
    return Map(title, DENSITIES[name], UNITS, winners)


def text_map(region: Map) -> list[str]:
    share = Counter(name for row in region.winners for name in row)
    cells = len(region.sizes) * len(region.densities)
    shares = ", ".join(f"{name} {count / cells:.0%}" for name, count in share.most_common())
    lines = ["", f"### {region.title}", "", f"Share of the map: {shares}.", ""]
    lines += [f"| msg_unit \\ d | {' | '.join(map(str, region.densities))} |"]
    lines += ["|---" * (len(region.densities) + 1) + "|"]
    for size, row in reversed(list(zip(region.sizes, region.winners, strict=True))):
        lines.append(f"| {bytes_text(size)} | {' | '.join(row)} |")
    return lines


def complete(record: dict[str, Any], name: str, kind: str) -> bool:
    return len(record["cells"].get(f"{name}, {kind}", {})) == len(DENSITIES[name]) * len(UNITS)


def table(record: dict[str, Any]) -> str:
    lines = [
        "# Which scheme wins where",
        "",
        f"`{record['command']}`, {record['date']}. Simulated, not measured: the machines and models of",
        f"`bench/irregular/machines.py`; means over {record['matrices']['flows']} matrices of test set 1 per",
        f"cell by flows, {record['matrices']['circuits']} by circuits (figures 16 and 17 of the NICE paper).",
        "Non-uniform: sizes of 1 to 8 msg_unit. Of schemes within",
        "1 % of the best the one that is cheapest to schedule wins.",
        "",
        "## Scheduling cost neglected",
    ]
    for name in MACHINES:
        for kind in KINDS:
            if complete(record, name, kind):
                for model in machine(name).models:
                    lines += text_map(region_map(record, name, kind, model))
    lines += [
        "",
        "## Scheduling cost shared by R uses",
        "",
        f"By flows, non-uniform. S: operations by the paper's complexities, {1e6 * OPERATION:g} µs each",
        "(assumed).",
    ]
    for name in MACHINES:
        if complete(record, name, "non-uniform"):
            for uses in USES:
                lines += text_map(region_map(record, name, "non-uniform", "flows", uses))
    if record["planning"]:
        lines += [
            "",
            "## Scheduling cost of our schedulers",
            "",
            "Median CPU time on the machine at hand, µs: its figures, not the software's. Operations: by the",
            "paper's complexities, for the phases found (16 KB).",
            "",
            f"| machine | d | | {' | '.join(SCHEMES)} |",
            "|---" * (len(SCHEMES) + 3) + "|",
        ]
        for key, times in record["planning"].items():
            name, density = key.rsplit(" ", 1)
            counts = record["cells"][f"{name}, non-uniform"][f"{density} 16384"]["operations"]
            planning = " | ".join(f"{1e6 * times[scheme]:.0f}" for scheme in SCHEMES)
            counted = " | ".join(f"{counts[scheme]:,.0f}" for scheme in SCHEMES)
            lines.append(f"| {name} | {density} | µs | {planning} |")
            lines.append(f"| | | operations | {counted} |")
    return "\n".join(lines) + "\n"


def draw(record: dict[str, Any]) -> None:
    """Also from a record read back from its file."""
    title = "The fastest of NICE's six schemes"
    panels = [
        region_map(record, name, kind, model)
        for name in MACHINES
        for model in machine(name).models
        for kind in KINDS
    ]
    draw_regions(panels, 2, PICTURES / "irregular-regions.png", title, "scheduling cost neglected; simulated")
    panels = [region_map(record, name, "non-uniform", "flows", uses) for name in MACHINES for uses in USES]
    subtitle = "communication plus 1/R of the scheduling cost; simulated by flows"
    draw_regions(panels, len(USES), PICTURES / "irregular-regions-reuse.png", title, subtitle)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--flows", type=int, default=10, help="matrices per cell by flows (default 10)")
    parser.add_argument(
        "--circuits", type=int, default=2, help="and by circuits, which are slower (default 2)"
    )
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    matrices = {"flows": options.flows, "circuits": options.circuits}
    command = f"python bench/irregular/regions.py --flows {options.flows} --circuits {options.circuits}"
    record: dict[str, Any] = stamp(command) | {"matrices": matrices, "cells": {}, "planning": {}}
    with ProcessPoolExecutor(options.processes) as pool:
        jobs = [
            (name, density, kind, unit, pool.submit(measure, name, density, kind, unit, matrices))
            for name in MACHINES
            for kind in KINDS
            for density in DENSITIES[name]
            for unit in UNITS
        ]
        for name, density, kind, unit, job in jobs:
            cells = record["cells"].setdefault(f"{name}, {kind}", {})
            found = cells[f"{density} {unit}"] = job.result()
            if unit == UNITS[-1]:
                print(f"{name}, {kind}, d = {density}: {winner(found, 'flows')} for the largest", flush=True)
                keep("irregular-regions", record, table)
    for name in MACHINES:
        for density in DENSITIES[name]:
            record["planning"][f"{name} {density}"] = planning_times(machine(name), density, 5)
    keep("irregular-regions", record, table)
    draw(record)


if __name__ == "__main__":
    main()
