"""Computes the cost of ranks agreeing on the phases of an irregular exchange among themselves, without a
common matrix.

Run by `make bench NAME=proposals`; writes bench/results/proposals.{csv,md}. Everything is computed, the same on every
machine; times are those of the built-in profiles of networks.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Final

import numpy as np

from hocket import _core

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Row, begin, cells, grouped, provenance

RANKS: Final = (256, 1_024, 4_096, 16_384, 65_536)
DEGREES: Final = (8, 32)
SEEDS: Final = 3
MOST_RANKS_COMPARED: Final = 4_096  # with RS_N, which walks over all rows in every phase
PROFILES: Final = ("ethernet-1g", "ib-hdr")


def random_demand(ranks: int, degree: int, seed: int) -> _core.Demand:
    """Random demand: each rank sends to `degree` others; some receive more than others."""
    rng = np.random.default_rng([seed, ranks, degree])
    targets = np.empty((ranks, degree), dtype=np.int64)
    for rank in range(ranks):
        targets[rank] = (rank + 1 + rng.choice(ranks - 1, degree, replace=False)) % ranks
    src = np.repeat(np.arange(ranks), degree)
    return _core.Demand.irregular(ranks, src.tolist(), targets.ravel().tolist(), [1 << 16] * len(src))


def busiest(demand: _core.Demand) -> int:
    """Messages of the busiest port: no schedule has fewer phases."""
    src, dst, _ = zip(*demand.list(), strict=True)
    return int(max(np.bincount(src).max(), np.bincount(dst).max()))


def seconds(found: _core.Proposals, ranks: int, profile: _core.CostProfile) -> float:
    """Time of the agreement, if the busiest rank takes part in all proposals one after the other, and each
    round is summed up over a tree and back. For each proposal a rank sends one message and receives one."""
    message = profile.send + profile.receive
    depth = math.ceil(math.log2(ranks))
    a_round = 2 * profile.latency + 2 * depth * (message + profile.latency)
    return float(found.most_exchanged * message + (found.rounds + 1) * a_round)


def measure() -> Iterator[Row]:
    known = {profile.name: profile for profile in _core.cost_profiles()}
    for ranks in RANKS:
        for degree in DEGREES:
            for seed in range(SEEDS):
                demand = random_demand(ranks, degree, seed)
                found = _core.propose(demand, seed)
                row: Row = {
                    "ranks": ranks,
                    "degree": degree,
                    "seed": seed,
                    "busiest": busiest(demand),
                    "phases": len(set(found.phase_of)),
                    "rounds": found.rounds,
                    "exchanged": found.most_exchanged,
                    "bytes": found.most_bytes,
                }
                row |= {name: seconds(found, ranks, known[name]) for name in PROFILES}
                if ranks <= MOST_RANKS_COMPARED:
                    star = _core.build_network(
                        [f"n{i}" for i in range(ranks)] + ["switch"], [1] * ranks + [0],
                        list(range(ranks)), [ranks] * ranks, [1e9] * ranks, [1e-6] * ranks,
                    )  # fmt: skip
                    whole = _core.find_algorithm("RS_N", "irregular").make(star, demand, seed=seed)
                    row["rs_n"] = whole.phases
                yield row


def summary(heading: Row, rows: list[Row]) -> list[str]:
    told = []
    for (ranks, degree), of in grouped(rows, "ranks", "degree").items():
        compared = [row["phases"] / row["rs_n"] for row in of if row.get("rs_n") is not None]
        told.append(
            [
                f"{ranks:,}",
                degree,
                f"{max(row['rounds'] for row in of)}",
                f"{max(row['exchanged'] for row in of)}",
                f"{max(row['bytes'] for row in of):,}",
                f"{mean(row['phases'] / row['busiest'] for row in of):.2f}",
                f"{mean(compared):.2f}" if compared else "",
                *(f"{1e3 * max(row[name] for row in of):.2f}" for name in PROFILES),
            ]
        )
    return [
        "# Phases that ranks agree on among themselves",
        "",
        f"{provenance(heading)}.",
        "",
        *cells(
            [
                "ranks",
                "partners",
                "rounds",
                "proposals",
                "bytes",
                "phases / bound",
                "phases / RS_N",
                *(f"{name}, ms" for name in PROFILES),
            ],
            told,
        ),
        "",
        "Algorithm `proposals`, everyone with so many partners at random. Rounds, and of the busiest rank proposals",
        "and the bytes that it keeps: the most of three seeds. Bound: the messages of the busiest rank. RS_N knows all",
        "messages. Milliseconds: by the built-in profiles, the busiest rank's proposals one after the other.",
    ]


def main() -> None:
    """Computes all of it."""
    _, results = begin(argparse.ArgumentParser(description=__doc__), "proposals", summary)
    for row in measure():
        results.add(row)


if __name__ == "__main__":
    main()
