"""Figures 2 and 3 of the NICE paper: what 5,000 random permutations of 1 KB cost on 32 nodes.

    python bench/irregular/permutations.py [--samples 5000]

Writes bench/results/irregular-permutations.{json,md} and docs/pictures/irregular-permutations.png.
"""

from __future__ import annotations

import argparse
from typing import Any, Final

import numpy as np
from machines import Machine, cm5, ipsc
from nice_pictures import PICTURES, draw_histograms
from numpy.typing import NDArray
from records import keep, stamp

from hocket import _core

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


def table(record: dict[str, Any]) -> str:
    lines = [
        "# What random permutations cost",
        "",
        f"`{record['command']}`, {record['date']}. Simulated, not measured: the machines and models of",
        f"`bench/irregular/machines.py`. {record['samples']:,} random permutations without fixed points of",
        "32 nodes, 1 KB each (figures 2 and 3 of the NICE paper); cost: until the last message has arrived.",
        "",
        "| machine | model | mean µs | least | most | within 5 % of the mean | paper |",
        "|---|---|---|---|---|---|---|",
    ]
    for machine, by_model in record["machines"].items():
        for model, found in by_model.items():
            lines.append(
                f"| {machine} | {model} | {found['mean_us']:.0f} | {found['least_us']:.0f} "
                f"| {found['most_us']:.0f} | {found['near_mean']:.1%} | {PAPER[machine.split(',')[0]]} |"
            )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--samples", type=int, default=5000)
    samples: int = parser.parse_args().samples
    record: dict[str, Any] = stamp("python bench/irregular/permutations.py") | {
        "samples": samples,
        "machines": {},
    }
    panels = []
    for machine in (cm5(32), ipsc(32)):
        found = costs(machine, samples)
        record["machines"][machine.name] = {model: summary(times) for model, times in found.items()}
        panels.append((machine.name, found))
        print(machine.name, record["machines"][machine.name], flush=True)
        keep("irregular-permutations", record, table)
    draw_histograms(panels, PICTURES / "irregular-permutations.png", samples)


if __name__ == "__main__":
    main()
