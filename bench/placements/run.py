"""Compares the library's orders with Hocket's on the hosts of 100 real jobs, by link rates alone.

    python bench/placements/run.py

Run by `make bench NAME=placements`; writes bench/results/real-placements.{csv,md}. Everything is computed: the same on
every machine. Capacities of the system are not public: two networks are assumed.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hocket import _core
from hocket.demand.collectives import library_calls
from hocket.network import Defaults
from hocket.network.description import NetworkDescription
from hocket.network.known import settle_uplinks
from hocket.network.parts import Link
from hocket.planning.plan import PlannedExchange, plan_collective

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Row, begin, grouped, provenance, table

JOBS: Final = Path(__file__).with_name("jobs.csv")
RATE: Final = 12.5e9  # bytes/s of a host's link; ratios do not depend on it
BYTES: Final = 1 << 20
# Downlink-to-uplink bandwidth ratio of leaves and of cells, for the job's share of them.
NETWORKS: Final = {"leaves full, cells 2:1": (1.0, 2.0), "leaves 2:1, cells 2:1": (2.0, 2.0)}
COLLECTIVES: Final = ("all-gather", "all-to-all", "all-reduce")
RANKS: Final = (1, 4, 32)  # of a host
WINDOWS: Final = (1, 2, 4, 8)  # of a schedule, among which a run chooses
Array = NDArray[np.int64]


@dataclass(frozen=True)
class Job:
    """The hosts of a job in host order: the number of the leaf of each, and of the cell."""

    leaf: Array
    cell: Array

    @property
    def hosts(self) -> int:
        return len(self.leaf)


def read_jobs(path: Path = JOBS) -> list[Job]:
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    jobs: dict[str, list[dict[str, str]]] = {}
    for row in csv.DictReader(lines):
        jobs.setdefault(row["job"], []).append(row)
    return [
        Job(*(_numbered([row[key] for row in rows]) for key in ("leaf", "cell"))) for rows in jobs.values()
    ]


def _numbered(names: Sequence[str]) -> Array:
    number: dict[str, int] = {}
    return np.array([number.setdefault(name, len(number)) for name in names])


def network_of(job: Job, shares: tuple[float, float]) -> _core.Network:
    """Hosts, leaves, cells and a root, as wide as the shares say of the links of these hosts."""
    description = NetworkDescription(source="job")
    description.add_switch("root")
    cells, leaves = int(job.cell.max()) + 1, int(job.leaf.max()) + 1
    for cell in range(cells):
        description.add_switch(f"cell{cell}")
        description.links.append(Link("root", f"cell{cell}", RATE, 1e-6))
    for leaf in range(leaves):
        description.add_switch(f"leaf{leaf}")
        above = int(job.cell[np.flatnonzero(job.leaf == leaf)[0]])
        description.links.append(Link(f"cell{above}", f"leaf{leaf}", RATE, 1e-6))
    for host, leaf in enumerate(job.leaf):
        description.add_host(f"n{host}")
        description.links.append(Link(f"leaf{leaf}", f"n{host}", RATE, 1e-6))
    settle_uplinks(description, Defaults(oversubscription=shares))
    return description.build()


class Steps:
    """Time of a library's steps. Ranks lie on the hosts block by block or in turns; messages within a host
    take no time."""

    def __init__(self, job: Job, shares: tuple[float, float], ranks: int, cyclic: bool) -> None:
        self.ranks = job.hosts * ranks
        rank = np.arange(self.ranks)
        host = rank % job.hosts if cyclic else rank // ranks
        wide = np.bincount(job.leaf) / shares[0]  # of the uplink of each leaf, in links of a host
        above = np.zeros(int(job.cell.max()) + 1)
        np.add.at(above, job.cell[[np.flatnonzero(job.leaf == leaf)[0] for leaf in range(len(wide))]], wide)
        # Place of each rank on each level, and the width of the channels up and down from a place.
        self.levels = [
            (host, np.ones(job.hosts)),
            (job.leaf[host], wide),
            (job.cell[host], above / shares[1]),
        ]

    def take(self, shift: Array, bytes: float) -> float:
        """Seconds of the step in which rank i sends ``bytes`` to rank ``shift[i]``."""
        longest = 0.0
        for place, width in self.levels:
            there = place[shift]
            leaves = place != there
            for end in (place, there):
                load = np.bincount(end[leaves], minlength=len(width))
                longest = max(longest, float((load / width).max()))
        return longest * bytes / RATE

    def windows(self, schedule: _core.Schedule, window: int) -> float:
        """Seconds of a schedule, so many of its phases at once, as tokens of that window allow."""
        phase, src, dst, length = np.array(schedule.rows(), dtype=np.int64).reshape(-1, 7)[:, [0, 1, 2, 6]].T
        turn = phase // window
        turns = int(turn.max(initial=0)) + 1
        longest = np.zeros(turns)
        for place, width in self.levels:
            leaves = place[src] != place[dst]
            for end in (place[src], place[dst]):
                index = (turn * len(width) + end)[leaves]
                load = np.bincount(index, length[leaves], turns * len(width)).reshape(turns, -1)
                longest = np.maximum(longest, (load / width).max(axis=1))
        return float(longest.sum()) / RATE

    def ring(self, collective: str) -> float:
        n, rank = self.ranks, np.arange(self.ranks)
        if collective == "all-to-all":
            return sum(self.take((rank + k) % n, BYTES) for k in range(1, n))
        step = self.take((rank + 1) % n, BYTES if collective == "all-gather" else BYTES / n)
        return (n - 1) * step * (2 if collective == "all-reduce" else 1)

    def doubling(self, collective: str) -> float | None:
        """Partners whose numbers differ in bits: pairwise, recursive doubling, Rabenseifner's; powers of two only."""
        n, rank = self.ranks, np.arange(self.ranks)
        if n & (n - 1):
            return None
        if collective == "all-to-all":
            return sum(self.take(rank ^ k, BYTES) for k in range(1, n))
        block = BYTES if collective == "all-gather" else BYTES / n
        steps = sum(self.take(rank ^ (1 << bit), block * (1 << bit)) for bit in range(n.bit_length() - 1))
        return steps * (2 if collective == "all-reduce" else 1)


def scale(collective: str, ranks: int) -> int:
    """Bytes between hosts of so many ranks over those between hosts of one: aggregated, and through memory within."""
    return {"all-to-all": ranks * ranks, "all-gather": ranks, "all-reduce": 1}[collective]


def measure(number: int, job: Job, name: str, most_ranks: int) -> Iterator[Row]:
    shares = NETWORKS[name]
    network = network_of(job, shares)
    for collective in COLLECTIVES:
        planned = plan_collective(collective, network, BYTES)
        if not planned.certificate.ok:
            raise SystemExit(f"job {number}: the verifier refuses the {collective}")
        one = Steps(job, shares, 1, cyclic=False)
        hocket, window = min((one.windows(planned.schedule, window), window) for window in WINDOWS)
        row: Row = {
            "job": number, "hosts": job.hosts, "leaves": int(job.leaf.max()) + 1, "cells": int(job.cell.max()) + 1,
            "network": name, "collective": collective, "algorithm": planned.algorithm,
            "window": window, "hocket": round(hocket / planned.bound_seconds, 4),
        }  # fmt: skip
        for ranks in RANKS:
            for cyclic in (False, True)[: 1 if ranks == 1 else 2]:
                if job.hosts * ranks > most_ranks:
                    continue
                steps = Steps(job, shares, ranks, cyclic)
                planned_seconds = hocket * scale(collective, ranks)
                where = f"{ranks}{'' if ranks == 1 else ' cyclic' if cyclic else ' block'}"
                row[f"ring {where}"] = round(steps.ring(collective) / planned_seconds, 3)
                if (other := steps.doubling(collective)) is not None:
                    row[f"doubling {where}"] = round(other / planned_seconds, 3)
        if collective == "all-to-all":
            row |= simulated(network, planned)
        yield row


def simulated(network: _core.Network, planned: PlannedExchange) -> Row:
    """Time over the bound, by the simulator, whose ranks run ahead of each other."""

    def ratio(schedule: _core.Schedule, flow: str) -> float:
        return round(float(_core.simulate(network, schedule, None, flow).seconds) / planned.bound_seconds, 3)

    row: Row = {"simulated": min(ratio(planned.schedule, f"window:{window}") for window in WINDOWS)}
    for call in library_calls(planned.demand):
        if call.name in ("ring", "pairwise"):
            row[f"simulated {call.name}"] = ratio(call.make(network, planned.demand), call.flow)
    return row


WAYS: Final = ("1", "4 block", "4 cyclic", "32 block", "32 cyclic")

_NOTES: Final = (
    "hosts in host order, with leaf switch and cell. **Capacities are assumed**, as they are not public: the uplinks",
    "of a leaf carry as much as the links of the job's hosts below it, or half of it; those of a cell half of what",
    "its leaves' do. A job has its share of a link, as on a system that is full. Times are those of the wires alone,",
    "step after step, without latencies, per-message costs and other jobs; what goes within a host is free.",
    "",
    "Hocket: the planned schedule, verified, over the bound, with the best of windows 1, 2, 4, 8, as a run chooses;",
    "of hosts with several ranks one message between two hosts",
    "([aggregates](../../docs/running.md#several-ranks-a-host)), in either distribution. Ring: the library's ring in",
    "rank order; bits: partners whose numbers differ in bits (pairwise, recursive doubling, Rabenseifner's), jobs",
    "with a power of two of ranks only. Both over Hocket's time: more than 1, and Hocket is faster; less, and the",
    "chooser keeps the library's call. Median (first to third quartile).",
    "",
    "Step after step, all-to-alls lose where messages take unequally long: no rank waits for a step to end, neither a",
    "library's nor those of Hocket, whose schedules are made for that on such networks. The last table has both by the",
    "simulator, in which ranks run ahead of each other. The bound of an all-reduce counts each uplink once.",
)


def summary(heading: Row, rows: list[Row]) -> list[str]:
    jobs = len({row["job"] for row in rows})
    lines = [
        "# Real placements",
        "",
        f"{provenance(heading)}.",
        "",
        f"{jobs} jobs of a Slurm system of 4,992 hosts, a dragonfly+ of 22 cells (public data: HLC-Lab/pico): their",
        *_NOTES,
    ]
    for network, some in grouped(rows, "network").items():
        lines += ["", f"## {network[0].upper()}{network[1:]}", ""]
        lines += table(
            "collective | ranks a host | jobs | Hocket | worst | ring | least–most | bits | least–most",
            "{collective} | {way} | {jobs} | {hocket} | {hocket_worst:.2f} | {ring} | {ring_range} | {bits} | "
            "{bits_range}",
            [
                _told(collective, way, few)
                for collective, few in grouped(some, "collective").items()
                for way in WAYS
            ],
        )
    lines += ["", "## All-to-all, one rank a host, by the simulator: time over the bound", ""]
    return lines + table(
        "network | jobs | Hocket | least–most | ring | least–most | pairwise | least–most | Hocket before ring",
        _simulated,
        [
            {"network": network, "rows": some}
            for network, some in grouped(_of_all_to_alls(rows), "network").items()
        ],
    )


def _of_all_to_alls(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["collective"] == "all-to-all"]


def _simulated(row: Row) -> str:
    columns = ("simulated", "simulated ring", "simulated pairwise")
    found = [[float(one[key]) for one in row["rows"] if one.get(key) is not None] for key in columns]
    told = " | ".join(f"{_middle(values)} | {_range(values)}" for values in found)
    faster = sum(hocket < ring for hocket, ring in zip(*found[:2], strict=True))
    return f"{row['network']} | {len(row['rows'])} | {told} | {faster} of {len(row['rows'])}"


def _told(collective: str, way: str, rows: list[Row]) -> Row:
    told = [row for row in rows if row.get(f"ring {way}") is not None]
    hocket = [float(row["hocket"]) for row in told]
    ring = [float(row[f"ring {way}"]) for row in told]
    bits = [float(row[f"doubling {way}"]) for row in told if row.get(f"doubling {way}") is not None]
    return {
        "collective": collective, "way": way, "jobs": len(told), "hocket": _middle(hocket), "hocket_worst": max(hocket),
        "ring": _middle(ring), "ring_range": _range(ring),
        "bits": f"{_middle(bits)} of {len(bits)}" if bits else "–", "bits_range": _range(bits),
    }  # fmt: skip


def _range(values: Sequence[float]) -> str:
    return f"{min(values):.2f}–{max(values):.2f}" if values else "–"


def _middle(values: Sequence[float]) -> str:
    if len(values) < 4:
        return f"{median(values):.2f}"
    low, middle, high = quantiles(values, n=4)
    return f"{middle:.2f} ({low:.2f}–{high:.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most-ranks", type=int, default=8192)
    parser.add_argument("--jobs", type=int, default=100, help="the first so many")
    arguments, results = begin(parser, "real-placements", summary)
    for number, job in enumerate(read_jobs()[: arguments.jobs]):
        for name in NETWORKS:
            results.rows += measure(number, job, name, arguments.most_ranks)
        print(f"job {number}: {job.hosts} hosts", flush=True)
    results.add()


if __name__ == "__main__":
    main()
