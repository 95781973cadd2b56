"""One rank's row of an all-to-all, all-gather or all-reduce with its waits, without the rest of the schedule.

Run by `make bench NAME=closed-forms`; writes bench/results/closed-forms.{csv,md}.
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
from hocket.demand.collectives import ALL_GATHER, ALL_REDUCE, ALL_TO_ALL
from hocket.network import read_network
from hocket.planning.aggregation import find_demand

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Row, begin, provenance, table

REPEATS: Final = 3
BYTES: Final = 65536
SAMPLE: Final = 1_000_000  # messages

# name: (collective, network, which hosts have no rank: every so many-th (0: none), limit in seconds, limit in MB)
CASES: Final[dict[str, tuple[str, str, int, float, float]]] = {
    "8,192 of 16,384 hosts (32x32x16)": (ALL_TO_ALL, "tree:32x32x16", 2, 0.1, 100),
    "100,000 hosts (100x10x100)": (ALL_TO_ALL, "tree:100x10x100", 0, 0.1, 100),
    "1,000,000 hosts (100x100x100)": (ALL_TO_ALL, "tree:100x100x100", 0, 1.0, 500),
    "fat tree of 101,306 hosts (k=74)": (ALL_TO_ALL, "fat-tree:k=74", 0, 0.1, 100),
    "fat tree of 986,078 hosts (k=158)": (ALL_TO_ALL, "fat-tree:k=158", 0, 1.0, 500),
    "99 % of 101,306 hosts (k=74)": (ALL_TO_ALL, "fat-tree:k=74", 100, 0.1, 100),
    "99 % of 986,078 hosts (k=158)": (ALL_TO_ALL, "fat-tree:k=158", 100, 1.0, 500),
    "2:1, 99,872 hosts (3,121 leaves, 32 hosts and 16 ways up)": (
        ALL_TO_ALL,
        "fat-tree:3121x32x16",
        0,
        0.1,
        100,
    ),
    "2:1, 202,612 hosts (k=74, 74 on a leaf)": (ALL_TO_ALL, "fat-tree:k=74x74", 0, 0.2, 200),
    "dragonfly of 114,582 hosts (339x26x13)": (ALL_TO_ALL, "dragonfly:339x26x13", 0, 0.1, 100),
    "dragonfly of 937,992 hosts (969x44x22)": (ALL_TO_ALL, "dragonfly:969x44x22", 0, 1.0, 500),
    "torus 64x64x64": (ALL_TO_ALL, "torus:64x64x64", 0, 1.0, 500),
    "all-gather, 8,192 of 16,384 hosts": (ALL_GATHER, "tree:32x32x16", 2, 0.1, 100),
    "all-gather, 100,000 hosts": (ALL_GATHER, "tree:100x10x100", 0, 0.1, 100),
    "all-gather, 1,000,000 hosts": (ALL_GATHER, "tree:100x100x100", 0, 1.0, 500),
    "all-gather, fat tree of 101,306 hosts": (ALL_GATHER, "fat-tree:k=74", 0, 0.1, 100),
    "all-reduce, 8,192 of 16,384 hosts": (ALL_REDUCE, "tree:32x32x16", 2, 0.1, 100),
    "all-reduce, 100,000 hosts": (ALL_REDUCE, "tree:100x10x100", 0, 0.1, 100),
    "all-reduce, 1,000,000 hosts": (ALL_REDUCE, "tree:100x100x100", 0, 1.0, 500),
    "all-reduce, fat tree of 101,306 hosts": (ALL_REDUCE, "fat-tree:k=74", 0, 0.1, 100),
}


def network_of(case: str) -> _core.Network:
    _, source, every, *_ = CASES[case]
    network = read_network(source)
    if not every:
        return network
    ranks = [count if node % every else 0 for node, count in enumerate(network.ranks_per_node)]
    return network.restricted_to(ranks)


def demand_of(case: str, network: _core.Network) -> _core.Demand:
    """Blocks of BYTES: of an all-reduce as many as ranks."""
    collective = CASES[case][0]
    return find_demand(collective, network.ranks, BYTES * (network.ranks if collective == ALL_REDUCE else 1))


def form_of(case: str, network: _core.Network) -> tuple[_core.ClosedForm | _core.Ring, _core.Demand]:
    demand = demand_of(case, network)
    return (_core.Ring if demand.by_blocks else _core.ClosedForm)(network, demand), demand


def measure_program(case: str, network: _core.Network, rank: int) -> dict[str, Any]:
    began, cpu_began = time.perf_counter(), time.process_time()
    form, _ = form_of(case, network)
    program = form.program(rank)
    return {
        "seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - cpu_began,
        "slowest_rank": rank,
        "tokens": program.tokens,
        "algorithm": form.algorithm,
        "phases": form.phases,
    }


def measure(case: str) -> dict[str, Any]:
    """Closed form and row, of the slowest of three ranks, in this process; one form at a time is in memory."""
    network = network_of(case)
    demand = demand_of(case, network)
    measured = [measure_program(case, network, rank) for rank in (0, network.ranks // 3, network.ranks - 1)]
    return {
        "ranks": network.ranks,
        # Bound in times of one block at a host's rate.
        "bound_phases": round(_core.lower_bounds(network, demand).seconds * network.host_rate / BYTES),
        **max(measured, key=lambda of: of["cpu_seconds"]),
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6,
    }


def sample(case: str) -> dict[str, Any]:
    network = network_of(case)
    form, demand = form_of(case, network)
    began = time.process_time()
    ring = isinstance(form, _core.Ring)
    found = form.verify() if ring else form.verify_sample(SAMPLE)
    return {
        "sampled": demand.messages if ring else found.messages,
        "sampled_channels": found.channels,
        "collisions": found.collisions,
        "unordered": found.unordered,
        "sample_cpu_seconds": time.process_time() - began,
    }


def summary(heading: Row, rows: list[Row]) -> list[str]:
    return [
        "# Closed forms",
        "",
        f"{provenance(heading)}.",
        "One rank's row with its waits (an all-gather has none) from the closed form: the slowest of ranks 0, n/3 and",
        "n - 1,",
        f"median by CPU time of {heading['repeats']} processes. Seconds are those of closed form and row, without",
        "building the network; CPU seconds leave out what other programs took. Memory is the peak resident set of the",
        "process, with Python and the network. Tokens are those that this rank's sends wait for. The sample: messages",
        "drawn from the whole schedule, that met another one or were out of order; of all-gathers and all-reduces all",
        "transfers, by the edges of the ring. Targets of 202,612 hosts are twice those of 10^5, of dragonflies those",
        "of trees.",
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
    options, results = begin(parser, "closed-forms", summary)
    if options.case or options.sample:
        print(json.dumps(measure(options.case) if options.case else sample(options.sample)))
        return
    results.heading |= {"message_bytes": BYTES, "window": 1, "repeats": REPEATS}
    for name, (_, network, _, seconds, megabytes) in CASES.items():
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
