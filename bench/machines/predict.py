"""Predicts published timings of MPI collectives on machines that nobody here has touched, by costs fitted on six cells.

The tables are PICO's results, condensed (cells.py). Costs of Fugaku and Leonardo are frozen in costs.toml; those of
any other machine are fitted on six of its cells, chosen by a rule that looks at no times, on a network of full
bisection. All other cells of 32 KiB and more are predicted blind. Error: |predicted − measured| / measured, of
medians.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final

import named
import numpy as np
from cells import Cell, Job
from described import DESCRIBED, Machine, frozen, machine_of
from fit import GUESSES_BLIND, few_cells, fitted

from model import Costs, Fabric, seconds

LEAST: Final = 32 << 10  # bytes of the vector
SAME: Final = 0.01  # of a prediction


@dataclass(frozen=True)
class Prediction:
    cell: Cell
    seconds: float | None  # None: no model
    reason: str = ""
    fitted: bool = False

    @property
    def error(self) -> float:
        assert self.seconds is not None
        return abs(self.seconds - self.cell.seconds) / self.cell.seconds


@dataclass
class Predictor:
    """Machines, their costs and the networks of jobs; ``notes``: what is said of machines without description."""

    costs: dict[str, tuple[Costs, frozenset[Cell]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _fabrics: dict[Job, Fabric] = field(default_factory=dict)

    def fabric(self, machine: Machine, job: Job) -> Fabric:
        if job not in self._fabrics:
            self._fabrics[job] = machine.fabric(job)
        return self._fabrics[job]

    def learn(self, cells: Sequence[Cell]) -> None:
        """Costs of all machines of the table: frozen ones, or fitted on a few of its cells."""
        known = frozen()
        for system in dict.fromkeys(cell.job.system for cell in cells):
            if system.lower() in DESCRIBED and system.lower() in known:
                values, keys = known[system.lower()]
                self.costs[system] = values, frozenset(cell for cell in cells if cell.key in keys)
                continue
            machine = machine_of(system)
            few = few_cells([cell for cell in cells if cell.job.system == system and cell.bytes >= LEAST])
            self.costs[system] = fitted(machine, few, self.fabric, GUESSES_BLIND), frozenset(few)
            names = (f"{cell.collective} {cell.algorithm} {cell.bytes}" for cell in few)
            told = f"taken as full bisection, costs fitted on {', '.join(names) or 'none: public rates'}"
            self.notes.append(f"{system} is not described here: {told}")

    def __call__(self, cell: Cell) -> float | None:
        """Predicted seconds, or None where there is no model."""
        made = named.program_of(cell)
        if made is None:
            return None
        machine = machine_of(cell.job.system)
        costs = self.costs[cell.job.system][0]
        return seconds(made, cell.bytes, self.fabric(machine, cell.job), costs, machine.habits)


def predictions(cells: Sequence[Cell], predictor: Predictor) -> list[Prediction]:
    """Predictions of all cells of 32 KiB and more."""
    found = []
    for cell in cells:
        if cell.bytes < LEAST:
            continue
        if cell.seconds == 0:
            found.append(Prediction(cell, None, "its median is 0"))
            continue
        guess = predictor(cell)
        why = "" if guess is not None else named.reason(cell.collective, cell.algorithm)
        if guess is not None and not (math.isfinite(guess) and guess > 0):
            guess, why = None, "the model has no finite time for it"
        found.append(Prediction(cell, guess, why, cell in predictor.costs[cell.job.system][1]))
    return found


def report(found: Sequence[Prediction]) -> dict[str, Any]:
    """The JSON that is printed. ``cells``: predicted blind, which the errors are of; ``not_modelled``: algorithms
    without a model, each with the number of its cells and the reason."""
    blind = [one for one in found if one.seconds is not None and not one.fitted]
    by_algorithm: dict[str, list[float]] = {}
    for one in blind:
        by_algorithm.setdefault(_name(one), []).append(one.error)
    missing: dict[str, dict[str, Any]] = {}
    for one in found:
        if one.seconds is None:
            entry = missing.setdefault(_name(one), {"cells": 0, "reason": one.reason})
            entry["cells"] += 1
    return {
        "cells": len(blind),
        **summary([one.error for one in blind]),
        "best_among_two": best_among_two(found),
        "by_algorithm": {
            name: {"cells": len(errors), **summary(errors)} for name, errors in sorted(by_algorithm.items())
        },
        "not_modelled": dict(sorted(missing.items())),
    }


def summary(errors: Sequence[float]) -> dict[str, float | None]:
    if not errors:
        return {"median_error": None, "p90_error": None}
    return {"median_error": round(median(errors), 4), "p90_error": round(float(np.percentile(errors, 90)), 4)}


def best_among_two(found: Iterable[Prediction], same: float = SAME) -> float | None:
    """Part of (job, collective, size), of those with three algorithms or more, in which the algorithm that was
    measured best is one of the two predicted best. Algorithms whose predictions differ by less than ``same`` are one to
    the model. One without a model is never among the best. None: there is no choice of three."""
    groups: dict[tuple[Any, ...], dict[str, Prediction]] = {}
    for one in found:
        cell = one.cell
        if cell.seconds and named.plain(cell.algorithm)[1] not in ("default", "auto"):
            group = groups.setdefault((cell.job, cell.collective, cell.bytes), {})
            if cell.algorithm not in group or cell.seconds < group[cell.algorithm].cell.seconds:
                group[cell.algorithm] = one
    right = []
    for group in groups.values():
        if len(group) >= 3:
            best = min(group.values(), key=lambda one: one.cell.seconds)
            limit = _second(group.values(), same) * (1 + same)
            right.append(best.seconds is not None and best.seconds <= limit)
    return round(sum(right) / len(right), 4) if right else None


def _second(group: Iterable[Prediction], same: float) -> float:
    """Predicted seconds of the second best algorithm, those that are one to the model taken together."""
    if same == 0:
        return sorted([*(one.seconds for one in group if one.seconds is not None), math.inf])[1]
    told = sorted(one.seconds for one in group if one.seconds is not None)
    return next((value for value in told if value > told[0] * (1 + same)), told[-1]) if told else 0.0


def _name(one: Prediction) -> str:
    return f"{one.cell.collective}/{one.cell.algorithm}"
