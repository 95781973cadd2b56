"""All-gather schedules against SimGrid SMPI: their time over the cut bound, and MPI libraries' algorithms.

    python bench/smpi/allgather.py [--quick]

The libraries' ranks are placed at random over the hosts (three seeds), as batch systems do; a schedule knows
where its ranks are. Writes bench/results/smpi-allgather.{csv,md}. Exit code 1 if a figure misses its
target, 2 if SimGrid is not installed.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from program import program_text
from referee import SETTINGS, Referee, attempt, need_tools, simgrid_version, tell_missed

from hocket import _core
from hocket.network import read_network
from hocket.units import format_bytes

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Row, begin, cells, grouped, provenance

RATE, LATENCY = "1Gbit", "1us"
# Network, and the most that the best schedule may take over the bound at TARGET_SIZE.
NETWORKS = {
    "chain (c), 4 × 8 hosts": ("chain:8,8,8,8", None),
    "unequal tree, 36 hosts": ("tree:(10,(8,(5,(2)),(4)),(7))", 1.05),
    "torus 8×8": ("torus:8x8", 1.3),
    "torus 4×4×4": ("torus:4x4x4", None),
    "mesh 8×8": ("mesh:8x8", None),
    "hypercube of 64": ("hypercube:6", None),
}
TARGET_SIZE = 65536
NATIVES = (
    "ring", "NTSLR", "pair", "rdb", "rhv", "bruck", "spreading_simple", "GB", "2dmesh", "mpich", "ompi",
    "mvapich2", "impi",
)  # fmt: skip
SEEDS = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class Result:
    network: str
    size: int
    algorithm: str  # our algorithm, or an algorithm of SMPI
    ours: bool
    seed: int | None  # of the placement; None: in order
    bound_seconds: float
    smpi_seconds: float | None
    ratio: float | None
    predicted_seconds: float | None = None
    reason: str | None = None  # why there is no time


def ours(referee: Referee, network: _core.Network, name: str, size: int) -> list[Result]:
    """Every contention-free algorithm that serves the network, under tokens."""
    demand = _core.Demand(network.ranks, size, "all-gather")
    bound = _core.lower_bounds(network, demand).seconds
    results = []
    for algorithm in _core.all_algorithms():
        if algorithm.pattern != "all-gather" or algorithm.why_not(network, demand):
            continue
        if not algorithm.contention_free:
            continue
        schedule = algorithm.make(network, demand)
        waits = _core.derive_waits(network, schedule)
        seconds = referee.program(program_text(schedule, waits, companions(schedule)))
        predicted = _core.simulate(
            network, schedule, waits, "token", _core.ModelParameters(latency_weighted=True)
        ).seconds
        results.append(
            Result(name, size, algorithm.name, True, None, bound, seconds, seconds / bound, predicted)
        )
        report(results[-1])
    return results


def companions(schedule: _core.Schedule) -> int:
    """Most messages that one rank sends in one phase: they go together."""
    messages = {(phase, src, dst) for phase, src, dst, *_ in schedule.rows()}
    return max(Counter((phase, src) for phase, src, _ in messages).values(), default=1)


def natives(referee: Referee, network: _core.Network, name: str, size: int, seed: int | None) -> list[Result]:
    bound = _core.lower_bounds(network, _core.Demand(network.ranks, size, "all-gather")).seconds
    results = []
    for algorithm in NATIVES:
        found = attempt(lambda algorithm=algorithm: referee.native(size, algorithm, "allgather"), bound)
        results.append(Result(name, size, algorithm, False, seed, bound, **found))
        report(results[-1])
    return results


def report(result: Result) -> None:
    ratio = f"{result.ratio:.4f} × bound" if result.ratio else f"no result: {result.reason}"
    placement = "" if result.seed is None else f", placement {result.seed}"
    print(
        f"{result.network}, {format_bytes(result.size)}, {result.algorithm}{placement}: {ratio}", flush=True
    )


def missed(results: list[Result]) -> list[str]:
    problems = []
    for name, (_, target) in NETWORKS.items():
        if target is None:
            continue
        ratios = [r.ratio for r in results if r.ours and r.network == name and r.size == TARGET_SIZE]
        best = min((ratio for ratio in ratios if ratio is not None), default=None)
        if best is None or best > target:
            problems.append(f"{name}: {best} × the bound, target {target}")
    return problems


def summary(heading: Row, rows: list[Row]) -> list[str]:
    results = [Result(**row) for row in rows]
    lines = [
        "# SimGrid SMPI as referee: all-gather",
        "",
        f"{provenance(heading)}, {heading['simgrid']}.",
        f"Simulated time over the cut bound; links of {RATE}/s and {LATENCY}. Made by `make bench NAME=smpi`.",
        "Libraries' algorithms: ranks in order | median over three random placements. Schedules know where",
        "their ranks are; a placement changes nothing for them.",
        "",
    ]
    ours_names = list(dict.fromkeys(r.algorithm for r in results if r.ours))
    for title, algorithms in (("Schedules", ours_names), ("Algorithms of SMPI", list(NATIVES))):
        told = []
        for (name, size), of in grouped(rows, "network", "size").items():
            found = grouped(of, "algorithm")
            told.append([name, format_bytes(size), *(_cell(found.get(a, [])) for a in algorithms)])
        lines += [f"## {title}", "", *cells(["network", "contribution", *algorithms], told), ""]
    reasons = sorted({f"- {r.network}, {r.algorithm}: {r.reason}" for r in results if r.reason})
    return [*lines, "No result (—):", "", *reasons] if reasons else lines[:-1]


def _cell(rows: list[Row]) -> str:
    found = [row for row in rows if row["ratio"] is not None]
    in_order = [row["ratio"] for row in found if row["seed"] is None]
    shuffled = [row["ratio"] for row in found if row["seed"] is not None]
    parts = [f"{in_order[0]:.3f}"] if in_order else []
    parts += [f"{statistics.median(shuffled):.2f}"] if shuffled else []
    return " / ".join(parts) or ("—" if rows else "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="64 KiB and one placement only")
    parser.add_argument("--network", action="append", choices=list(NETWORKS), help="only these")
    options, kept = begin(parser, "smpi-allgather", summary)
    need_tools()
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="hocket-smpi-") as scratch:
        for name in options.network or NETWORKS:
            network = read_network(f"{NETWORKS[name][0]}@{RATE},{LATENCY}")
            for size in (TARGET_SIZE,) if options.quick else (TARGET_SIZE, 1024, 1048576):
                in_order = Referee(network, Path(scratch))
                results += ours(in_order, network, name, size)
                results += natives(in_order, network, name, size, None)
                for seed in SEEDS[:1] if options.quick else SEEDS:
                    places = list(range(network.ranks))
                    random.Random(seed).shuffle(places)
                    results += natives(Referee(network, Path(scratch), places), network, name, size, seed)
    kept.heading |= {"simgrid": simgrid_version(), "settings": SETTINGS}
    kept.add(*map(asdict, results))
    return tell_missed(missed(results) if not options.network else [])


if __name__ == "__main__":
    sys.exit(main())
