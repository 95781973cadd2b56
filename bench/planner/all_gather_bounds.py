"""All-gathers, reductions and broadcasts on graphs whose hosts are as fast as all links of their switch: time over the
bound of all cuts.

    python bench/planner/all_gather_bounds.py

Run by `make bench NAME=all-gather-bounds`; writes bench/results/all-gather-bounds.{csv,md}. Times are predicted: the
same on every machine, but for those of planning. The bound is exact: the narrowest cut, by maximum flows; of an
all-reduce it is the larger of two, which nobody need reach: where hosts differ (Kautz K(2,4)) the blocks of the halves
are equal all the same, and the weak hosts take longest.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from gpu_graphs import GRAPHS

from hocket import _core
from hocket.demand.collectives import find
from hocket.planning.plan import check

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Row, begin, table

BYTES = 4 << 20  # each rank's contribution; the vector of an all-reduce, the message of a broadcast
COLLECTIVES = ("all-gather", "reduce-scatter", "all-reduce", "broadcast")
TARGETS = {"A100x2": 1.02, "A100x4": 1.02, "MI250x1": 1.02, "MI250x2": 1.02}
TARGET = 1.10
NEW = "tree-packing"


def measure(name: str, collective: str) -> Row:
    """The schedule that is chosen, and the best of all others, by predicted time over the bound."""
    network = GRAPHS[name]().build()
    demand = find(collective).demand(network.ranks, BYTES, 0)
    began = time.perf_counter()
    planned = _core.plan_exchange(network, demand)
    seconds = time.perf_counter() - began
    certificate = check(network, demand, planned.schedule, planned.waits, planned.algorithm.ports)
    if not certificate.ok:
        raise SystemExit(f"{name}: the verifier refuses the {collective}: {certificate.findings[0]}")
    others = []
    for algorithm in _core.all_algorithms():
        if algorithm.pattern != "all-gather" or algorithm.name == NEW or not algorithm.contention_free:
            continue
        if not algorithm.why_not(network, demand.scheduled_as):
            other = _core.plan_exchange(network, demand, None, algorithm.name)
            others.append(other.predict(network, demand, 0.0, _core.MOST_SIMULATION_STEPS).seconds)
    bound = _core.lower_bounds(network, demand).seconds
    return {
        "network": name,
        "collective": collective,
        "hosts": len(network.hosts),
        "bound_seconds": bound,
        "algorithm": planned.algorithm.name,
        "phases": planned.schedule.phases,
        "transfers": len(planned.schedule),
        "ratio": planned.predict(network, demand, 0.0, _core.MOST_SIMULATION_STEPS).seconds / bound,
        "ratio_of_others": min(others) / bound,
        "plan_seconds": seconds,
    }


def summary(heading: Row, rows: list[Row]) -> list[str]:
    gathers = [row for row in rows if row["collective"] == "all-gather"]
    missed = [row["network"] for row in gathers if row["ratio"] > TARGETS.get(row["network"], TARGET)]
    told = f"`{heading['command']}`, {heading['date']}"
    return [
        "# All-gathers and reductions on hosts with fast links",
        "",
        f"{told}. Contributions, vectors and messages of {BYTES >> 20} MiB; times are predicted, without latencies.",
        f"Targets for all-gathers: {TARGET:g} × the bound, {1.02:g} on the graphs of ForestColl. "
        + (f"Missed by: {', '.join(missed)}." if missed else "All are met."),
        "",
        *table(
            "network | hosts | collective | bound ms | time / bound | the best other algorithm's | algorithm | phases"
            " | transfers | planning s",
            lambda row: (
                f"{row['network']} | {row['hosts']} | {row['collective']} | {1e3 * row['bound_seconds']:.2f}"
                f" | {row['ratio']:.3f} | {row['ratio_of_others']:.3f} | {row['algorithm']} | {row['phases']:,}"
                f" | {row['transfers']:,} | {row['plan_seconds']:.1f}"
            ),
            rows,
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="graphs whose names begin so")
    options, results = begin(parser, "all-gather-bounds", summary)
    for name in GRAPHS:
        if name.startswith(options.only or ""):
            results.add(*(measure(name, collective) for collective in COLLECTIVES))
    print(results.summarise())


if __name__ == "__main__":
    main()
