"""What the guard makes of places that SimGrid's SMPI simulates: totals of 200 calls, learning included.

Run by `make bench-simulated-places`; reads the times of bench/results/predictions.csv, plays the guard with them and
writes bench/results/simulated-places.{csv,md}. The library's own call is the ring, which libraries pick there; the
others are schedules. A call takes what SMPI says, with 5 % of noise; what agreeing takes is an all-reduce of the
network's latency and overheads.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from statistics import median

import numpy as np
from hocket._core import choose

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import RESULTS, Row, begin, cells, grouped, provenance, read

NATIVE = "native:ring"
CALLS, RUNS, NOISE = 200, 25, 0.05
HOPS, LATENCY, OVERHEAD, RANKS = 5, 0.5e-6, 0.8e-6, 32  # at most so many links; of a send and a receive
AGREEING = 2 * math.ceil(math.log2(RANKS)) * (HOPS * LATENCY + OVERHEAD)


def totals(seconds: dict[str, float], predicted: dict[str, float] | None, seed: int) -> tuple[float, float]:
    """Of the calls, over the library's own and over the best arm's."""
    rng = np.random.default_rng(seed)
    rules = choose.GuardRules()
    rules.post_seconds, rules.calibrated = AGREEING, predicted is not None
    rules.can_be_cut = (1 << len(seconds)) - 2
    guard = choose.Guard([predicted[arm] if predicted else math.nan for arm in seconds], rules)
    costs = np.array([*seconds.values()]) * rng.lognormal(0, NOISE, CALLS)[:, None]
    total, timed, posted = 0.0, [], []
    for of_arms in costs:
        if guard.due():
            guard.tell(posted)
            total += AGREEING
        turn = guard.next()
        taken = float(of_arms[turn.arm])
        if taken > turn.limit:  # as Guard.play has it
            taken = turn.limit + (1 - turn.limit / taken) * float(of_arms[0])
        total += taken
        if turn.timed:
            timed.append(taken)
        if turn.post:
            posted, timed = timed, []
    of_each = costs.sum(axis=0)
    return total / float(of_each[0]), total / float(of_each.min())


def rows_of(predictions: list[Row]) -> list[Row]:
    rows: list[Row] = []
    for (place, pattern, size), of in grouped(predictions, "place", "pattern", "bytes").items():
        of = sorted(
            (row for row in of if row["arm"] == NATIVE or not row["arm"].startswith("native:")),
            key=lambda row: row["arm"] != NATIVE,
        )
        if of[0]["arm"] != NATIVE:
            continue
        seconds = {row["arm"]: row["seconds"] for row in of}
        predicted = {row["arm"]: row["predicted"] for row in of}
        for foresight, known in (("nothing", None), ("calibrated", predicted)):
            for seed in range(RUNS):
                native, best = totals(seconds, known, seed)
                rows.append({"place": place, "pattern": pattern, "bytes": size, "foresight": foresight,
                             "seed": seed, "native": native, "best": best})  # fmt: skip
    return rows


def summary(heading: Row, rows: list[Row]) -> list[str]:
    told, over = [], []
    for key, of in grouped(rows, "place", "pattern", "bytes", "foresight").items():
        native, best = [row["native"] for row in of], [row["best"] for row in of]
        over.append(median(native))
        told.append([*key, f"{median(native):.3f}", f"{max(native):.3f}", f"{median(best):.3f}"])
    return [
        "# Simulated places",
        "",
        f"{provenance(heading)}.",
        f"Total time of {CALLS} calls over that of the library's ring, learning included, {RUNS} runs each with other",
        f"noise ({100 * NOISE:.0f} %): {sum(value <= 1.03 for value in over)} of {len(over)} cells at most 1.03, the "
        f"highest median {max(over):.3f}.",
        "Times are SMPI's ([predictions](predictions.md)), the guard is the runtime's; no MPI program runs.",
        "",
        *cells(
            ["place", "collective", "bytes", "foresight", "over native", "worst", "over the best arm"], told
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    _, results = begin(parser, "simulated-places", summary)
    _, predictions = read(RESULTS / "predictions.csv")
    results.add(*rows_of(predictions))


if __name__ == "__main__":
    main()
