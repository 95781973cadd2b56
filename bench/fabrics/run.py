"""Exchanges on the routes that InfiniBand's subnet manager installs: phases and time over the bound, libraries' orders.

    python bench/fabrics/run.py [--most-hosts 512] [--engine minhop …]

Run by `make bench NAME=fabrics`; writes bench/results/fabrics.{csv,md}. Fabrics are simulated by ibsim and routed by
opensm, read from ibnetdiscover and dump_fts; times are those of phases one after the other, without latencies and
per-message costs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

import simulated

from hocket import _core
from hocket.network import Defaults, read_known_network
from hocket.planning.plan import plan_collective

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Row, begin, grouped, provenance, table

COLLECTIVES: Final = ("all-to-all", "all-gather", "reduce-scatter", "all-reduce")
BYTES: Final = 1 << 20  # of a message or block
TARGET: Final = 1.05
# Section: short forms; torus:AxB/H is a torus of switches with H hosts each.
CASES: Final[dict[str, list[str]]] = {
    "two-level fat trees, full": ["fat-tree:4x4x4", "fat-tree:8x8x8", "fat-tree:16x16x16", "fat-tree:16x32x32"],
    "two-level fat trees, 2:1": ["fat-tree:4x4x2", "fat-tree:8x8x4", "fat-tree:16x16x8", "fat-tree:16x32x16"],
    "three-level fat trees, full": ["fat-tree:k=4", "fat-tree:k=8", "fat-tree:k=12"],
    "three-level fat trees, 2:1": ["fat-tree:k=4x4", "fat-tree:k=8x8"],
    "tori of switches": ["torus:4x4/1", "torus:4x4/4", "torus:8x8/1", "torus:4x4x4/2", "torus:8x8x8/1"],
    "dragonflies": ["dragonfly:5x4x1", "dragonfly:8x8x1", "dragonfly:9x4x2", "dragonfly:17x8x1", "dragonfly:16x8x4"],
}  # fmt: skip

_NOTES: Final = (
    "Fabrics simulated by ibsim, routed by opensm's engines, read from `ibnetdiscover` and `dump_fts`; one rank",
    "a host, ranks in the order of host names, links of one speed. Every schedule passed the verifier. Ratio:",
    f"all-to-all phases, others time, over the bound on these very routes; the target is at most {TARGET}. Ring:",
    "the library's ring in rank order; best: the best of the library's orders for this number of ranks; time over",
    "the same bound. All without latencies and per-message costs. `torus:8x8/1`: 8 × 8 switches with a host "
    "each. The dor",
    "engine sends everything in a fat tree by one spine.",
)


def fabric_of(name: str) -> simulated.Fabric:
    if not name.startswith("torus:"):
        return simulated.of_short_form(name)
    sides, _, hosts = name.removeprefix("torus:").partition("/")
    return simulated.torus([int(side) for side in sides.split("x")], int(hosts))


def measure(section: str, name: str, engine: str) -> Iterator[Row]:
    """A row for each collective; one that says so where the engine does not serve the fabric."""
    fabric = fabric_of(name)
    heading = {"section": section, "fabric": name, "hosts": len(fabric.hosts), "engine": engine}
    begun = time.perf_counter()
    try:
        recorded = simulated.recorded(fabric, engine)
    except RuntimeError as problem:
        if "has not routed by" not in str(problem):
            raise
        yield {**heading, "collective": "none"}
        return
    recording = time.perf_counter() - begun
    with tempfile.TemporaryDirectory() as folder:
        disc, fts = Path(folder) / "disc.txt", Path(folder) / "fts.txt"
        disc.write_text(recorded[0])
        fts.write_text(recorded[1])
        begun = time.perf_counter()
        network = read_known_network(str(disc), Defaults(forwarding=str(fts))).network
        reading = time.perf_counter() - begun
    for collective in COLLECTIVES:
        size = BYTES * network.ranks if collective == "all-reduce" else BYTES
        planned = plan_collective(collective, network, size)
        if not planned.certificate.ok:
            raise SystemExit(f"{name}, {engine}: the verifier refuses the {collective}")
        seconds, bound = _core.lockstep_seconds(network, planned.schedule), planned.bound_seconds
        library = planned.library_seconds()
        best = min(library, key=lambda each: library[each])
        yield {
            **heading,
            "collective": collective,
            "algorithm": planned.algorithm,
            "phases": planned.schedule.phases,
            "bound_phases": planned.bound_phases,
            "phases_ratio": round(planned.schedule.phases / planned.bound_phases, 4),
            "time_ratio": round(seconds / bound, 4),
            "ring": round(library["ring"] / bound, 3),
            "library_best": best,
            "library_ratio": round(library[best] / bound, 3),
            "plan_s": round(planned.plan_seconds, 3),
            "verify_s": round(planned.verify_seconds, 3),
            "record_s": round(recording, 1),
            "read_s": round(reading, 2),
        }


def figure(row: Row) -> float:
    """Phases over the bound of an all-to-all, whose messages are equal, time over the bound of others."""
    return float(row["phases_ratio" if row["collective"] == "all-to-all" else "time_ratio"])


def summary(heading: Row, rows: list[Row]) -> list[str]:
    served = [row for row in rows if row["collective"] != "none"]
    refused = grouped([row for row in rows if row["collective"] == "none"], "engine")
    lines = [
        "# InfiniBand with the installed routes",
        "",
        f"{provenance(heading)}.",
        "",
        *_NOTES,
        "",
        *table(
            "fabrics | collective | cases | median | worst | over the target | ring: median | worst | "
            "best order: median | worst",
            "{section} | {collective} | {cases} | {median:.3f} | {worst:.3f} | {over} | {ring:.2f} | {ring_worst:.2f} "
            "| {best:.2f} | {best_worst:.2f}",
            [_told(key, cases) for key, cases in grouped(served, "section", "collective").items()],
        ),
    ]
    over = [row for row in served if figure(row) > TARGET]
    lines += ["", f"## Over {TARGET}", ""]
    lines += table(
        "fabric | hosts | engine | collective | algorithm | phases | bound | ratio",
        lambda row: (
            "{fabric} | {hosts} | {engine} | {collective} | {algorithm} | {phases} | {bound_phases} | ".format(
                **row
            )
            + f"{figure(row):.3f}"
        ),
        over,
    )
    if refused:
        lines += ["", "## Engines that do not serve a fabric", ""]
        lines += [f"- {engine}: {', '.join(row['fabric'] for row in few)}" for engine, few in refused.items()]
    lines += ["", "## All-to-all, every fabric and engine", ""]
    lines += table(
        "fabric | hosts | engine | phases | bound | ratio | ring | best order | plan, s",
        "{fabric} | {hosts} | {engine} | {phases:,} | {bound_phases:,} | {phases_ratio:.3f} | {ring:.2f} | "
        "{library_ratio:.2f} ({library_best}) | {plan_s:.2f}",
        [row for row in served if row["collective"] == "all-to-all"],
    )
    return lines


def _told(key: tuple[str, str], cases: list[Row]) -> Row:
    ratios, rings = [figure(row) for row in cases], [float(row["ring"]) for row in cases]
    bests = [float(row["library_ratio"]) for row in cases]
    return {
        "section": key[0], "collective": key[1], "cases": len(cases), "median": median(ratios), "worst": max(ratios),
        "over": sum(ratio > TARGET for ratio in ratios), "ring": median(rings), "ring_worst": max(rings),
        "best": median(bests), "best_worst": max(bests),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most-hosts", type=int, default=512)
    parser.add_argument("--engine", action="append", choices=simulated.ENGINES, help="only these")
    arguments, results = begin(parser, "fabrics", summary)
    if missing := simulated.missing():
        sys.exit(f"not installed: {', '.join(missing)}; install ibsim-utils, opensm and infiniband-diags")
    for section, names in CASES.items():
        for name in names:
            if len(fabric_of(name).hosts) > arguments.most_hosts:
                continue
            for engine in arguments.engine or simulated.ENGINES:
                rows = list(measure(section, name, engine))
                results.add(*rows)
                told = ", ".join(
                    f"{row['collective']} {figure(row):.3f}" for row in rows if "phases_ratio" in row
                )
                print(f"{name} {engine}: {told or 'not served'}", flush=True)


if __name__ == "__main__":
    main()
