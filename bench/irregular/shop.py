"""`open-shop` on sizes of any number of bytes: total time over the port bound, and splits per message.

Run by `make bench NAME=irregular-shop`; writes bench/results/irregular-open-shop.{csv,md}.
`cost.py` has sizes of a few equal units, where open-shop is exact and hardly splits.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, median
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from testsets import Matrix, demand, pattern

from hocket import _core
from hocket.network import read_network

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Row, begin, provenance, table

KB: Final = 1024
MOST: Final = 4 * KB**2
Shape = tuple[int, ...]


def popular(rng: np.random.Generator, ranks: int, density: int) -> NDArray[np.bool_]:
    """The share of ranks that send to a receiver falls by Zipf's law: the first ones get from nearly all."""
    weights = rng.permutation(1 / np.arange(1, ranks + 1))
    return rng.random((ranks, ranks)) < weights * density / weights.sum()


PATTERNS: Final[dict[str, Callable[[np.random.Generator, int, int], NDArray[np.bool_]]]] = {
    "regular": lambda rng, ranks, density: pattern(ranks, density, rng),
    "random": lambda rng, ranks, density: rng.random((ranks, ranks)) < density / (ranks - 1),
    "popular": popular,
}
SIZES: Final[dict[str, Callable[[np.random.Generator, Shape], NDArray[Any]]]] = {
    "64–512 KB": lambda rng, shape: rng.integers(64 * KB, 512 * KB, shape, endpoint=True),
    "1 B–4 MB": lambda rng, shape: rng.integers(1, MOST, shape, endpoint=True),
    "log-uniform": lambda rng, shape: MOST ** rng.random(shape),
    "Pareto": lambda rng, shape: np.minimum(4 * KB / (1 - rng.random(shape)) ** 0.8, MOST),
    "1 B or 1 TB": lambda rng, shape: rng.choice([1, 2, 3, 2**40, 2**40 + 1], shape),
}
CASES: Final = (  # ranks, density, matrices per row of the table
    (16, 4, 50),
    (16, 15, 50),
    (64, 4, 50),
    (64, 16, 20),
    (64, 63, 10),
    (256, 16, 10),
    (1024, 32, 5),
)


def matrix(ranks: int, density: int, partners: str, sizes: str, seed: int) -> Matrix:
    rng = np.random.default_rng(
        [seed, ranks, density, list(PATTERNS).index(partners), list(SIZES).index(sizes)]
    )
    sends = PATTERNS[partners](rng, ranks, density)
    np.fill_diagonal(sends, False)
    return sends * SIZES[sizes](rng, sends.shape).astype(np.int64)


def measure(network: _core.Network, bytes_: Matrix) -> dict[str, float]:
    exchange = demand(bytes_)
    began = time.process_time()
    schedule = _core.find_algorithm("open-shop", "irregular").make(network, exchange)
    seconds = time.process_time() - began
    certificate = _core.verify(network, exchange, schedule)
    if not certificate.ok:
        raise SystemExit(f"open-shop, {network.ranks} ranks: {certificate.findings}")
    total, bound = sum(schedule.longest()), int(max(bytes_.sum(0).max(), bytes_.sum(1).max()))
    return {
        "over_bound": total / bound,
        "exact": total == bound,
        "splits": len(schedule) / exchange.messages - 1,
        "phases": schedule.phases,
        "planning_ms": 1000 * seconds,
    }


def row(ranks: int, density: int, partners: str, sizes: str, matrices: int) -> Row:
    network = read_network(f"star:{ranks}")
    runs = [measure(network, matrix(ranks, density, partners, sizes, seed)) for seed in range(matrices)]
    ratios, splits = [run["over_bound"] for run in runs], [run["splits"] for run in runs]
    return {
        "ranks": ranks,
        "density": density,
        "partners": partners,
        "sizes": sizes,
        "matrices": matrices,
        "over_bound": median(ratios),
        "over_bound_worst": max(ratios),
        "exact": sum(run["exact"] for run in runs),
        "splits": fmean(splits),
        "splits_worst": max(splits),
        "phases": fmean(run["phases"] for run in runs),
        "planning_ms": median(run["planning_ms"] for run in runs),
    }


def summary(heading: Row, rows: list[Row]) -> list[str]:
    means = [row["splits"] for row in rows]
    worst_ratio, worst_splits = (
        max(row[name] for row in rows) for name in ("over_bound_worst", "splits_worst")
    )
    return [
        "# Open shop on sizes of any number of bytes",
        "",
        f"{provenance(heading)}.",
        "One switch. Partners: d in every row and column (regular); each pair with the same probability, d",
        "per rank on average (random); receivers by Zipf's law, d per sender on average (popular). Sizes:",
        "any number of bytes between the two with equal probability; 1 B to 4 MB, every factor equally",
        "likely (log-uniform); from 4 KB on with a tail of exponent 1.25, at most 4 MB (Pareto); 1, 2, 3,",
        "2⁴⁰ or 2⁴⁰ + 1 bytes (1 B or 1 TB). Time / bound: bytes of the longest transfer of each phase,",
        "summed, over the largest row or column sum: median (worst); exact: matrices where they are equal.",
        "Splits: additional parts per message, mean (worst matrix). Planning: median CPU time, on a machine",
        "that others used at the same time. Every schedule passed the verifier.",
        "",
        f"Over all rows: time / bound at most {worst_ratio:.4f}; splits per message {min(means):.2f} to",
        f"{max(means):.2f} on average, at most {worst_splits:.2f} in one matrix.",
        "",
        *table(
            "ranks | d | partners | sizes | matrices | time / bound | exact | splits | phases | planning ms",
            "{ranks:,} | {density} | {partners} | {sizes} | {matrices} | {over_bound:.4f} ({over_bound_worst:.4f})"
            " | {exact} | {splits:.2f} ({splits_worst:.2f}) | {phases:.1f} | {planning_ms:.2f}",
            rows,
        ),
    ]


def main() -> None:
    _, results = begin(argparse.ArgumentParser(description=__doc__), "irregular-open-shop", summary)
    for ranks, density, matrices in CASES:
        for partners in PATTERNS:
            if partners == "random" and density == ranks - 1:
                continue  # everyone to everyone, as in "regular"
            results.add(*(row(ranks, density, partners, sizes, matrices) for sizes in SIZES))
            print(f"{ranks} ranks, d = {density}, {partners}: done", flush=True)


if __name__ == "__main__":
    main()
