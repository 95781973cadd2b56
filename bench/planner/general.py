"""The general algorithm `packing` on networks of all kinds: phases over the bound, time, memory.

Run by `make bench NAME=general`; writes bench/results/planner-general.{csv,md}.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from pathlib import Path
from random import Random
from typing import Any, Final

from processes import answer_of

from hocket import _core
from hocket.network import read_network_description

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Row, begin, grouped, provenance, table

RATE = 125e6

# Section: short forms; random:SEED,HOSTS,SWITCHES,WIDEST is a random tree with inter-switch links of 1 to WIDEST
# host speeds.
CASES: Final[dict[str, list[str]]] = {
    "fat trees, several spines": [
        "fat-tree:4x4x4", "fat-tree:4x4x2", "fat-tree:4x4x1",
        "fat-tree:8x8x8", "fat-tree:8x8x4", "fat-tree:8x8x2", "fat-tree:8x8x3", "fat-tree:8x8x2x2",
        "fat-tree:8x16x16", "fat-tree:8x16x8", "fat-tree:8x16x4",
        "fat-tree:16x16x16", "fat-tree:16x16x8", "fat-tree:16x16x4", "fat-tree:16x32x16",
        "fat-tree:k=4", "fat-tree:k=8", "fat-tree:k=8x8", "fat-tree:k=8x16",
    ],
    "trees with wide inter-switch links": [
        "fat-tree:4x4x1x4", "fat-tree:4x4x1x2", "fat-tree:8x8x1x8", "fat-tree:8x8x1x4", "fat-tree:8x8x1x2",
        "fat-tree:16x16x1x16", "fat-tree:16x16x1x8", "fat-tree:16x16x1x4", "fat-tree:16x32x1x16",
    ],
    "dragonflies": [
        "dragonfly:9x4x2", "dragonfly:9x4x3", "dragonfly:9x4x4", "dragonfly:5x4x4", "dragonfly:4x4x4x2",
        "dragonfly:8x8x1", "dragonfly:8x4x2x2", "dragonfly:17x8x1", "dragonfly:16x8x4", "dragonfly:33x8x1",
        "dragonfly:33x8x2",
    ],
    "random trees, equal links": [
        *(f"random:{seed},{hosts},{hosts // 4},1" for hosts in (16, 32, 64) for seed in range(4)),
        "random:1,128,24,1", "random:2,256,40,1", "chain:8,8,8,8", "chain:64,64,64,64",
    ],
    "random trees, inter-switch links of 1 to 8 host speeds": [
        *(f"random:{seed},{hosts},{hosts // 4},8" for hosts in (16, 32, 64) for seed in range(4)),
        "random:1,128,24,8", "random:2,256,40,8",
    ],
    "hypercubes": ["hypercube:4", "hypercube:6", "hypercube:8", "hypercube:9"],
    "meshes": [
        "mesh:4x4", "mesh:5x5", "mesh:7x7", "mesh:8x8", "mesh:3x4x5", "mesh:4x4x4", "mesh:16x16",
        "mesh:6x6x6", "mesh:7x7x7", "mesh:8x8x8",
    ],
    "tori": [
        "torus:4x4", "torus:5x5", "torus:6x6", "torus:5x7", "torus:7x7", "torus:8x8", "torus:4x4x4",
        "torus:9x9", "torus:5x5x5", "torus:6x6x6", "torus:16x16", "torus:8x4x8x2", "torus:8x8x8",
    ],
}  # fmt: skip


def random_tree(seed: int, hosts: int, switches: int, widest: int) -> _core.Network:
    """Switches hang on a random earlier one, hosts on a random switch."""
    rng = Random(seed)
    names, ranks = [f"s{i}" for i in range(switches)], [0] * switches
    a, b, rates = list[int](), list[int](), list[float]()
    for switch in range(1, switches):
        a.append(rng.randrange(switch))
        b.append(switch)
        rates.append(RATE * rng.randint(1, widest))
    for host in range(hosts):
        a.append(rng.randrange(switches))
        b.append(len(names))
        rates.append(RATE)
        names.append(f"n{host}")
        ranks.append(1)
    return _core.build_network(names, ranks, a, b, rates, [1e-6] * len(a))


def build(name: str) -> _core.Network:
    kind, _, numbers = name.partition(":")
    if kind == "random":
        return random_tree(*map(int, numbers.split(",")))
    return read_network_description(name).build()


def measure(name: str) -> dict[str, Any]:
    """One case, in this process."""
    network = build(name)
    demand = _core.Demand(network.ranks, 65536)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, cpu = time.perf_counter(), time.process_time()
    schedule = _core.find_algorithm("packing").make(network, demand)
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    bound = _core.lower_bounds(network, demand).phases
    return {
        "hosts": network.ranks,
        "messages": len(schedule),
        "phases": schedule.phases,
        "bound": bound,
        "ratio": schedule.phases / bound,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "peak_rss_mib": peak / 1024,
        "rss_before_mib": before / 1024,
        "ok": _core.verify(network, demand, schedule).ok,
    }


def summary(heading: Row, rows: list[Row]) -> list[str]:
    lines = [
        "# The general algorithm",
        "",
        f"{provenance(heading)}.",
        "All-to-all by `packing`, whatever `auto` would take; every schedule passed the verifier.",
        "Ratio: phases over the bound. Seconds are measured, one run each in its own process, scheduling",
        "only; CPU seconds leave out what other programs took. Memory: peak resident set of the process, of",
        f"which Python takes about {min(row['rss_before_mib'] for row in rows):.0f} MiB.",
    ]
    head = "network | hosts | phases | bound | ratio | s | CPU s | peak MiB"
    line = (
        "{network} | {hosts} | {phases:,} | {bound:,} | {ratio:.3f}"
        " | {seconds:.2f} | {cpu_seconds:.2f} | {peak_rss_mib:.0f}"
    )
    for section, cases in grouped(rows, "section").items():
        lines += ["", f"## {section[0].upper()}{section[1:]}", "", *table(head, line, cases)]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", help="measure one network in this process, print JSON")
    options, results = begin(parser, "planner-general", summary)
    if options.case:
        print(json.dumps(measure(options.case)))
        return
    results.heading |= {"algorithm": "packing", "message_bytes": 65536}
    for section, names in CASES.items():
        for name in names:
            case = {"section": section, "network": name} | answer_of(__file__, "--case", name)
            if not case["ok"]:
                sys.exit(f"{name}: the verifier rejects the schedule")
            results.add(case)
            told = (
                "{network}: {phases} / {bound} = {ratio:.4f}, {cpu_seconds:.2f} CPU s, {peak_rss_mib:.0f} MiB"
            )
            print(told.format(**case), flush=True)


if __name__ == "__main__":
    main()
