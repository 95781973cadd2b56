"""Measures scheduling of irregular exchanges: CPU time, phases, splits, time over the bound.

Run by `make bench NAME=irregular-cost`; writes bench/results/irregular-cost.{csv,md}. CPU time of the algorithm
alone, including the schedule that it returns; the demand is there before.
"""

from __future__ import annotations

import argparse
import sys
import time
from math import isqrt, log, log2
from pathlib import Path
from statistics import fmean, median
from typing import Any, Final

from testsets import demand, random_matrix

from hocket import _core
from hocket.network import read_network

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Row, begin, provenance, table

CASES: Final = (
    (64, 4),
    (64, 16),
    (64, 32),
    (256, 4),
    (256, 16),
    (256, 128),
    (1024, 4),
    (1024, 32),
    (4096, 4),
    (4096, 32),
)
ALGORITHMS: Final = {  # the network each is meant for
    "AC": "star",
    "LP": "star",
    "RS_N": "star",
    "RS_NH": "star",
    "RS_NL": "torus",
    "RS_NLH": "torus",
    "colouring": "star",
    "open-shop": "star",
}
TARGETS: Final = {  # algorithm: ranks, density, ms
    "RS_N": (1024, 32, 5),
    "RS_NL": (1024, 32, 50),
    "RS_NLH": (1024, 32, 100),
    "colouring": (4096, 32, 100),
}
MATRICES, LARGE = 3, 2**16  # matrices per case; one of so many messages or more
RUNS, SECONDS = 20, 0.5  # per matrix; at least 3 runs, and no more once they have taken so long


def measure(name: str, network: _core.Network, demands: list[_core.Demand]) -> dict[str, Any]:
    algorithm = _core.find_algorithm(name, "irregular")
    milliseconds, phases, splits, ratios = [], [], [], []
    for seed, one in enumerate(demands):
        runs: list[float] = []
        while len(runs) < RUNS and (len(runs) < 3 or sum(runs) < SECONDS):
            began = time.process_time()
            schedule = algorithm.make(network, one, seed=seed)
            runs.append(time.process_time() - began)
        certificate = _core.verify(network, one, schedule)
        if not certificate.complete or (algorithm.contention_free and not certificate.ok):
            raise SystemExit(f"{name}, {one.ranks} ranks: {certificate.findings}")
        milliseconds += [1000 * run for run in runs]
        phases.append(schedule.phases)
        splits.append(len(schedule) / one.messages - 1)
        ratios.append(
            _core.lockstep_seconds(network, schedule) / _core.lower_bounds(network, one).one_port_seconds
        )
    return {
        "median_ms": median(milliseconds),
        "least_ms": min(milliseconds),
        "runs": len(milliseconds),
        "phases": fmean(phases),
        "splits": fmean(splits),
        "over_bound": fmean(ratios),
    }


def rows_of(ranks: int, density: int) -> list[Row]:
    demands = [
        demand(random_matrix(ranks, density, "non-uniform", seed))
        for seed in range(1 if ranks * density >= LARGE else MATRICES)
    ]
    networks = {
        "star": read_network(f"star:{ranks}"),
        "torus": read_network(f"torus:{isqrt(ranks)}x{isqrt(ranks)}"),
    }
    return [
        {"ranks": ranks, "density": density, "algorithm": name, "network": kind}
        | measure(name, networks[kind], demands)
        for name, kind in ALGORITHMS.items()
    ]


def per_step(row: dict[str, Any]) -> float:
    """Nanoseconds per row and phase over 1 + ln d, which section 3.3 expects to be a constant."""
    return 1e6 * row["median_ms"] / (row["phases"] * row["ranks"] * (1 + log(row["density"])))


def summary(heading: Row, rows: list[Row]) -> list[str]:
    chosen = {(row["algorithm"], row["ranks"], row["density"]): row for row in rows}
    targets = [
        chosen[name, ranks, density] | {"target": most}
        for name, (ranks, density, most) in TARGETS.items()
        if (name, ranks, density) in chosen
    ]
    return [
        "# What scheduling an irregular exchange costs",
        "",
        f"{provenance(heading)}.",
        f"Random matrices of test set 1: {MATRICES} per row, 1 from {LARGE:,} messages on; 1 to 8 units of",
        f"64 KB per message. CPU time of up to {RUNS} runs per matrix, on a machine that others used at the",
        "same time. Star: one switch; torus: two equal sides. Time / bound: phases one after the other over",
        "the busiest port or channel.",
        "Splits: additional parts per message.",
        "",
        "## Targets",
        "",
        *table(
            "algorithm | ranks | d | target ms | median ms | least ms",
            "{algorithm} | {ranks:,} | {density} | {target} | {median_ms:.2f} | {least_ms:.2f}",
            targets,
        ),
        "",
        "## Random scheduling: phases and complexity",
        "",
        "Section 3.3 of the paper expects d + log₂ d phases and n ln d + n steps for each.",
        "",
        *table(
            "ranks | d | phases of RS_N | d + log₂ d | ns per phase and n (1 + ln d)",
            lambda row: (
                f"{row['ranks']:,} | {row['density']} | {row['phases']:.1f}"
                f" | {row['density'] + log2(row['density']):.1f} | {per_step(row):.1f}"
            ),
            [row for row in rows if row["algorithm"] == "RS_N"],
        ),
        "",
        "## All",
        "",
        *table(
            "ranks | d | algorithm | network | median ms | least ms | phases | splits | time / bound",
            "{ranks:,} | {density} | {algorithm} | {network} | {median_ms:.2f} | {least_ms:.2f}"
            " | {phases:.1f} | {splits:.2f} | {over_bound:.3f}",
            rows,
        ),
    ]


def main() -> None:
    _, results = begin(argparse.ArgumentParser(description=__doc__), "irregular-cost", summary)
    for ranks, density in CASES:
        results.add(*rows_of(ranks, density))
        print(f"{ranks} ranks, d = {density}: done", flush=True)


if __name__ == "__main__":
    main()
