"""All tori and meshes of a size: phases over the bound, every schedule proven.

Run by `make bench NAME=grids`; writes bench/results/grids.{csv,md}; the CSV file has every shape.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from processes import answer_of

from hocket import _core

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Row, begin, cells, grouped, provenance, read, table

RATE: Final = 125e6
# Planned by the command line, alone on the machine, for time and memory.
TIMED: Final = [
    "torus:8x8", "torus:4x4x4", "torus:8x4x8x2", "torus:8x8x4x4", "torus:16x16", "torus:32x32",
    "torus:8x8x8", "hypercube:9", "hypercube:10", "torus:3x3", "torus:8", "hypercube:3",
]  # fmt: skip


TIMES: Final = "times of the command"  # in place of a family


@dataclass(frozen=True)
class Family:
    name: str
    title: str
    kind: str
    hosts: int
    sides: range
    target: float


FAMILIES: Final = [
    Family("torus 512", "tori of at most 512 hosts, sides 2 to 16", "torus", 512, range(2, 17), 1.10),
    Family("mesh 512", "meshes of at most 512 hosts", "mesh", 512, range(2, 513), 1.10),
    Family(
        "torus 1024",
        "tori of at most 1,024 hosts, sides multiples of 4",
        "torus",
        1024,
        range(4, 1025, 4),
        1.02,
    ),
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
    schedule = _core.find_algorithm("product").make(network, demand)
    certificate = _core.verify(network, demand, schedule)
    if not certificate.ok:
        raise SystemExit(f"{kind}:{sides}: the verifier rejects the schedule: {certificate.findings[:3]}")
    return schedule.phases, _core.lower_bounds(network, demand).phases


def name(kind: str, sides: Sequence[int]) -> str:
    return f"{kind}:{'x'.join(map(str, sides))}"


def timed(network: str) -> Row:
    report = answer_of(
        "-m", "hocket", "plan", "all-to-all", "--network", network, "--bytes", "64KiB", "--json"
    )
    figures = {key: report[key] for key in ("plan_seconds", "verify_seconds", "peak_rss_bytes")}
    counts = {"phases": report["phases"], "bound": report["bound_phases"]}
    return {"family": TIMES, "shape": network} | counts | figures


def ratio(row: Row) -> float:
    return float(row["phases"] / row["bound"])


def family_cells(family: Family, rows: list[Row]) -> list[object]:
    ratios = [ratio(row) for row in rows]
    worst = max(rows, key=ratio)
    return [
        *(family.title, f"{len(rows):,}", f"{ratios.count(1):,}", f"{statistics.median(ratios):.4f}"),
        *(f"{ratio(worst):.4f} ({worst['shape']})", family.target),
        sum(value > family.target for value in ratios),
    ]


def summary(heading: Row, rows: list[Row]) -> list[str]:
    found = grouped(rows, "family")
    families = {family: found[family.name] for family in FAMILIES if family.name in found}
    lines = [
        "# Tori and meshes: phases over the bound",
        "",
        f"{provenance(heading)}. Algorithm `product`, one rank",
        "per host, ties by parity. Every schedule passed the verifier (every message once, no wire shared in",
        "any phase). All shapes are in `grids.csv`; here the families, and what is more than 2 % above its",
        "bound.",
        "",
        *cells(
            ("family", "shapes", "at the bound", "median", "worst", "target", "above target"),
            (family_cells(*item) for item in families.items()),
        ),
    ]
    for family, of_family in families.items():
        if above := sorted((row for row in of_family if ratio(row) > 1.02), key=lambda row: row["shape"]):
            lines += [
                "",
                f"## {family.title[0].upper()}{family.title[1:]}: more than 2 % above the bound",
                "",
            ]
            lines += table(
                "shape | phases | bound | ratio",
                lambda row: f"{row['shape']} | {row['phases']:,} | {row['bound']:,} | {ratio(row):.4f}",
                above,
            )
    return [
        *lines,
        "",
        "## Time and memory of the command",
        "",
        "`hocket plan all-to-all --json`, one after the other; absolute times belong to this machine.",
        "",
        *table(
            "network | phases | bound | plan s | verify s | peak MiB",
            "{shape} | {phases:,} | {bound:,} | {plan_seconds:.3f} | {verify_seconds:.3f} | {mib:.0f}",
            (row | {"mib": row["peak_rss_bytes"] / 2**20} for row in found.get(TIMES, [])),
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--most", type=int, default=10**9, help="no shape of more hosts (for a quick look)")
    parser.add_argument("--again", action="store_true", help="measure shapes that the CSV file has, too")
    options, results = begin(parser, "grids", summary)
    stored = [] if options.again or not options.output.exists() else read(options.output)[1]
    known = {row["shape"]: (row["phases"], row["bound"]) for row in stored if row["family"] != TIMES}
    for family in FAMILIES:
        sides = [*shapes(min(family.hosts, options.most), family.sides)]
        cases = [(family.kind, one) for one in sides if name(family.kind, one) not in known]
        with ProcessPoolExecutor(options.workers) as pool:
            for case, counts in zip(cases, pool.map(measure, cases, chunksize=4), strict=True):
                known[name(*case)] = counts
        found = [
            {"family": family.name, "shape": shape, "phases": known[shape][0], "bound": known[shape][1]}
            for shape in sorted(name(family.kind, one) for one in sides)
        ]
        results.add(*found)  # a run that is cut off goes on from here
        print(f"{family.title}: {len(found)} shapes, worst {max(map(ratio, found)):.4f}", flush=True)
    results.add(*map(timed, TIMED))


if __name__ == "__main__":
    main()
