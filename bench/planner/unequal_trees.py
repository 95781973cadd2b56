"""All-to-alls by `auto` on random trees whose links differ in rate: predicted time over the bound.

Run by `make bench NAME=unequal-trees`; writes bench/results/unequal-trees.{csv,md}: a row of quantiles per group
of trees.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random
from statistics import median, quantiles
from typing import Final

from hocket import _core

sys.path.extend([str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "tests")])
from results_file import Block, Row, begin, provenance, table
from strategies import RATE, random_tree

SIZES: Final = (1 << 20, 1 << 16, 1 << 10)
GROUPS: Final = ((8, 15, 75), (16, 31, 75), (32, 64, 150), (256, 256, 10))  # hosts from, to; trees


def tree(seed: int, fewest: int, most: int) -> _core.Network:
    """Hosts of one to four times a rate, inter-switch links of one to ten times; logarithms are evenly spread."""
    rng = Random(seed)
    plan = random_tree(rng, rng.randint(fewest, most), switch_link=lambda r: float(10 ** r.random()))
    for i, (a, b) in enumerate(plan.links):
        if plan.ranks[a] or plan.ranks[b]:
            plan.rates[i] = RATE * 4 ** rng.random()
    return plan.build()


def measure(network: _core.Network, size: int) -> tuple[float, str, float]:
    """Time over the bound, the algorithm that `auto` takes, and CPU seconds of planning; exits if the verifier refuses
    the plan."""
    demand = _core.Demand(network.ranks, size)
    began = time.process_time()
    _core.plan_exchange(network, demand)
    took = time.process_time() - began
    plan = _core.plan(network, demand)
    if not plan.certificate.ok:
        sys.exit(f"the verifier refuses the plan: {plan.certificate.findings[:3]}")
    return plan.predicted_seconds / plan.bound_seconds, plan.algorithm, took


def row(hosts: str, size: int, measured: list[tuple[float, str, float]]) -> Row:
    ratios = [ratio for ratio, _, _ in measured]
    names = Counter(name for _, name, _ in measured)
    return {
        "hosts": hosts,
        "bytes": size,
        "trees": len(ratios),
        "median": round(median(ratios), 4),
        "ninth_decile": round(quantiles(ratios, n=10)[-1], 4),
        "worst": round(max(ratios), 4),
        "above_1_15": sum(ratio > 1.15 for ratio in ratios),
        **{name: names[name] for name in ("list", "packing", "tree")},
        "plan_cpu_seconds": round(max(seconds for *_, seconds in measured), 2),
    }


def summary(heading: Row, rows: list[Row]) -> list[Block]:
    return [
        "# All-to-alls on trees whose links differ in rate",
        f"{provenance(heading)}, shared with other work.\n"
        "What `auto` plans on random trees: hosts of one to four times a rate, inter-switch links of one to ten "
        "times. Every plan\n"
        "passed the verifier, waits included. Time: simulated, pair-wise tokens, latencies counted, over the bound of\n"
        "the busiest channel, which counts none. Planning: the longest of the group, CPU seconds.",
        table(
            "hosts | bytes | trees | median | 9th decile | worst | above 1.15 | list / packing / tree | planned in s",
            "{hosts} | {bytes:,} | {trees} | {median:.3f} | {ninth_decile:.3f} | {worst:.3f} | {above_1_15}"
            " | {list} / {packing} / {tree} | {plan_cpu_seconds:.2f}",
            rows,
        ),
    ]


def main() -> None:
    _, results = begin(argparse.ArgumentParser(description=__doc__), "unequal-trees", summary)
    for size in SIZES:
        small = []
        for fewest, most, trees in GROUPS:
            measured = [measure(tree(1000 * fewest + i, fewest, most), size) for i in range(trees)]
            results.add(row(f"{fewest}-{most}" if fewest < most else str(most), size, measured))
            print(*results.rows[-1].values(), flush=True)
            if most < 256:
                small += measured
        results.add(row("8-64", size, small))
        print(*results.rows[-1].values(), flush=True)


if __name__ == "__main__":
    main()
