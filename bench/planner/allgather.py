"""Planning times of all-gathers: the search over all gossip algorithms, and whole schedules.

    python bench/planner/allgather.py

Three runs of each case in this process, medians; writes bench/results/planner-allgather.json and .md.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hocket import _core
from hocket.network import read_network

RESULTS = Path(__file__).parents[1] / "results"
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
PLANS = ("torus:24x24", "torus:32x32", "torus:64x64", "mesh:32x32", "tree:4x16x16", "tree:16x16x16")
SIZE = 65536


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """The result and the median seconds."""
    seconds = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - began)
    return result, statistics.median(seconds)


def search(sides: list[int], wraparound: bool, r: float) -> dict[str, Any]:
    """Every algorithm of both models with its best parameters."""

    def work() -> list[Any]:
        return [
            _core.gossip.candidates(sides, r, wraparound=wraparound, shared=shared)
            for shared in (False, True)
        ]

    (strict, shared), seconds = timed(work)
    return {
        "r": r,
        "seconds": seconds,
        "algorithms": len(shared),
        "best": f"{strict[0].name}, {strict[0].ratio:.2f} × bound",
        "best_shared": f"{shared[0].name}, {shared[0].ratio:.2f} × bound",
    }


def plan(form: str) -> dict[str, Any]:
    """Schedule and proof; the time of its longest messages, phase by phase, over the bound."""
    network = read_network(f"{form}@1Gbit,0")
    demand = _core.Demand(network.ranks, SIZE, "all-gather")
    bound = _core.lower_bounds(network, demand).seconds
    scheduler = _core.choose_scheduler(network, demand)
    schedule, seconds = timed(lambda: scheduler.make(network, demand))
    certificate, verify_seconds = timed(lambda: _core.verify(network, demand, schedule, scheduler.ports))
    in_lockstep = sum(schedule.longest()) / network.host_rate
    return {
        "network": form,
        "scheduler": scheduler.name,
        "phases": schedule.phases,
        "transfers": len(schedule),
        "plan_seconds": seconds,
        "verify_seconds": verify_seconds,
        "ratio": in_lockstep / bound,
        "ok": certificate.ok,
    }


def table(report: dict[str, Any]) -> str:
    lines = [
        "# Planning of all-gathers",
        "",
        f"`{report['command']}`, {report['date']}, {report['machine']}, median of {REPEATS} runs.",
        "",
        f"## Search over all algorithms, strict and shared model (target {SEARCH_TARGET:g} s)",
        "",
        "| grid | r | seconds | best, no link shared | best |",
        "|---|---|---|---|---|",
    ]
    for name, rows in report["searches"].items():
        lines += [
            f"| {name} | {row['r']:g} | {row['seconds']:.3f} | {row['best']} | {row['best_shared']} |"
            for row in rows
        ]
    lines += [
        "",
        "## Schedules of 64 KiB contributions",
        "",
        "Time / bound: the longest messages of all phases one after the other, over the cut bound.",
        f"Target for 24×24: {TORUS_RATIO:g} in {TORUS_TARGET:g} s.",
        "",
        "| network | scheduler | phases | transfers | plan s | verify s | time / bound | verified |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['network']} | {row['scheduler']} | {row['phases']:,} | {row['transfers']:,} "
        f"| {row['plan_seconds']:.3f} | {row['verify_seconds']:.3f} | {row['ratio']:.4f} "
        f"| {'yes' if row['ok'] else 'NO'} |"
        for row in report["plans"]
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    report: dict[str, Any] = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "command": "python bench/planner/allgather.py",
        "machine": f"{os.cpu_count()} × {platform.machine()}",
        "python": platform.python_version(),
        "searches": {
            name: [search(sides, wraps, r) for r in RATIOS] for name, (sides, wraps) in GRIDS.items()
        },
        "plans": [plan(form) for form in PLANS],
    }
    text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    (RESULTS / "planner-allgather.json").write_text(text, encoding="utf-8")
    (RESULTS / "planner-allgather.md").write_text(table(report), encoding="utf-8")
    print(table(report))


if __name__ == "__main__":
    main()
