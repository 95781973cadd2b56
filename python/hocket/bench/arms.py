"""What the guard makes of measured times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from hocket import _core

CALLS: Final = 200  # that it decides in


def choice_and_regret(times: Mapping[str, Sequence[float]]) -> tuple[str, float]:
    """Name of the arm that a guard ends with, which knows nothing beforehand, and what its median takes beyond the
    least, as a share of that.

    ``times``: seconds of calls by each arm, measured in turn, as many of each; the library's own first. They are
    repeated where they are too few.
    """
    names = list(times)
    costs = np.array([times[name] for name in names]).T
    rules = _core.choose.GuardRules()
    rules.can_be_cut = (1 << len(names)) - 2
    guard = _core.choose.Guard([float("nan")] * len(names), rules)
    _, incumbents, *_ = guard.play(np.resize(costs, (CALLS, len(names))))
    medians = np.median(costs, axis=0)
    chosen = incumbents[-1]
    return names[chosen], float(medians[chosen] / medians.min() - 1)
