"""Planning times and memory: `make bench-planner`. Each case runs in its own process, three times.

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
    "4,096 hosts, 3 levels (16x16x16)": ("tree:16x16x16", 10.0, 2e9 / 2**20),
    "torus 15x22": ("torus:15x22", 5.0, 1024),
    "torus 17x13": ("torus:17x13", 5.0, 1024),
    "torus 23x10": ("torus:23x10", 5.0, 1024),
    "torus 16x16x16": ("torus:16x16x16", 60.0, 4096),
    "one row of 8,192 hosts of 16,384 (a communicator)": ("tree:32x32x16", 0.1, 100 * 1e6 / 2**20),
    "one row of 100,000 hosts (100x10x100)": ("tree:100x10x100", 0.1, 100 * 1e6 / 2**20),
    "one row of 1,000,000 hosts (100x100x100)": ("tree:100x100x100", 1.0, 500 * 1e6 / 2**20),
    "one row of torus 64x64x64": ("torus:64x64x64", 1.0, 500 * 1e6 / 2**20),
}
SAMPLE = 1_000_000  # messages of a schedule of which one row is computed


def measure_row(network: _core.Network, every_second: bool) -> dict[str, Any]:
    """Closed form and the slowest of three rows by the clock, then a sample.

    `every_second`: of a communicator on every second host.
    """
    if every_second:
        ranks = [count if node % 2 else 0 for node, count in enumerate(network.ranks_per_node)]
        network = network.restricted_to(ranks)
    demand = _core.Demand(network.ranks, 65536)
    times = []
    for rank in (0, network.ranks // 3, network.ranks - 1):
        began, cpu_began = time.perf_counter(), time.process_time()
        rows = _core.Rows(network, demand)
        tokens = rows.row(rank).tokens
        times.append((time.perf_counter() - began, time.process_time() - cpu_began, tokens))
    seconds, cpu_seconds, tokens = max(times)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    planned = time.perf_counter()
    sample = rows.verify_sample(SAMPLE)
    messages = network.ranks - 1
    return {
        "hosts": network.ranks,
        "scheduler": rows.scheduler,
        "messages": messages,
        "phases": rows.phases,
        "bound_phases": _core.lower_bounds(network, demand).phases,
        "waits": tokens,
        "ok": sample.ok,
        "sampled": sample.messages,
        "plan_seconds": seconds,
        "verify_seconds": time.perf_counter() - planned,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "peak_rss_mib": peak,
    }


def measure(case: str) -> dict[str, Any]:
    """One case, in this process."""
    source, row_only = CASES[case][0], case.startswith("one row")
    began = time.perf_counter()
    network = read_network(source)
    built, cpu_built = time.perf_counter(), time.process_time()
    result: dict[str, Any] = {"hosts": network.ranks, "network_seconds": built - began}
    if row_only:
        return result | measure_row(network, "communicator" in case)
    demand = _core.Demand(network.ranks, 65536)
    chosen = _core.plan_exchange(network, demand, WINDOW)
    schedule, waits = chosen.schedule, chosen.waits
    planned = time.perf_counter()
    certificate = _core.verify(network, demand, schedule)
    _core.verify_waits(network, schedule, waits, certificate)
    result |= {
        "scheduler": chosen.scheduler.name,
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
    """A row with dashes for what one row of a schedule has not."""
    per_message = f"{row['waits'] / row['messages']:.2f}" if row["waits"] else "–"
    verify = f"{row['verify_seconds']:.2f}" if row["verify_seconds"] else "–"
    ratio = f"{row['phases'] / row['bound_phases']:.3f}" if row["bound_phases"] else "–"
    return row | {"per_message": per_message, "verify": verify, "ratio": ratio}


def summary(heading: Row, rows: list[Row]) -> list[str]:
    return [
        "# Planner",
        "",
        f"{provenance(heading)}.",
        f"Median of {REPEATS} runs by time, each in its own process. Seconds are measured: schedule, waits",
        "and verification of schedule and waits, without building the network. Of one row: its closed form and the row",
        "with its waits, of the slowest of ranks 0, n/3 and n - 1; verified is a sample of",
        f"{SAMPLE:,} messages of the whole, which is not in the total. CPU seconds leave out what other programs",
        "took; memory is the peak resident set of the process, network and Python included.",
        "",
        *table(
            "case | messages | phases | over the bound | waits per message | plan s | verify s | total s | CPU s"
            " | target s | peak MiB | target MiB",
            "{case} | {messages:,} | {phases:,} | {ratio} | {per_message} | {plan_seconds:.2f} | {verify}"
            " | {seconds:.2f} | {cpu_seconds:.2f} | {target_seconds:g} | {peak_rss_mib:.0f} | {target_mib:.0f}",
            map(told, rows),
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", choices=list(CASES), help="measure one case in this process, print JSON")
    options, results = begin(parser, "planner", summary)
    if options.case:
        print(json.dumps(measure(options.case)))
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
