"""One rank's row of an all-to-all, waits included, without the rest of the schedule: time and memory.

Run by `make bench-rows`; writes bench/results/rows.{csv,md}.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any, Final

from processes import answer_of

from hocket import _core
from hocket.network import read_network

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Row, begin, provenance, table

REPEATS: Final = 3
BYTES: Final = 65536
SAMPLE: Final = 1_000_000  # messages

# name: (network, only every second host, limit in seconds, limit in MB)
CASES: Final[dict[str, tuple[str, bool, float, float]]] = {
    "8,192 of 16,384 hosts (32x32x16)": ("tree:32x32x16", True, 0.1, 100),
    "100,000 hosts (100x10x100)": ("tree:100x10x100", False, 0.1, 100),
    "1,000,000 hosts (100x100x100)": ("tree:100x100x100", False, 1.0, 500),
    "torus 64x64x64": ("torus:64x64x64", False, 1.0, 500),
}


def network_of(case: str) -> _core.Network:
    source, every_second, *_ = CASES[case]
    network = read_network(source)
    if not every_second:
        return network
    ranks = [count if host % 2 else 0 for host, count in enumerate(network.ranks_per_node)]
    return network.restricted_to(ranks)


def measure_row(network: _core.Network, demand: _core.Demand, rank: int) -> dict[str, Any]:
    began, cpu_began = time.perf_counter(), time.process_time()
    rows = _core.Rows(network, demand)
    row = rows.row(rank)
    return {
        "seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - cpu_began,
        "slowest_rank": rank,
        "tokens": row.tokens,
        "scheduler": rows.scheduler,
        "phases": rows.phases,
    }


def measure(case: str) -> dict[str, Any]:
    """Closed form and row, of the slowest of three ranks, in this process; one form at a time is in memory."""
    network = network_of(case)
    demand = _core.Demand(network.ranks, BYTES)
    measured = [measure_row(network, demand, rank) for rank in (0, network.ranks // 3, network.ranks - 1)]
    return {
        "ranks": network.ranks,
        "bound_phases": _core.lower_bounds(network, demand).phases,
        **max(measured, key=lambda of: of["cpu_seconds"]),
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6,
    }


def sample(case: str) -> dict[str, Any]:
    network = network_of(case)
    rows = _core.Rows(network, _core.Demand(network.ranks, BYTES))
    began = time.process_time()
    found = rows.verify_sample(SAMPLE)
    return {
        "sampled": found.messages,
        "sampled_channels": found.channels,
        "collisions": found.collisions,
        "unordered": found.unordered,
        "sample_cpu_seconds": time.process_time() - began,
    }


def summary(heading: Row, rows: list[Row]) -> list[str]:
    return [
        "# Rows",
        "",
        f"{provenance(heading)}.",
        "One rank's row of an all-to-all with its waits, from the closed form: the slowest of ranks 0, n/3 and n - 1,",
        f"median by CPU time of {heading['repeats']} processes. Seconds are those of closed form and row, without",
        "building the network; CPU seconds leave out what other programs took. Memory is the peak resident set of the",
        "process, with Python and the network. Tokens are those that this rank's sends wait for. The sample: messages",
        "drawn from the whole schedule, that met another one or were out of order.",
        "",
        *table(
            "network | ranks | phases | bound | tokens | s | CPU s | target s | peak MB | target MB | sample | met"
            " | out of order | CPU s of the sample",
            "{case} | {ranks:,} | {phases:,} | {bound_phases:,} | {tokens:,} | {seconds:.3f} | {cpu_seconds:.3f}"
            " | {target_seconds:g} | {peak_rss_mb:.0f} | {target_mb:.0f} | {sampled:,} | {collisions} | {unordered}"
            " | {sample_cpu_seconds:.1f}",
            rows,
        ),
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", choices=list(CASES), help="measure one case in this process, print JSON")
    parser.add_argument("--sample", choices=list(CASES), help="check a sample of one case, print JSON")
    options, results = begin(parser, "rows", summary)
    if options.case or options.sample:
        print(json.dumps(measure(options.case) if options.case else sample(options.sample)))
        return
    results.heading |= {"message_bytes": BYTES, "window": 1, "repeats": REPEATS}
    for name, (network, _, seconds, megabytes) in CASES.items():
        runs = sorted(
            (answer_of(__file__, "--case", name) for _ in range(REPEATS)), key=lambda r: r["cpu_seconds"]
        )
        targets = {"network": network, "target_seconds": seconds, "target_mb": megabytes}
        every = {"all_cpu_seconds": [run["cpu_seconds"] for run in runs]}
        row = {"case": name} | runs[REPEATS // 2] | targets | every | answer_of(__file__, "--sample", name)
        results.add(row)
        print(row, flush=True)


if __name__ == "__main__":
    main()
