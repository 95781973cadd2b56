"""Figures 2 and 3 of the NICE paper: what 5,000 random permutations of 1 KB cost on 32 nodes.

    python papers/nice/permutations.py [--samples 5000]

Writes results/permutations.{csv,md} and results/permutations.png.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

import numpy as np
from nice_pictures import PICTURES, draw_histograms
from numpy.typing import NDArray

from hocket import _core
from machines import Machine, cm5, ipsc

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
from results_file import Block, Row, begin, provenance, table

BYTES: Final = 1024
NEAR: Final = 0.05  # of the mean
PAPER: Final = {"CM-5": "99.5 % (4,979 of 5,000)", "iPSC/860": "no figure"}


def derangement(ranks: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """A random permutation without fixed points: each node sends to a different one."""
    while True:
        order = rng.permutation(ranks)
        if (order != np.arange(ranks)).all():
            return order


def costs(machine: Machine, samples: int) -> dict[str, NDArray[np.float64]]:
    """Seconds until all have arrived, per model."""
    rng, ranks = np.random.default_rng(1), machine.ranks
    times = np.empty((len(machine.models), samples))
    for sample in range(samples):
        to = derangement(ranks, rng).tolist()
        demand = _core.Demand.irregular(ranks, list(range(ranks)), to, [BYTES] * ranks)
        schedule = machine.plan(demand, "RS_N")
        times[:, sample] = [machine.seconds(model, schedule, "RS_N") for model in machine.models]
    return dict(zip(machine.models, times, strict=True))


def summary(times: NDArray[np.float64]) -> dict[str, float]:
    mean = float(times.mean())
    return {
        "mean_us": 1e6 * mean,
        "least_us": 1e6 * float(times.min()),
        "most_us": 1e6 * float(times.max()),
        "near_mean": float((abs(times / mean - 1) <= NEAR).mean()),
    }


def text(heading: Row, rows: list[Row]) -> list[Block]:
    return [
        "# What random permutations cost",
        f"{provenance(heading)}. Simulated, not measured: the machines and models of\n"
        f"`papers/nice/machines.py`. {heading['samples']:,} random permutations without fixed points of\n"
        "32 nodes, 1 KB each (figures 2 and 3 of the NICE paper); cost: until the last message has arrived.",
        table(
            "machine | model | mean µs | least | most | within 5 % of the mean | paper",
            "{machine} | {model} | {mean_us:.0f} | {least_us:.0f} | {most_us:.0f} | {near_mean:.1%} | {paper}",
            (row | {"paper": PAPER[row["machine"].split(",")[0]]} for row in rows),
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=5000)
    options, results = begin(parser, "permutations", text)
    results.heading["samples"] = options.samples
    panels = []
    for machine in (cm5(32), ipsc(32)):
        found = costs(machine, options.samples)
        results.add(
            *({"machine": machine.name, "model": model} | summary(times) for model, times in found.items())
        )
        panels.append((machine.name, found))
    draw_histograms(panels, PICTURES / "permutations.png", options.samples)


if __name__ == "__main__":
    main()
