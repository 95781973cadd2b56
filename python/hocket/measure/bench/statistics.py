"""Figures of repeated measurements, and the choice that the selection engine makes from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, Self

import numpy as np

from hocket import _core

SCHEDULED: Final = "schedule"
PASSED_ON: Final = "MPI library"
PARTLY: Final = "partly"

By = Literal["schedule", "MPI library", "partly"]


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of calls; percentiles are interpolated linearly. ``calls``: how many there were."""

    median: float
    p10: float
    p90: float
    p99: float
    least: float
    most: float
    calls: int

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Self:
        """Compute the statistics of one or more calls, given in seconds."""
        p10, median, p90, p99 = (float(x) for x in np.percentile(seconds, (10, 50, 90, 99)))
        return cls(median, p10, p90, p99, float(min(seconds)), float(max(seconds)), len(seconds))


@dataclass(frozen=True, slots=True)
class Row:
    """Results of one size. ``bytes``: of a message, on average. Times are seconds.

    ``scheduled`` is None where the job runs without Hocket's runtime. ``served``: what served the calls in
    ``scheduled``. ``ratio``: median of native / scheduled of calls measured in turn. ``bound``: None if
    unknown. ``wrong``: what is wrong with the data that arrived; empty if nothing is. ``candidates``: those that
    were measured; then ``choice`` is the one that is chosen in the end, given these times, and ``regret``
    what its median takes beyond the least, as a share of that.
    """

    bytes: int
    native: Times
    scheduled: Times | None = None
    ratio: float | None = None
    bound: float | None = None
    served: By | None = None
    wrong: str = ""
    candidates: dict[str, Times] = field(default_factory=dict)
    choice: str | None = None
    regret: float | None = None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> Self:
        scheduled = Times(**row["scheduled"]) if row["scheduled"] else None
        candidates = {name: Times(**times) for name, times in row["candidates"].items()}
        return cls(
            **{**row, "native": Times(**row["native"]), "scheduled": scheduled, "candidates": candidates}
        )


def paired_ratio(native: Sequence[float], scheduled: Sequence[float]) -> float:
    """The median of native / scheduled, call by call: what slows both down cancels out."""
    return float(np.median(np.asarray(native) / np.asarray(scheduled)))


def served_by(scheduled: int, calls: int) -> By:
    """Server of a size's calls, by how many of them were scheduled."""
    if scheduled == 0:
        return PASSED_ON
    return SCHEDULED if scheduled == calls else PARTLY


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
