"""Policies of choosing, judged without noise of their own: each is run over recorded costs and pays what was recorded.

    python bench/choose/replay.py [--records FILE] [--calls 6 --calls 24 --calls 200] [--runs 40]

Reads bench/results/choice-records.csv (record.py), writes bench/results/replay.{csv,md}. A run of N calls takes the
first recorded call of each candidate as its first one, then blocks of four consecutive calls that are drawn anew for
every run. Agreeing on a cost adds what an agreement was recorded to take. The second job knows what the first has
measured. Not in it: what meeting and planning take, which the lab shows (overhead.py).
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Protocol

import hocket._testing  # noqa: F401 -- more of choose
import numpy as np
from hocket._core import choose
from numpy.typing import NDArray

from hocket.units import parse_rate

sys.path.insert(0, str(Path(__file__).parents[1]))
from jobs import CELL, ranks_of

from results_file import RESULTS, Block, Row, begin, cells, grouped, provenance, read, values

BLOCK = 4
GAINFUL = 1.15  # times as fast: a place with something to gain
IRREGULAR = ("dense", "fresh", "skewed", "sparse")  # MPI_Alltoallv, as in overhead.py

Costs = NDArray[np.float64]
Kept = dict[int, float]


@dataclass(frozen=True, slots=True)
class Cell:
    """Properties of a call that ranks know before they communicate."""

    ranks: int
    wire_seconds: float  # that a host's link needs for what one rank sends

    @classmethod
    def parse(cls, place: str, collective: str, size: int) -> Cell:
        network, *options = place.split()
        if network == "shared":
            return cls(int(options[1]), 0)
        ranks = ranks_of(network)
        rates = (option.removeprefix("rate=") for option in options if option.startswith("rate="))
        by_rank = ("alltoall", "allgather", "reduce_scatter", *IRREGULAR)
        messages = ranks - 1 if collective in by_rank else 1
        return cls(ranks, size * messages / parse_rate(next(rates)))


class Policy(Protocol):
    """Policy that selects the candidate of the next call, and learns from its time."""

    def next(self) -> tuple[int, float, bool]:
        """Candidate, seconds after which the call gives up its order, whether its cost is agreed on."""

    def learn(self, candidate: int, seconds: float) -> None: ...


class Always:
    """One native call, then always the candidate that was predicted best."""

    def __init__(self, predicted: Sequence[float], agree: float, kept: Kept, cell: Cell) -> None:
        self.best, self.calls = int(np.nanargmin(predicted)), 1 if kept else 0

    def next(self) -> tuple[int, float, bool]:
        self.calls += 1
        return (0 if self.calls == 1 else self.best), math.inf, False

    def learn(self, candidate: int, seconds: float) -> None:
        pass


class FifteenLines:
    """One native call, one by the best prediction, then whichever median is less; the other in calls 8 and 32."""

    def __init__(self, predicted: Sequence[float], agree: float, kept: Kept, cell: Cell) -> None:
        self.candidates, self.calls = (0, 1 + int(np.nanargmin(predicted[1:]))), 0
        self.seen = {one: [kept[one]] if one in kept else [] for one in self.candidates}

    def next(self) -> tuple[int, float, bool]:
        self.calls += 1
        new = [candidate for candidate in self.candidates if not self.seen[candidate]]
        best, other = sorted(self.candidates, key=lambda one: median(self.seen[one] or [math.inf]))
        return (new[0] if new else other if self.calls in (8, 32) else best), math.inf, True

    def learn(self, candidate: int, seconds: float) -> None:
        self.seen[candidate].append(seconds)


class Engine:
    """The runtime's: hocket/choose/chooser.hpp. The library serves until a call shows what it takes, as in
    runtime/choose/choices.cpp."""

    def __init__(self, predicted: Sequence[float], agree: float, kept: Kept, cell: Cell) -> None:
        setup = choose.setup_seconds(cell.ranks, agree)
        opening = choose.opening_seconds(cell.ranks)
        self.chooser, self.timed = choose.Chooser(list(predicted), agree, setup, opening), False
        self.looks, self.cell = [math.inf] if kept else [], cell
        for candidate, seconds in kept.items():
            self.chooser.recall(candidate, seconds)

    def next(self) -> tuple[int, float, bool]:
        if self.watched():
            return 0, math.inf, True
        if self.looks != [math.inf]:
            self.chooser.seen(0, len(self.looks), min(self.looks))
        self.looks = [math.inf]
        decision = self.chooser.next()
        self.timed = decision.timed
        return decision.candidate, decision.limit, decision.timed

    def watched(self) -> bool:
        if len(self.looks) != 1:
            return not self.looks
        return choose.may_open_connections(self.looks[0], self.cell.ranks, self.cell.wire_seconds)

    def learn(self, candidate: int, seconds: float) -> None:
        if self.looks != [math.inf]:
            self.looks.append(seconds)
        elif self.timed:
            self.chooser.learn(seconds)


BOUND = "one native call, then the best known afterwards"  # what keeping to one candidate can reach
POLICIES: dict[str, Callable[[Sequence[float], float, Kept, Cell], Policy]] = {
    BOUND: Always,
    "one native call, then the best predicted": Always,
    "fifteen lines": FifteenLines,
    "the engine": Engine,
}


def run_of(records: Sequence[Sequence[float]], calls: int, rng: np.random.Generator) -> Costs:
    """Costs by call and candidate."""
    costs = np.empty((calls, len(records)))
    for candidate, recorded in enumerate(records):
        later = recorded[1:]
        begins = rng.integers(0, max(len(later) - BLOCK + 1, 1), -(-calls // BLOCK))
        drawn = [later[(begin + k) % len(later)] for begin in begins for k in range(BLOCK)]
        costs[:, candidate] = [recorded[0], *drawn][:calls]
    return costs


def play(policy: Policy, costs: Costs, agree: float) -> tuple[float, Kept]:
    """Seconds of all calls, and what the next job knows. What is cut short ends as by the library."""
    total = 0.0
    seen: dict[int, list[float]] = {}
    for number, of_call in enumerate(costs):
        candidate, limit, timed = policy.next()
        took = float(of_call[candidate])
        if number > 0 and candidate not in seen:
            took = float(costs[0][candidate])  # its first call opens its connections
        if took > limit:
            took = limit + (1 - limit / took) * float(of_call[0])
        total += took + (agree if timed else 0.0)
        policy.learn(candidate, took)
        seen.setdefault(candidate, []).append(took)
    return total, {candidate: math.exp(fmean(map(math.log, of))) for candidate, of in seen.items()}


def rows_of(records: list[Row], calls: Sequence[int], runs: int) -> list[Row]:
    rows: list[Row] = []
    for key, of in grouped(records, *CELL).items():
        if len(of) == 1:
            continue
        cell = Cell.parse(key[0], key[2], int(key[3]))
        recorded = [values(row["costs"]) for row in of]
        predicted = [math.nan, *(float(row["predicted"]) for row in of[1:])]
        agree = float(of[0]["agree"])
        medians = [median(one) for one in recorded]
        gain = medians[0] / min(medians[1:])
        for number in calls:
            for name, make in POLICIES.items():
                over_native: dict[str, list[float]] = {"first": [], "second": []}
                over_best: dict[str, list[float]] = {"first": [], "second": []}
                for seed in range(runs):
                    kept: Kept = {}
                    for job in ("first", "second"):
                        costs = run_of(recorded, number, np.random.default_rng([seed, job == "second"]))
                        totals: list[float] = costs.sum(axis=0).tolist()
                        expected = totals if name == BOUND else predicted
                        took, kept = play(make(expected, agree, kept, cell), costs, agree)
                        native, best = totals[0], min(totals)
                        over_native[job].append(took / native)
                        over_best[job].append(took / (best + (medians[0] if job == "first" else 0)))
                rows.append(
                    dict(zip(CELL, key, strict=True))
                    | {"gain": gain, "calls": number, "policy": name}
                    | {f"{job}_native": median(over_native[job]) for job in over_native}
                    | {f"{job}_best": median(over_best[job]) for job in over_best}
                )
    return rows


def summary(heading: Row, rows: list[Row]) -> list[Block]:
    """A line for each policy and number of calls."""

    def text(numbers: list[float]) -> str:
        return f"{median(numbers):.2f}, {max(numbers):.2f}" if numbers else "-"

    told = []
    for (calls, policy), of in grouped(rows, "calls", "policy").items():
        gainful = [row for row in of if row["gain"] >= GAINFUL]
        others = [row["first_native"] for row in of if row["gain"] < 1]
        figures = (
            [row["first_best"] for row in gainful],
            [row["first_best"] for row in of if row["collective"] in IRREGULAR],
            *([row[key] for row in gainful] for key in ("second_best", "first_native")),
            [row["first_native"] for row in of],
        )
        told.append([policy, calls, *map(text, figures), f"{fmean(others):.3f}" if others else "-"])
    places = grouped(rows, *CELL)
    gainful = sum(of[0]["gain"] >= GAINFUL for of in places.values())
    return [
        "# Replay",
        f"{provenance(heading)}.",
        f"{len(places)} cells, {gainful} with a candidate at least {GAINFUL} times as fast as the library's call.\n"
        "Median and worst over the cells, of each the median run.",
        cells(
            ["policy", "calls", "first job over best and one native call, gainful cells", "the same, MPI_Alltoallv",
             "second job over best", "first job over native", "the same, all cells", "mean, cells without a gain"],
            told,
        ),
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=Path, default=RESULTS / "choice-records.csv")
    parser.add_argument("--calls", type=int, action="append")
    parser.add_argument("--runs", type=int, default=40)
    arguments, results = begin(parser, "replay", summary)
    _, records = read(arguments.records)
    results.add(*rows_of(records, arguments.calls or [3, 6, 12, 24, 200], arguments.runs))


if __name__ == "__main__":
    main()
