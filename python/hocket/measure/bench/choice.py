"""Choice that the selection engine makes from measured times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from hocket import _core

CALLS: Final = 200  # that it decides in


def choice_and_regret(times: Mapping[str, Sequence[float]]) -> tuple[str, float]:
    """Name of the candidate that is used in the end where nothing is known beforehand, and what its median takes
    beyond the least, as a share of that.

    ``times``: seconds of calls by each candidate, measured in turn, as many of each; the library's own first. They are
    repeated where they are too few.
    """
    names = list(times)
    costs = np.array([times[name] for name in names]).T
    chooser = _core.choose.Chooser([float("nan")] * len(names))
    for of_call in np.resize(costs, (CALLS, len(names))):
        chooser.learn(float(of_call[chooser.next().candidate]))
    medians = np.median(costs, axis=0)
    return names[chooser.best], float(medians[chooser.best] / medians.min() - 1)
