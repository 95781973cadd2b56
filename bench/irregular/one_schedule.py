"""The phases of the equal all-to-all under messages that differ in size: time over the bound of those very sizes.

Run by `make bench NAME=irregular-sizes`; writes bench/results/irregular-one-schedule.{csv,md}. Calculated with
tokens: a message starts when those before it on its channels are done. Beside it a schedule that is planned for the
sizes, and the library's all-at-once, simulated with the contention of an assumed network.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np
from numpy.typing import NDArray
from testsets import Matrix, demand

from hocket import _core
from hocket.demand.collectives import find
from hocket.network import read_network

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Row, begin, provenance, table

MEAN: Final = 65536
PLANNED: Final = 256  # ranks, at most, of schedules for the sizes
SIMULATED: Final = 128  # ranks, at most, of all messages at once
SEEDS: Final = 3


def even(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    return np.ones((n, n))


def heavy(axis: int) -> Callable[[np.random.Generator, int], NDArray[np.float64]]:
    """The messages of one sender (0) or receiver (1) are a hundred times as long."""

    def sizes(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
        weights = np.ones((n, n))
        one = int(rng.integers(n))
        weights[(one, slice(None)) if axis == 0 else (slice(None), one)] = 100
        return weights

    return sizes


def sparse(share: float) -> Callable[[np.random.Generator, int], NDArray[np.float64]]:
    return lambda rng, n: (rng.random((n, n)) < share).astype(float)


SIZES: Final[dict[str, Callable[[np.random.Generator, int], NDArray[np.float64]]]] = {
    "equal": even,
    "uniform 0.5–1.5": lambda rng, n: 0.5 + rng.random((n, n)),
    "uniform 0–2": lambda rng, n: 2 * rng.random((n, n)),
    "exponential": lambda rng, n: rng.exponential(size=(n, n)),
    "half of the pairs": sparse(0.5),
    "a quarter of the pairs": sparse(0.25),
    "a hundredth 100 times": lambda rng, n: np.where(rng.random((n, n)) < 0.01, 100.0, 1.0),
    "one heavy row": heavy(0),
    "one heavy column": heavy(1),
    "Pareto 1.5": lambda rng, n: 1 + rng.pareto(1.5, (n, n)),
}
NETWORKS: Final = (
    *("star:64", "chain:8,8,8,8", "chain:16,16,16,16", "fat-tree:8x8x4"),
    *("fat-tree:16x16x8", "fat-tree:32x32x16"),
)


def matrix(kind: str, n: int, seed: int) -> Matrix:
    rng = np.random.default_rng([seed, n, list(SIZES).index(kind)])
    weights = SIZES[kind](rng, n)
    np.fill_diagonal(weights, 0)
    return np.rint(weights * MEAN * n * (n - 1) / weights.sum()).astype(np.int64)


def with_sizes(schedule: _core.Schedule, bytes_: Matrix) -> _core.Schedule:
    """The same transfers in the same phases; messages without bytes take no time."""
    rows = [
        (phase, src, dst, src, dst, 0, int(bytes_[src, dst]))
        for phase, src, dst, *_ in schedule.rows()
        if bytes_[src, dst] > 0
    ]
    return _core.Schedule.from_rows(schedule.ranks, int(bytes_.max()), rows)


def at_once(network: _core.Network, bytes_: Matrix) -> float:
    """Seconds if each rank posts all its messages, to the next rank first."""
    n = network.ranks
    rows = [
        (0, i, (i + step) % n, i, (i + step) % n, 0, int(bytes_[i, (i + step) % n]))
        for step in range(1, n)
        for i in range(n)
        if bytes_[i, (i + step) % n] > 0
    ]
    schedule = _core.Schedule.from_rows(n, int(bytes_.max()), rows)
    profile = _core.profile_of(network)
    parameters = _core.ModelParameters(host_shared=profile.hosts, switch_link_shared=profile.switch_links)
    return float(_core.simulate(network, schedule, None, "free", parameters).seconds)


def measure(name: str, kind: str) -> Row:
    network = read_network(name)
    n = network.ranks
    phases = _core.plan_exchange(network, find("all-to-all").demand(n, MEAN, 0)).schedule
    found: dict[str, list[float]] = {"phases": [], "planned": [], "at_once": []}
    for seed in range(SEEDS if n <= PLANNED else 1):
        bytes_ = matrix(kind, n, seed)
        exchange = demand(bytes_)
        bound = _core.least_seconds(network, exchange, _core.lower_bounds(network, exchange))
        found["phases"].append(_core.token_seconds(network, with_sizes(phases, bytes_)) / bound)
        if n <= PLANNED:
            planned = _core.plan_exchange(network, exchange).schedule
            found["planned"].append(_core.token_seconds(network, planned) / bound)
        if n <= SIMULATED:
            found["at_once"].append(at_once(network, bytes_) / bound)
    return {"network": name, "ranks": n, "sizes": kind} | {
        key: median(values) if values else None for key, values in found.items()
    }


def summary(heading: Row, rows: list[Row]) -> list[str]:
    number = lambda value: "–" if value is None else f"{value:.2f}"  # noqa: E731
    return [
        "# One schedule for all sizes",
        "",
        f"{provenance(heading)}.",
        f"Time over the bound of the very sizes, of {SEEDS} matrices of 64 KiB a message on average the median (one",
        f"matrix above {PLANNED} ranks). *Phases*: those of the equal all-to-all, whatever messages weigh, with",
        "tokens; *planned*: a schedule for the sizes; *at once*: every rank posts all its messages, with the",
        "contention that predictions assume.",
        "",
        *table(
            "network | ranks | sizes | phases | planned | at once",
            lambda row: (
                f"{row['network']} | {row['ranks']} | {row['sizes']} | "
                + " | ".join(number(row[key]) for key in ("phases", "planned", "at_once"))
            ),
            rows,
        ),
    ]


def main() -> None:
    _, results = begin(argparse.ArgumentParser(description=__doc__), "irregular-one-schedule", summary)
    for network in NETWORKS:
        for kind in SIZES:
            results.add(measure(network, kind))


if __name__ == "__main__":
    main()
