"""Scheduling an irregular exchange whose demand no rank knows as a whole: rounds of proposals, simulated.

Run by `make bench-irregular-distributed`; writes bench/results/irregular-distributed.{csv,md}. Everything is computed,
the same on every machine.
"""

from __future__ import annotations

import argparse
import sys
from math import log2
from pathlib import Path
from typing import Final

import numpy as np

from hocket import _core
from hocket.network import read_network

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Row, begin, provenance, table

CASES: Final = (
    (64, 8), (256, 16), (1_024, 8), (1_024, 32), (1_024, 128), (4_096, 32), (16_384, 8), (16_384, 32), (65_536, 32),
)  # fmt: skip
COSTS: Final = {"fabric": (1e-6, 2e-6), "Ethernet": (1e-5, 3e-5)}  # seconds: overhead of each end, latency
SEEDS: Final = 3
MOST_COMPARED: Final = 16_384  # ranks: RS_N, which knows everything, makes its schedule for comparison


def permutations(ranks: int, degree: int, seed: int) -> _core.Demand:
    """Everyone sends to `degree` others and hears from as many, but for pairs that come twice."""
    rng = np.random.default_rng([seed, ranks, degree])
    pairs: set[tuple[int, int]] = set()
    for _ in range(degree):
        order = rng.permutation(ranks).tolist()
        pairs.update(zip(order, order[1:] + order[:1], strict=True))
    src, dst = zip(*sorted(pairs), strict=True)
    return _core.Demand.irregular(ranks, src, dst, [65_536] * len(src))


def measure(ranks: int, degree: int, seed: int) -> Row:
    demand = permutations(ranks, degree, seed)
    row: Row = {"ranks": ranks, "degree": degree, "seed": seed}
    for name, (overhead, latency) in COSTS.items():
        run = _core.run_proposals(demand, seed, overhead, latency)
        row[f"ms {name}"] = round(1e3 * run.seconds, 3)
    row |= {
        "rounds": run.rounds, "counts": run.counts, "phases": run.phases, "messages": run.most_messages,
        "mean_messages": round(run.messages / ranks, 1), "bytes": run.bytes,
    }  # fmt: skip
    if ranks <= MOST_COMPARED:
        network = read_network(f"star:{ranks}")
        row["RS_N"] = _core.find_scheduler("RS_N", "irregular").make(network, demand, seed=seed).phases
    return row


def summary(heading: Row, rows: list[Row]) -> list[str]:
    costs = ", ".join(f"{name}: {1e6 * each:g} and {1e6 * way:g} µs" for name, (each, way) in COSTS.items())
    return [
        "# Irregular exchanges scheduled by proposals",
        "",
        f"{provenance(heading)}.",
        "Random demands: everybody sends to d others and hears from d. Simulated is every message of scheduling: those",
        "that tell receivers of their senders, proposals, replies, and counts over all ranks (a reduction and a",
        f"broadcast). A message costs both ends some time, one after the other, and has a latency ({costs}).",
        "Messages: those of scheduling that the busiest rank sent. Memory: of the rank that holds most. RS_N knows the",
        "whole demand.",
        "",
        *table(
            "ranks | d | seed | phases | RS_N | d + log₂ d | rounds | counts | messages | over d log₂ d | bytes a rank"
            " | ms, fabric | ms, Ethernet",
            lambda r: (
                f"{r['ranks']:,} | {r['degree']} | {r['seed']} | {r['phases']} | {r['RS_N'] or '–'}"
                f" | {r['degree'] + log2(r['degree']):.0f} | {r['rounds']} | {r['counts']} | {r['messages']:,}"
                f" | {r['messages'] / r['degree'] / log2(r['degree']):.1f} | {r['bytes']:,} | {r['ms fabric']:.2f}"
                f" | {r['ms Ethernet']:.1f}"
            ),
            rows,
        ),
    ]


def main() -> None:
    _, results = begin(argparse.ArgumentParser(description=__doc__), "irregular-distributed", summary)
    for ranks, degree in CASES:
        for seed in range(1, (SEEDS if ranks <= MOST_COMPARED else 1) + 1):
            results.add(measure(ranks, degree, seed))
        print(f"{ranks} ranks, d = {degree}: done", flush=True)


if __name__ == "__main__":
    main()
