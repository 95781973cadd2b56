"""Planning times and memory: `make bench-planner`. Each case runs in its own process, three times.

Writes bench/results/planner.json and planner.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from processes import answer_of

from hocket import _core

RESULTS = Path(__file__).parents[1] / "results"
REPEATS = 3
# name: (branching, limit in seconds, limit in MiB)
CASES: dict[str, tuple[list[int], float, float]] = {
    "1,024 hosts, 3 levels (4x16x16)": ([4, 16, 16], 2.0, 1024),
    "4,096 hosts, 3 levels (16x16x16)": ([16, 16, 16], 60.0, 8192),
    "one row of 100,000 hosts (100x10x100)": ([100, 10, 100], 1.0, 500 * 1e6 / 2**20),
}


def balanced(sizes: list[int]) -> _core.Network:
    """A tree of switches with sizes[0] branches of sizes[1] branches …; the last are hosts."""
    names, ranks, a, b = ["s0"], [0], list[int](), list[int]()
    level = [0]
    for depth, size in enumerate(sizes):
        host = depth == len(sizes) - 1
        below = []
        for parent in level:
            for _ in range(size):
                below.append(len(names))
                a.append(parent)
                b.append(len(names))
                names.append(f"{'n' if host else 's'}{len(names)}")
                ranks.append(int(host))
        level = below
    return _core.build_network(names, ranks, a, b, [1.25e8] * len(a), [1e-6] * len(a))


def measure(sizes: list[int], row_only: bool) -> dict[str, Any]:
    """One case, in this process."""
    began = time.perf_counter()
    network = balanced(sizes)
    built, cpu_built = time.perf_counter(), time.process_time()
    result: dict[str, Any] = {"hosts": network.ranks, "network_seconds": built - began}
    if row_only:
        phases = _core.TreePhases(network)
        row = [phases.phase(network, 0, dst) for dst in range(1, network.ranks)]
        result |= {"messages": len(row), "phases": phases.phases, "ok": len(set(row)) == len(row)}
        result["plan_seconds"] = time.perf_counter() - built
    else:
        demand = _core.Demand(network.ranks, 65536)
        schedule = _core.find_scheduler("tree").make(network, demand)
        waits = _core.derive_waits(network, schedule)
        planned = time.perf_counter()
        certificate = _core.verify(network, demand, schedule)
        _core.verify_waits(network, schedule, waits, certificate)
        result |= {
            "messages": len(schedule),
            "phases": schedule.phases,
            "bound_phases": _core.lower_bounds(network, demand).phases,
            "waits": len(waits),
            "waits_before_reduction": waits.derived,
            "ok": certificate.ok,
            "plan_seconds": planned - built,
            "verify_seconds": time.perf_counter() - planned,
        }
    result["seconds"] = time.perf_counter() - built
    result["cpu_seconds"] = time.process_time() - cpu_built
    result["peak_rss_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return result


def table(report: dict[str, Any]) -> str:
    lines = [
        "# Planner",
        "",
        f"`{report['command']}`, {report['date']}, {report['machine']}, Python {report['python']}.",
        f"Median of {REPEATS} runs by time, each in its own process. Seconds are measured: schedule, waits",
        "and verification of schedule and waits (the row: closed form only), without building the network;",
        "CPU seconds leave out what other programs took; memory is the peak resident set of the process.",
        "",
        "| case | messages | phases | waits per message | plan s | verify s | total s | CPU s | target s "
        "| peak MiB | target MiB |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, case in report["cases"].items():
        waits = f"{case['waits'] / case['messages']:.2f}" if "waits" in case else "–"
        verify = f"{case['verify_seconds']:.2f}" if "verify_seconds" in case else "–"
        lines.append(
            f"| {name} | {case['messages']:,} | {case['phases']:,} | {waits} | {case['plan_seconds']:.2f} "
            f"| {verify} | {case['seconds']:.2f} | {case['cpu_seconds']:.2f} "
            f"| {case['target_seconds']:g} | {case['peak_rss_mib']:.0f} "
            f"| {case['target_mib']:.0f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", choices=list(CASES), help="measure one case in this process, print JSON")
    name = parser.parse_args().case
    if name:
        print(json.dumps(measure(CASES[name][0], name.startswith("one row"))))
        return
    report: dict[str, Any] = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "command": "make bench-planner",
        "machine": f"{os.cpu_count()} × {platform.machine()}",
        "python": platform.python_version(),
        "settings": {"scheduler": "tree", "message_bytes": 65536, "window": 1, "repeats": REPEATS},
        "cases": {},
    }
    for name, (sizes, seconds, mib) in CASES.items():
        runs = [answer_of(__file__, "--case", name) for _ in range(REPEATS)]
        runs.sort(key=lambda run: run["seconds"])
        case = runs[REPEATS // 2]
        case |= {"branching": sizes, "target_seconds": seconds, "target_mib": mib}
        case["all_seconds"] = [run["seconds"] for run in runs]
        report["cases"][name] = case
        print(
            f"{name}: {case['seconds']:.2f} s ({case['cpu_seconds']:.2f} CPU), "
            f"{case['peak_rss_mib']:.0f} MiB, ok={case['ok']}",
            flush=True,
        )
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "planner.json").write_text(
        json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    (RESULTS / "planner.md").write_text(table(report), encoding="utf-8")


if __name__ == "__main__":
    main()
