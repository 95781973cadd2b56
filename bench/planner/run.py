"""Planning times and memory: `make bench NAME=planner`. Each case runs in its own process, three times.

Writes bench/results/planner.{csv,md}.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

from processes import answer_of

from hocket import _core
from hocket.network import read_network

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Row, begin, provenance, table

REPEATS = 3
WINDOW = 1
# name: (network, limit in seconds, limit in MiB)
CASES: dict[str, tuple[str, float, float]] = {
    "1,024 hosts, 3 levels (4x16x16)": ("tree:4x16x16", 2.0, 1024),
    "4,096 hosts, 3 levels (16x16x16)": ("tree:16x16x16", 60.0, 8192),
    "torus 15x22": ("torus:15x22", 5.0, 1024),
    "torus 17x13": ("torus:17x13", 5.0, 1024),
    "torus 23x10": ("torus:23x10", 5.0, 1024),
    "torus 16x16x16": ("torus:16x16x16", 60.0, 4096),
}


def measure(source: str) -> dict[str, Any]:
    """One case, in this process."""
    began = time.perf_counter()
    network = read_network(source)
    built, cpu_built = time.perf_counter(), time.process_time()
    result: dict[str, Any] = {"hosts": network.ranks, "network_seconds": built - began}
    demand = _core.Demand(network.ranks, 65536)
    chosen = _core.plan_exchange(network, demand, WINDOW)
    schedule, waits = chosen.schedule, chosen.waits
    planned = time.perf_counter()
    certificate = _core.verify(network, demand, schedule)
    _core.verify_waits(network, schedule, waits, certificate)
    result |= {
        "algorithm": chosen.algorithm.name,
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


def told(row: Row) -> Row:
    return row | {
        "per_message": row["waits"] / row["messages"],
        "ratio": row["phases"] / row["bound_phases"],
    }


def summary(heading: Row, rows: list[Row]) -> list[str]:
    return [
        "# Planner",
        "",
        f"{provenance(heading)}.",
        f"Median of {REPEATS} runs by time, each in its own process. Seconds are measured: schedule, waits",
        "and verification of schedule and waits, without building the network;",
        "CPU seconds leave out what other programs took; memory is the peak resident set of the process.",
        "",
        *table(
            "case | messages | phases | over the bound | waits per message | plan s | verify s | total s | CPU s"
            " | target s | peak MiB | target MiB",
            "{case} | {messages:,} | {phases:,} | {ratio:.3f} | {per_message:.2f} | {plan_seconds:.2f}"
            " | {verify_seconds:.2f} | {seconds:.2f} | {cpu_seconds:.2f} | {target_seconds:g}"
            " | {peak_rss_mib:.0f} | {target_mib:.0f}",
            map(told, rows),
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", choices=list(CASES), help="measure one case in this process, print JSON")
    options, results = begin(parser, "planner", summary)
    if options.case:
        print(json.dumps(measure(CASES[options.case][0])))
        return
    results.heading |= {"message_bytes": 65536, "window": WINDOW, "repeats": REPEATS}
    for name, (network, seconds, mib) in CASES.items():
        runs = [answer_of(__file__, "--case", name) for _ in range(REPEATS)]
        runs.sort(key=lambda run: run["seconds"])
        targets = {"network": network, "target_seconds": seconds, "target_mib": mib}
        every = {"all_seconds": [run["seconds"] for run in runs]}
        results.add({"case": name} | runs[REPEATS // 2] | targets | every)
        print(name, *runs, flush=True)


if __name__ == "__main__":
    main()
