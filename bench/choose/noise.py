"""The guard under noise: what it loses, how often it is wrong, how soon it finds a gain; 10,000 simulated runs.

Run by `make bench-choose-noise`; writes bench/results/choose-noise.{csv,md}. No MPI: costs are drawn, and all
ranks agree on them at once.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import numpy as np
from hocket._core import choose
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Row, begin, provenance, table

CALLS: Final = 2_000
SHORT: Final = 200  # calls after which totals are compared, too
GAIN: Final = 1.10

Floats = NDArray[np.float64]
Random = np.random.Generator


def log_normal(sigma: float) -> Callable[[Random, float], Floats]:
    return lambda rng, _: rng.lognormal(0, sigma, CALLS)


def bimodal(rng: Random, _: float) -> Floats:
    """Every third call takes 1.8 × as long."""
    return np.where(rng.random(CALLS) < 1 / 3, 1.8, 1.0) * rng.lognormal(0, 0.05, CALLS)


def phases(rng: Random, _: float) -> Floats:
    """1.8 × as long for 20 calls on average, then not for 20 calls, and so on."""
    changes = np.cumsum(rng.random(CALLS) < 1 / 20)
    return np.where(changes % 2, 1.8, 1.0) * rng.lognormal(0, 0.05, CALLS)


def drift(rng: Random, _: float) -> Floats:
    """Three times as long in the end."""
    return np.geomspace(1, 3, CALLS) * rng.lognormal(0, 0.1, CALLS)


def timeouts(rng: Random, seconds: float) -> Floats:
    """200 ms more in one call of 100."""
    return rng.lognormal(0, 0.05, CALLS) + np.where(rng.random(CALLS) < 0.01, 0.2 / seconds, 0)


def stop(rng: Random, seconds: float) -> Floats:
    """A second more in one of the first 20 calls."""
    noise = rng.lognormal(0, 0.05, CALLS)
    noise[rng.integers(20)] += 1 / seconds
    return noise


NOISES: Final[dict[str, Callable[[Random, float], Floats]]] = {
    "log-normal 2 %": log_normal(0.02),
    "log-normal 10 %": log_normal(0.10),
    "log-normal 20 %": log_normal(0.20),
    "log-normal 30 %": log_normal(0.30),
    "log-normal 50 %": log_normal(0.50),
    "bimodal": bimodal,
    "phases": phases,
    "drift": drift,
    "timeouts of 200 ms": timeouts,
    "a stop of 1 s": stop,
}
ADDED: Final = ("timeouts of 200 ms", "a stop of 1 s")  # seconds, not a factor
FORESIGHT: Final = ("nothing", "rough prediction", "calibrated", "evidence")


def guard(rng: Random, foresight: str, seconds: Floats) -> choose.Guard:
    rules = choose.GuardRules()
    arms = len(seconds)
    if foresight == "rough prediction":
        return choose.Guard(list(seconds * rng.lognormal(0, math.log(2), arms)), rules)
    if foresight == "calibrated":
        rules.calibrated = True
        return choose.Guard(list(seconds * rng.lognormal(0, 0.1, arms)), rules)
    if foresight == "evidence":
        kept = seconds * rng.lognormal(0, 0.05, arms)
        known = [choose.ArmEvidence(f"arm-{arm}", 100, cost, 0.1) for arm, cost in enumerate(kept)]
        return choose.Guard([math.nan] * arms, rules, known, int(kept.argmin()))
    return choose.Guard([math.nan] * arms, rules)


def run(seed: list[int], noise: str, foresight: str) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    native = math.exp(rng.uniform(math.log(1e-3), math.log(20e-3)))
    arms = int(rng.integers(2, 7))
    ratios = np.concatenate([[1.0], np.exp(rng.uniform(math.log(0.3), math.log(10), arms - 1))])
    # What delays a call delays it by any arm; so the totals of different arms are of the same calls.
    delays = NOISES[noise](rng, native)[:, None]
    costs = native * (ratios + delays - 1 if noise in ADDED else ratios * delays)
    one = guard(rng, foresight, native * ratios)
    arm, incumbent, lost, budget = (np.array(column) for column in one.play(costs))
    before = np.concatenate([[incumbent[0]], incumbent[:-1]])
    changed = np.flatnonzero(before != incumbent)
    taken, best = costs[np.arange(CALLS), arm], int(ratios.argmin())
    good = np.flatnonzero(ratios[incumbent] <= 1 / GAIN)
    challengers = arm[arm != before]
    return {
        "wrong": bool((ratios[incumbent[changed]] > ratios[before[changed]]).any()),
        "slower": bool(ratios[incumbent[-1]] > 1),
        "gain": bool(ratios[best] <= 1 / GAIN),
        "missed": bool(ratios[best] <= 1 / GAIN < ratios[incumbent[-1]]),
        "reached": int(good[0]) + 1 if good.size else None,
        "first_gains": bool(challengers.size and ratios[challengers[0]] <= 1 / GAIN),
        "over": float(((lost - budget) / native).max()),
        "native": float(taken[:SHORT].sum() / costs[:SHORT, 0].sum()),
        "best": float(taken[:SHORT].sum() / costs[:SHORT, best].sum()),
        "native_long": float(taken.sum() / costs[:, 0].sum()),
        "best_long": float(taken.sum() / costs[:, best].sum()),
    }


def quantile(values: list[float], part: float) -> float | None:
    return float(np.quantile(values, part)) if values else None


def row(noise: str, foresight: str, runs: int) -> Row:
    seeds = ([index, list(NOISES).index(noise), FORESIGHT.index(foresight)] for index in range(runs))
    done = [run(seed, noise, foresight) for seed in seeds]
    reached = [one["reached"] for one in done if one["reached"] and one["first_gains"]]
    told: Row = {"noise": noise, "foresight": foresight, "runs": runs}
    told |= {name: fmean(one[name] for one in done) for name in ("wrong", "slower", "missed")}
    told |= {"reached": quantile(reached, 0.5), "reached_90": quantile(reached, 0.9)}
    told["at_once"] = fmean(one["reached"] == 1 for one in done if one["gain"])
    told["over"] = fmean(one["over"] > 1e-9 for one in done)
    told["over_call"] = fmean(one["over"] > 1 for one in done)
    told["over_worst"] = max(0.0, *(one["over"] for one in done))
    for name in ("native", "best", "native_long", "best_long"):
        ratios = [one[name] for one in done]
        told |= {
            name: quantile(ratios, 0.5),
            f"{name}_95": quantile(ratios, 0.95),
            f"{name}_worst": max(ratios),
        }
    return told


def share(rows: list[Row], name: str, foresight: str | None = None) -> float:
    """Of all runs, or of those with this foresight."""
    chosen = [one for one in rows if foresight in (None, one["foresight"])]
    return sum(one[name] * one["runs"] for one in chosen) / sum(one["runs"] for one in chosen)


def line(one: Row) -> str:
    def part(name: str) -> str:
        return f"{100 * one[name]:.1f}"

    def total(name: str) -> str:
        return f"{one[name]:.3f} / {one[f'{name}_95']:.3f} / {one[f'{name}_worst']:.2f}"

    at_once = one["at_once"] > 0  # by prediction or evidence
    found = f"1st: {part('at_once')} %" if at_once else f"{one['reached']:.0f} ({one['reached_90']:.0f})"
    return " | ".join(
        [
            *(one["noise"], one["foresight"], part("wrong"), part("slower"), part("missed"), found),
            f"{part('over')} ({part('over_call')}; {one['over_worst']:.1f})",
            *(total(name) for name in ("native", "best", "native_long", "best_long")),
        ]
    )


def summary(heading: Row, rows: list[Row]) -> list[str]:
    runs = sum(one["runs"] for one in rows)
    over = ", ".join(f"{known}: {100 * share(rows, 'over_call', known):.1f} %" for known in FORESIGHT)
    soonest = min(one["reached"] for one in rows if one["foresight"] == "nothing")
    worst, slower = max(one["wrong"] for one in rows), share(rows, "slower")
    return [
        "# The guard under noise",
        "",
        f"{provenance(heading)}.",
        f"{runs:,} runs of {CALLS:,} calls of one key, costs drawn: the library's own takes 1 to 20 ms, each of 1 to 5",
        "challengers 0.3 to 10 times that, all factors equally likely. Foresight: nothing; predictions that are off",
        "by a factor of 2 (standard deviation of the logarithm) and not taken for calibrated; calibrated ones, off by",
        "10 %; evidence of 100 calls by each arm, off by 5 %. Noise is the same by whatever arm. Bimodal: every third",
        "call takes 1.8 × as long; phases: the same for 20 calls on average; drift: three times as long in the end;",
        "timeouts: 200 ms more in one call of 100; a stop: one second more in one of the first 20 calls.",
        "",
        f"- **Wrong changes**: {100 * share(rows, 'wrong'):.2f} % of all runs (target 5 %), at most",
        f"  {100 * worst:.1f} % in a row of the table. {100 * slower:.2f} % end slower than the library's own.",
        "- **Loss**: no trial begins beyond the budget; what a trial costs more than anybody foresaw is lost all the",
        "  same, and nothing is tried until the budget holds it. Runs that were more than one call of the library's",
        f"  own beyond it at any time: {over}.",
        f"- **Gains** above 10 % that the first challenger has are reached in {soonest:.0f} calls; by calibrated",
        "  predictions and evidence with the first.",
        "",
        "Wrong: % of runs in which an arm gave way to one that is slower at all, by the test of pairs or because its",
        "first calls took long; slower: % that end slower than the library's own (predictions and evidence begin",
        "with arms that are about as fast); missed: % that end without a gain above 10 % that there is. Reached: calls",
        "up to such a gain where the first challenger has it, median (90 %), or the share of runs with a gain that",
        "begin with it. Over: % of runs that lost more than the budget at any time (by more than a call; the worst,",
        f"calls). Totals of the first {SHORT} calls and of all {CALLS:,}, learning included, over the library's own",
        "and over the best arm's: median / 95 % / worst.",
        "",
        *table(
            "noise | foresight | wrong | slower | missed | reached | over | 200: native | 200: best"
            " | 2,000: native | 2,000: best",
            line,
            rows,
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000, metavar="N", help="in all (default 10,000)")
    options, results = begin(parser, "choose-noise", summary)
    each = max(1, options.runs // (len(NOISES) * len(FORESIGHT)))
    for noise in NOISES:
        results.add(*(row(noise, foresight, each) for foresight in FORESIGHT))


if __name__ == "__main__":
    main()
