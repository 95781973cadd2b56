"""The guard under noise: what it loses, how often it is wrong, how soon it finds a gain; 10,000 simulated runs.

Run by `make bench-choose-noise`; writes bench/results/choose-noise.{csv,md}. No MPI: costs are drawn, and all
ranks agree on them at once.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
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
Calls = NDArray[np.int64]
Random = np.random.Generator


@dataclass(frozen=True, slots=True)
class Delays:
    """Of the calls of a run, by whatever arm: what they take is multiplied, then the library's calls are added."""

    factor: Floats
    added: Floats | float = 0.0
    collision: Floats | float = 0.0  # only of calls that are cut short


def log_normal(sigma: float) -> Callable[[Random, float], Delays]:
    return lambda rng, _: Delays(rng.lognormal(0, sigma, CALLS))


def bimodal(rng: Random, _: float) -> Delays:
    """Every third call takes 1.8 × as long."""
    return Delays(np.where(rng.random(CALLS) < 1 / 3, 1.8, 1.0) * rng.lognormal(0, 0.05, CALLS))


def phases(rng: Random, _: float) -> Delays:
    """1.8 × as long for 20 calls on average, then not for 20 calls, and so on."""
    changes = np.cumsum(rng.random(CALLS) < 1 / 20)
    return Delays(np.where(changes % 2, 1.8, 1.0) * rng.lognormal(0, 0.05, CALLS))


def drift(rng: Random, _: float) -> Delays:
    """Three times as long in the end."""
    return Delays(np.geomspace(1, 3, CALLS) * rng.lognormal(0, 0.1, CALLS))


def timeouts(rng: Random, seconds: float) -> Delays:
    """200 ms more in one call of 100."""
    return Delays(rng.lognormal(0, 0.05, CALLS), np.where(rng.random(CALLS) < 0.01, 0.2 / seconds, 0))


def collisions(rng: Random, seconds: float) -> Delays:
    """Half of the calls that are cut short take 200 ms more: what is posted at once fills the queues of switches."""
    return Delays(rng.lognormal(0, 0.1, CALLS), 0.0, np.where(rng.random(CALLS) < 0.5, 0.2 / seconds, 0))


def stop(rng: Random, seconds: float) -> Delays:
    """A second more in one of the first 20 calls."""
    added = np.zeros(CALLS)
    added[rng.integers(20)] = 1 / seconds
    return Delays(rng.lognormal(0, 0.05, CALLS), added)


COLLISIONS: Final = "collisions"
NOISES: Final[dict[str, Callable[[Random, float], Delays]]] = {
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
    COLLISIONS: collisions,
}
LOSSES: Final = ("over", "in_use", "account", "usual")  # beyond the budget, by four ways to count
WHOLE: Final = ", whole"  # calls of challengers cannot be cut short
FORESIGHT: Final = (
    "nothing",
    "rough prediction",
    "calibrated",
    "evidence",
    "nothing" + WHOLE,
    "rough prediction" + WHOLE,
    "calibrated" + WHOLE,
)


def guard(rng: Random, foresight: str, seconds: Floats) -> choose.Guard:
    rules = choose.GuardRules()
    arms = len(seconds)
    rules.can_be_cut = 0 if foresight.endswith(WHOLE) else (1 << arms) - 2  # not the library's own
    foresight = foresight.removesuffix(WHOLE)
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


def losses(arm: Calls, chosen: NDArray[np.bool_], taken: Floats, instead: Floats) -> Floats:
    """By each call, seconds that the chosen ones took longer than ``instead``. What an arm gained pays for its own
    losses only."""
    by_arm = (np.where(chosen & (arm == one), taken - instead, 0) for one in np.unique(arm))
    return np.sum([np.cumsum(extra).clip(0) for extra in by_arm], axis=0)


def allowed(taken: Floats, usual: Floats) -> Floats:
    """By each call, seconds: the budget's share of what was spent, and its calls of the library's own."""
    rules = choose.GuardRules()
    return rules.budget_share * np.cumsum(taken) + rules.budget_calls * usual


def run(seed: list[int], noise: str, foresight: str) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    native = math.exp(rng.uniform(math.log(1e-3), math.log(20e-3)))
    arms = int(rng.integers(2, 7))
    ratios = np.concatenate([[1.0], np.exp(rng.uniform(math.log(0.3), math.log(10), arms - 1))])
    # What delays a call delays it by any arm; so the totals of different arms are of the same calls.
    delays = NOISES[noise](rng, native)
    undelayed = native * ratios * delays.factor[:, None]
    costs = undelayed + np.broadcast_to(native * delays.added, CALLS)[:, None]
    one = guard(rng, foresight, native * ratios)
    collide = np.broadcast_to(native * delays.collision, CALLS).tolist()
    arm, incumbent, lost, budget, taken = (np.array(column) for column in one.play(costs, collide))
    usual = np.cumsum(undelayed, axis=0) / np.arange(1, CALLS + 1)[:, None]
    most = allowed(taken, usual[:, 0])
    calls, tried = np.arange(CALLS), arm != incumbent
    over = {
        "over": losses(arm, tried, taken, costs[calls, incumbent]) - most,
        "usual": losses(arm, tried, taken, usual[calls, incumbent]) - most,
        "in_use": losses(arm, ~tried & (arm != 0), taken, costs[:, 0]) - most,
        "account": lost - budget,
    }
    before = np.concatenate([[incumbent[0]], incumbent[:-1]])
    changed = np.flatnonzero(before != incumbent)
    best = int(ratios.argmin())
    good = np.flatnonzero(ratios[incumbent] <= 1 / GAIN)
    challengers = arm[arm != before]
    return {
        "wrong": bool((ratios[incumbent[changed]] > ratios[before[changed]]).any()),
        "slower": bool(ratios[incumbent[-1]] > 1),
        "gain": bool(ratios[best] <= 1 / GAIN),
        "missed": bool(ratios[best] <= 1 / GAIN < ratios[incumbent[-1]]),
        "reached": int(good[0]) + 1 if good.size else None,
        "first_gains": bool(challengers.size and ratios[challengers[0]] <= 1 / GAIN),
        **{name: float(seconds.max() / native) for name, seconds in over.items()},
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
    for name in LOSSES:
        told[name] = fmean(one[name] > 1e-9 for one in done)
        told[f"{name}_call"] = fmean(one[name] > 1 for one in done)
        told[f"{name}_worst"] = max(0.0, *(one[name] for one in done))
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
    found = f"1st: {part('at_once')} %" if at_once else "-"
    if not at_once and one["reached"]:
        found = f"{one['reached']:.0f} ({one['reached_90']:.0f})"
    return " | ".join(
        [
            *(one["noise"], one["foresight"], part("wrong"), part("slower"), part("missed"), found),
            *(f"{part(name)} ({part(name + '_call')}; {one[name + '_worst']:.1f})" for name in LOSSES),
            *(total(name) for name in ("native", "best", "native_long", "best_long")),
        ]
    )


def summary(heading: Row, rows: list[Row]) -> list[str]:
    runs = sum(one["runs"] for one in rows)
    bounded = [one for one in rows if one["noise"] != COLLISIONS]
    colliding = [one for one in rows if one["noise"] == COLLISIONS]

    def over(column: str, *, whole: bool, of: list[Row] = bounded) -> str:
        parts = (known for known in FORESIGHT if known.endswith(WHOLE) == whole)
        return ", ".join(
            f"{known.removesuffix(WHOLE)} {100 * share(of, column, known):.2f} %" for known in parts
        )

    soonest = [one["reached"] for one in rows if one["foresight"] == "nothing" and one["reached"]]
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
        "timeouts: 200 ms more in one call of 100; a stop: one second more in one of the first 20 calls; collisions:",
        "200 ms more in half of the calls that are cut short.",
        "",
        "Calls of challengers are cut short at the guard's limit. Assumed: what is left of such a call then takes as",
        "long as that part of the library's own call. *Whole*: no call can be cut short, and what is not known to be",
        "fast waits.",
        "",
        "- **Wrong changes**: "
        f"{100 * share(rows, 'wrong'):.2f} % of all runs (target 5 %), at most {100 * worst:.1f} %",
        f"  in a row of the table. {100 * slower:.2f} % end slower than the library's own.",
        "- **Loss beyond the budget** at any time, without collisions, % of runs: "
        + over("over", whole=False)
        + ".",
        "  By more than one call of the library's: " + over("over_call", whole=False) + ".",
        "- With collisions, which nothing bounds but that the guard stops at the first, by more than one call: "
        + over("over_call", whole=False, of=colliding)
        + ".",
        "- Without collisions, where calls cannot be cut short: " + over("over", whole=True) + ".",
        "  By more than one call: " + over("over_call", whole=True) + ".",
        "- By more than one call, by arms in use: " + over("in_use_call", whole=False) + ".",
        "- By more than one call, by the guard's own account: " + over("account_call", whole=False) + ".",
        "- By more than one call, against the usual call: " + over("usual_call", whole=False) + ".",
        f"- **Gains** above 10 % that the first challenger has are reached in {min(soonest):.0f} to {max(soonest):.0f}",
        "  calls (medians by noise, nothing known); by calibrated predictions and evidence with the first.",
        "",
        "Over: lost is what a trial's call took longer than the arm in use would have in the very same call, delays",
        "included; what an arm gained pays for its own losses only. The budget is 1 % of the time spent and two of",
        "the library's calls (their mean so far, without timeouts and stops). % of runs that lost more at any time",
        "(by more than a call; the worst, calls). In use: the same of what calls by arms in use took longer than",
        "the library's own would have; that is no trial, and what predictions and evidence choose wrongly. Account:",
        "by what the guard itself counts as lost, and its own budget, as earlier versions of this table had it; it",
        "doubts what it does not know, and tries nothing until its budget holds that. Usual: trials against the",
        "mean that the arm in use has taken so far, so that a delay counts as lost if it falls into a trial,",
        "whoever would have met it.",
        "",
        "Wrong: % of runs in which an arm gave way to one that is slower at all, by the test of pairs or because its",
        "first calls took long; slower: % that end slower than the library's own (predictions and evidence begin",
        "with arms that are about as fast); missed: % that end without a gain above 10 % that there is. Reached: calls",
        "up to such a gain where the first challenger has it, median (90 %), or the share of runs with a gain that",
        f"begin with it. Totals of the first {SHORT} calls and of all {CALLS:,}, learning included, over the library's",
        "own and over the best arm's: median / 95 % / worst.",
        "",
        *table(
            "noise | foresight | wrong | slower | missed | reached | over | in use | account | usual | 200: native"
            " | 200: best"
            " | 2,000: native | 2,000: best",
            line,
            rows,
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000, metavar="N", help="in all (default 10,000)")
    options, results = begin(parser, "choose-noise", summary)
    each = max(1, math.ceil(options.runs / (len(NOISES) * len(FORESIGHT))))
    for noise in NOISES:
        results.add(*(row(noise, foresight, each) for foresight in FORESIGHT))


if __name__ == "__main__":
    main()
