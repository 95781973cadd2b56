"""Schedules of reductions and broadcasts on networks of all kinds: verified, and their time over the bound.

    python bench/planner/reductions.py [--trees 500] [--most-ranks 512] [--sample 0]

Run by `make bench NAME=reductions`; writes bench/results/reductions.{csv,md}. Everything is computed: the same on every
machine. Time is that of the phases one after the other, without latencies and per-message costs.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import median

from general import build

from hocket import _core
from hocket.planning.plan import check

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Row, begin, grouped, provenance

BYTES = 4 << 20  # the vector
COLLECTIVES = ["reduce-scatter", "all-reduce", "broadcast", "reduce"]
MOST_RANKS = 512  # of a torus
CLUSTERS = {
    "fat trees": [
        "fat-tree:k=4",
        "fat-tree:4x4x4",
        "fat-tree:4x4x2",
        "fat-tree:8x8x4",
        "fat-tree:8x8x8",
        "fat-tree:k=8",
    ],
    "dragonflies": ["dragonfly:4x2x2", "dragonfly:9x4x2", "dragonfly:5x4x4"],
}


def tori(most: int) -> Iterator[str]:
    """Tori of two and three dimensions, sides in ascending order."""
    for a in range(2, math.isqrt(most) + 1):
        for b in range(a, most // a + 1):
            yield f"torus:{a}x{b}"
            yield from (f"torus:{a}x{b}x{c}" for c in range(b, most // (a * b) + 1))


def networks(trees: int, most: int, sample: int) -> Iterator[tuple[str, str]]:
    for seed in range(1, trees + 1):
        rng = Random(seed)
        yield "random trees, equal links", f"random:{seed},{rng.randint(3, 40)},{rng.randint(1, 10)},1"
    for section, names in CLUSTERS.items():
        yield from ((section, name) for name in names)
    yield from (("tori", name) for name in tori(most))
    larger = sorted(set(tori(MOST_RANKS)) - set(tori(most)))
    yield from (("larger tori", name) for name in sorted(Random(1).sample(larger, min(sample, len(larger)))))


def measure(section: str, name: str) -> Row:
    """One row a network: of each collective the algorithm, its phases, seconds and their bound."""
    network = build(name)
    row: Row = {"section": section, "network": name, "ranks": network.ranks}
    for name_of, collective in ((one.name, one) for one in _core.collectives() if one.name in COLLECTIVES):
        size = BYTES // network.ranks if name_of == "reduce-scatter" else BYTES
        demand = collective.demand(network.ranks, size, 0)
        planned = _core.plan_exchange(network, demand, None, "", 0.0, 1)
        certificate = check(network, demand, planned.schedule, planned.waits, planned.algorithm.ports)
        if not certificate.ok:
            raise SystemExit(f"{name}: the verifier refuses the {name_of}: {certificate.findings[0]}")
        seconds = _core.lockstep_seconds(network, planned.schedule)
        row[name_of] = planned.algorithm.name
        row[f"{name_of} phases"] = planned.schedule.phases
        row[f"{name_of} seconds"] = f"{seconds:.9g}"
        row[f"{name_of} bound"] = f"{planned.bound_seconds:.9g}"
    return row


def summary(heading: Row, rows: list[Row]) -> list[str]:
    lines = [
        "# Reductions and broadcasts: time over the bound",
        "",
        f"{provenance(heading)}.",
        "",
        f"Vectors of {BYTES >> 20} MiB, one rank a host, no latencies, no per-message costs; every schedule passed the",
        "verifier, which follows whose parts each sum holds. Bounds: cuts of the network; of an all-reduce also",
        f"2 (N - 1) vectors into all hosts. Larger tori: a random sample of the others up to {MOST_RANKS} ranks.",
        "",
        "| networks | collective | cases | median | at most 1.02 | at most 1.1 | worst | where |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for section, cases in grouped(rows, "section").items():
        for collective in COLLECTIVES:
            ratios = [case[f"{collective} seconds"] / case[f"{collective} bound"] for case in cases]
            worst = cases[ratios.index(max(ratios))]["network"]
            lines.append(
                f"| {section} | {collective} | {len(cases)} | {median(ratios):.3f} | {sum(r <= 1.02 for r in ratios)} "
                f"| {sum(r <= 1.1 for r in ratios)} | {max(ratios):.3f} | {worst} |"
            )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=500)
    parser.add_argument("--most-ranks", type=int, default=MOST_RANKS, help="of a torus")
    parser.add_argument("--sample", type=int, default=0, help="so many of the larger tori")
    arguments, results = begin(parser, "reductions", summary)
    for section, cases in itertools.groupby(
        networks(arguments.trees, arguments.most_ranks, arguments.sample), lambda case: case[0]
    ):
        print(section, flush=True)
        for _, name in cases:
            results.add(measure(section, name))


if __name__ == "__main__":
    main()
