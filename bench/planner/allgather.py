"""Planning times of all-gathers: the search over all gossip algorithms, and whole schedules.

    python bench/planner/allgather.py

Three runs of each case, medians; a schedule's all in a process of its own. Writes
bench/results/planner-allgather.{csv,md}.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from processes import answer_of

from hocket import _core
from hocket.network import read_network

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Row, begin, grouped, provenance, table

REPEATS = 3
RATIOS = (0.25, 16.0, 1024.0)
SEARCH_TARGET, TORUS_TARGET, TORUS_RATIO = 2.0, 0.5, 1.02  # seconds, seconds, × bound
GRIDS: dict[str, tuple[list[int], bool]] = {
    "ring of 4,096": ([4096], True),
    "ring of 4,093 (prime)": ([4093], True),
    "64×64 torus": ([64, 64], True),
    "63×65 torus": ([63, 65], True),
    "2×2048 torus": ([2, 2048], True),
    "16×16×16 torus": ([16, 16, 16], True),
    "8×8×8×8 torus": ([8, 8, 8, 8], True),
    "array of 4,096": ([4096], False),
    "64×64 mesh": ([64, 64], False),
}
PLANS = (
    "torus:24x24", "torus:32x32", "torus:64x64", "torus:16x16x16", "mesh:32x32", "tree:4x16x16", "tree:16x16x16"
)  # fmt: skip
CUBE_TARGETS = (4.0, 0.5)  # of 16×16×16: seconds of plan and proof, GB
SIZE = 65536


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """The result and the median seconds."""
    seconds = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - began)
    return result, statistics.median(seconds)


def search(name: str, sides: list[int], wraparound: bool, r: float) -> Row:
    """Every algorithm of both models with its best parameters."""

    def work() -> list[Any]:
        return [
            _core.gossip.candidates(sides, r, wraparound=wraparound, shared=shared)
            for shared in (False, True)
        ]

    (strict, shared), seconds = timed(work)
    return {
        "part": "search",
        "network": name,
        "r": r,
        "plan_seconds": seconds,
        "algorithms": len(shared),
        "best": f"{strict[0].name}, {strict[0].ratio:.2f} × bound",
        "best_shared": f"{shared[0].name}, {shared[0].ratio:.2f} × bound",
    }


def plan(form: str) -> Row:
    """Schedule and proof; the time of its longest messages, phase by phase, over the bound."""
    network = read_network(f"{form}@1Gbit,0")
    demand = _core.Demand(network.ranks, SIZE, "all-gather")
    bound = _core.lower_bounds(network, demand).seconds
    planned, seconds = timed(lambda: _core.plan_exchange(network, demand))
    algorithm, schedule = planned.algorithm, planned.schedule
    certificate, verify_seconds = timed(lambda: _core.verify(network, demand, schedule, algorithm.ports))
    in_lockstep = sum(schedule.longest()) / network.host_rate
    return {
        "part": "plan",
        "network": form,
        "algorithm": algorithm.name,
        "phases": schedule.phases,
        "transfers": len(schedule),
        "plan_seconds": seconds,
        "verify_seconds": verify_seconds,
        "ratio": in_lockstep / bound,
        "peak_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "ok": certificate.ok,
    }


def summary(heading: Row, rows: list[Row]) -> list[str]:
    parts = grouped(rows, "part")
    return [
        "# Planning of all-gathers",
        "",
        f"{provenance(heading)}, median of {REPEATS} runs.",
        "",
        f"## Search over all algorithms, strict and shared model (target {SEARCH_TARGET:g} s)",
        "",
        *table(
            "grid | r | seconds | best, no link shared | best",
            "{network} | {r:g} | {plan_seconds:.3f} | {best} | {best_shared}",
            parts["search"],
        ),
        "",
        "## Schedules of 64 KiB contributions",
        "",
        "Time / bound: the longest messages of all phases one after the other, over the cut bound.",
        f"Targets: 24×24 {TORUS_RATIO:g} in {TORUS_TARGET:g} s; 16×16×16 plan and proof in {CUBE_TARGETS[0]:g} s and"
        f" {CUBE_TARGETS[1]:g} GB. Memory is the peak of the process.",
        "",
        *table(
            "network | algorithm | phases | transfers | plan s | verify s | peak MiB | time / bound | verified",
            "{network} | {algorithm} | {phases:,} | {transfers:,} | {plan_seconds:.3f}"
            " | {verify_seconds:.3f} | {peak_rss_mib:.0f} | {ratio:.4f} | {told}",
            (row | {"told": "yes" if row["ok"] else "NO"} for row in parts["plan"]),
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plan", choices=PLANS, help="measure one schedule in this process, print JSON")
    options, results = begin(parser, "planner-allgather", summary)
    if options.plan:
        print(json.dumps(plan(options.plan)))
        return
    searches = [search(name, sides, wraps, r) for name, (sides, wraps) in GRIDS.items() for r in RATIOS]
    results.add(*searches, *(answer_of(__file__, "--plan", form) for form in PLANS))
    print(results.summarise())


if __name__ == "__main__":
    main()
