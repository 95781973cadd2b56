"""All tori and meshes of a size: phases over the bound, every schedule proven.

Run by `make bench-grids`; writes bench/results/grids.csv (every shape), grids.json and grids.md.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import platform
import statistics
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from processes import answer_of

from hocket import _core

RESULTS: Final = Path(__file__).parents[1] / "results"
RATE: Final = 125e6
# Planned by the command line, alone on the machine, for time and memory.
TIMED: Final = [
    "torus:8x8", "torus:4x4x4", "torus:8x4x8x2", "torus:8x8x4x4", "torus:16x16", "torus:32x32",
    "torus:8x8x8", "hypercube:9", "hypercube:10", "torus:3x3", "torus:8", "hypercube:3",
]  # fmt: skip


@dataclass(frozen=True)
class Family:
    title: str
    kind: str
    hosts: int
    sides: range
    target: float


Row = tuple[str, int, int, str]  # shape, phases, bound, family

FAMILIES: Final = [
    Family("tori of at most 512 hosts, sides 2 to 16", "torus", 512, range(2, 17), 1.10),
    Family("meshes of at most 512 hosts", "mesh", 512, range(2, 513), 1.10),
    Family("tori of at most 1,024 hosts, sides multiples of 4", "torus", 1024, range(4, 1025, 4), 1.02),
]


def shapes(hosts: int, sides: Sequence[int], before: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """All shapes, smallest side first: the order of the sides changes neither bound nor phases."""
    for side in sides:
        if math.prod(before) * side > hosts:
            break
        if not before or side >= before[-1]:
            yield (*before, side)
            yield from shapes(hosts, sides, (*before, side))


def measure(case: tuple[str, tuple[int, ...]]) -> tuple[int, int]:
    """Phases and bound; the schedule has passed the verifier."""
    kind, sides = case
    network = _core.build_grid(kind, list(sides), RATE, 1e-6)
    demand = _core.Demand(network.ranks, 1)
    schedule = _core.find_scheduler("product").make(network, demand)
    certificate = _core.verify(network, demand, schedule)
    if not certificate.ok:
        raise SystemExit(f"{kind}:{sides}: the verifier rejects the schedule: {certificate.findings[:3]}")
    return schedule.phases, _core.lower_bounds(network, demand).phases


def name(kind: str, sides: Sequence[int]) -> str:
    return f"{kind}:{'x'.join(map(str, sides))}"


def timed(network: str) -> dict[str, Any]:
    report = answer_of(
        "-m", "hocket.cli", "plan", "all-to-all", "--network", network, "--bytes", "64KiB", "--json"
    )
    keys = ("phases", "bound_phases", "ratio", "plan_seconds", "verify_seconds", "peak_rss_bytes")
    return {"network": network, **{key: report[key] for key in keys}}


def markdown(families: list[dict[str, Any]], runs: list[dict[str, Any]], settings: dict[str, Any]) -> str:
    lines = [
        "# Tori and meshes: phases over the bound", "",
        f"{settings['date']}, `{settings['command']}`, {settings['machine']}. Scheduler `product`, one rank",
        "per host, ties by parity. Every schedule passed the verifier (every message once, no wire shared in",
        "any phase). All shapes are in `grids.csv`; here the families, and what is more than 2 % above its",
        "bound.",
        "",
        "| family | shapes | at the bound | median | worst | target | above target |",
        "|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for family in families:
        lines.append(
            f"| {family['title']} | {family['shapes']:,} | {family['at_bound']:,} | {family['median']:.4f} | "
            f"{family['worst']:.4f} ({family['worst_shape']}) | {family['target']} | {family['above']} |"
        )
    for family in families:
        if not family["listed"]:
            continue
        lines += [
            "",
            f"## {family['title'][0].upper()}{family['title'][1:]}: more than 2 % above the bound",
            "",
        ]
        lines += ["| shape | phases | bound | ratio |", "|---|---|---|---|"]
        lines += [f"| {s} | {p:,} | {b:,} | {p / b:.4f} |" for s, p, b in family["listed"]]
    lines += [
        "", "## Time and memory of the command", "",
        "`hocket plan all-to-all --json`, one after the other; absolute times belong to this machine.", "",
        "| network | phases | bound | plan s | verify s | peak MiB |", "|---|---|---|---|---|---|",
    ]  # fmt: skip
    lines += [
        f"| {run['network']} | {run['phases']:,} | {run['bound_phases']:,} | {run['plan_seconds']:.3f} | "
        f"{run['verify_seconds']:.3f} | {run['peak_rss_bytes'] / 2**20:.0f} |"
        for run in runs
    ]
    return "\n".join(lines) + "\n"


def read_known() -> dict[str, tuple[int, int]]:
    """What an earlier run measured: phases and bound by shape."""
    try:
        with (RESULTS / "grids.csv").open(newline="") as file:
            return {row["shape"]: (int(row["phases"]), int(row["bound"])) for row in csv.DictReader(file)}
    except FileNotFoundError:
        return {}


def write_rows(rows: list[Row]) -> None:
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "grids.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["shape", "phases", "bound", "ratio", "family"])
        writer.writerows((s, p, b, f"{p / b:.4f}", title) for s, p, b, title in rows)


def summary(family: Family, found: list[Row]) -> dict[str, Any]:
    ratios = {shape: phases / bound for shape, phases, bound, _ in found}
    worst = max(ratios, key=lambda shape: ratios[shape])
    return {
        **{key: value for key, value in asdict(family).items() if key != "sides"},
        "shapes": len(found),
        "at_bound": sum(ratio == 1 for ratio in ratios.values()),
        "median": statistics.median(ratios.values()),
        "worst": ratios[worst],
        "worst_shape": worst,
        "above": sum(ratio > family.target for ratio in ratios.values()),
        "listed": [row[:3] for row in sorted(found) if ratios[row[0]] > 1.02],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--most", type=int, default=10**9, help="no shape of more hosts (for a quick look)")
    parser.add_argument("--again", action="store_true", help="measure shapes that grids.csv has, too")
    options = parser.parse_args()

    known = {} if options.again else read_known()
    rows: list[Row] = []
    families: list[dict[str, Any]] = []
    for family in FAMILIES:
        found: list[Row] = []
        cases = []
        for sides in shapes(min(family.hosts, options.most), family.sides):
            shape = name(family.kind, sides)
            if shape in known:
                found.append((shape, *known[shape], family.title))
            else:
                cases.append((family.kind, sides))
        with ProcessPoolExecutor(options.workers) as pool:
            for case, result in zip(cases, pool.map(measure, cases, chunksize=4), strict=True):
                found.append((name(*case), *result, family.title))
        families.append(summary(family, found))
        rows += sorted(found)
        write_rows(rows)  # a run that is cut off goes on from here
        print(f"{family.title}: {len(found)} shapes, worst {families[-1]['worst']:.4f}", flush=True)
    settings = {
        "date": datetime.now(UTC).date().isoformat(),
        "command": " ".join(["python bench/planner/grids.py", *sys.argv[1:]]),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
    }
    runs = [timed(network) for network in TIMED]
    report = {"settings": settings, "families": families, "timed": runs}
    (RESULTS / "grids.json").write_text(json.dumps(report, indent=1) + "\n")
    (RESULTS / "grids.md").write_text(markdown(families, runs, settings))


if __name__ == "__main__":
    main()
