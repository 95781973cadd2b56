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
from numpy.typing import NDArray

from hocket._core import choose

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
    calls = NOISES[noise](rng, native)
    # What delays a call delays it by any arm; so totals by different arms are of the same calls.
    costs = native * (ratios + (calls - 1)[:, None] * (1 if noise in ADDED else ratios))
    one = guard(rng, foresight, native * ratios)
    arm, incumbent, lost, budget = (np.array(column) for column in one.play(costs))
    before = np.concatenate([[incumbent[0]], incumbent[:-1]])
    changed = np.flatnonzero(before != incumbent)
    slower = ratios[incumbent[changed]] > ratios[before[changed]]
    taken, best = costs[np.arange(CALLS), arm], int(ratios.argmin())
    trial = arm != before
    excess = np.where(trial, np.maximum(ratios[arm] - ratios[before], 0), 0)  # without noise, native calls
    may = 0.01 * np.cumsum(ratios[arm]) + 2 * ratios[before]
    gained = np.flatnonzero(ratios[arm] <= 1 / GAIN) if ratios[best] <= 1 / GAIN else None
    settled = np.flatnonzero(ratios[incumbent] <= 1 / GAIN)
    return {
        "wrong": bool(slower.any()),
        "worse_at_end": bool(ratios[incumbent[-1]] > 1),
        "missed": gained is not None and bool(ratios[incumbent[-1]] > 1 / GAIN),
        "reached": None if gained is None else (int(settled[0]) + 1 if settled.size else CALLS),
        "first_helps": gained is not None and first_challenger(arm, ratios) <= 1 / GAIN,
        "lost_over": float(((lost - budget) / native).max()),
        "loss_over": float((np.cumsum(excess) - may).max()),
        "one_call": float(excess.max()),
        "native_200": float(taken[:SHORT].sum() / costs[:SHORT, 0].sum()),
        "best_200": float(taken[:SHORT].sum() / costs[:SHORT, best].sum()),
        "native_2000": float(taken.sum() / costs[:, 0].sum()),
        "best_2000": float(taken.sum() / costs[:, best].sum()),
    }


ADDED: Final = ("timeouts of 200 ms", "a stop of 1 s")  # seconds, not a factor


def first_challenger(arm: NDArray[np.int64], ratios: Floats) -> float:
    others = arm[arm != arm[0]]
    return float(ratios[others[0]]) if others.size else math.inf


def quantile(values: list[float], part: float) -> float | None:
    return float(np.quantile(values, part)) if values else math.nan


def row(noise: str, foresight: str, runs: int) -> Row:
    seeds = ([index, list(NOISES).index(noise), FORESIGHT.index(foresight)] for index in range(runs))
    all_runs = [run(seed, noise, foresight) for seed in seeds]
    reached = [one["reached"] for one in all_runs if one["reached"] is not None]
    first = [one["reached"] for one in all_runs if one["first_helps"]]
    told: Row = {"noise": noise, "foresight": foresight, "runs": runs}
    told |= {name: fmean(one[name] for one in all_runs) for name in ("wrong", "worse_at_end", "missed")}
    told |= {"reached": quantile(reached, 0.5), "reached_90": quantile(reached, 0.9)}
    told |= {"first_reached": quantile(first, 0.5), "first_reached_90": quantile(first, 0.9)}
    told["over_budget"] = fmean(one["loss_over"] > 1e-9 for one in all_runs)
    told["over_budget_worst"] = max(one["loss_over"] for one in all_runs)
    told["unforeseen"] = fmean(one["loss_over"] > one["one_call"] + 1e-9 for one in all_runs)
    told["over_half"] = fmean(one["loss_over"] > 0.5 for one in all_runs)
    told["counted_half"] = fmean(one["lost_over"] > 0.5 for one in all_runs)
    told["counted_over"] = fmean(one["lost_over"] > 1e-9 for one in all_runs)
    for name in ("native_200", "best_200", "native_2000", "best_2000"):
        ratios = [one[name] for one in all_runs]
        told |= {name: quantile(ratios, 0.5), f"{name}_95": quantile(ratios, 0.95), f"{name}_worst": max(ratios)}
    return told


def summary(heading: Row, rows: list[Row]) -> list[str]:
    return [
        *table("noise | foresight | wrong | worse at end | missed | reached | first reached | over budget (worst, one call) | counted | 200 native | 200 best | 2000 native | 2000 best",
        "{noise} | {foresight} | {wrong:.3f} | {worse_at_end:.3f} | {missed:.3f} | {reached:.0f} ({reached_90:.0f}) | {first_reached:.0f} ({first_reached_90:.0f}) | {over_budget:.3f} ({over_budget_worst:.1f}, {unforeseen:.3f}) | {counted_over:.3f}| {native_200:.3f} {native_200_95:.3f} {native_200_worst:.3f} | {best_200:.3f} {best_200_95:.3f} {best_200_worst:.3f} | {native_2000:.3f} {native_2000_95:.3f} {native_2000_worst:.3f} | {best_2000:.3f} {best_2000_95:.3f} {best_2000_worst:.3f}", rows)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000, metavar="N")
    options, results = begin(parser, "choose-noise", summary)
    each = max(1, options.runs // (len(NOISES) * len(FORESIGHT)))
    for noise in NOISES:
        results.add(*(row(noise, foresight, each) for foresight in FORESIGHT))


if __name__ == "__main__":
    main()
