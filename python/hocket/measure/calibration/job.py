"""Starts ranks that measure, and hands on what they say."""

from __future__ import annotations

from collections.abc import Callable

from hocket.costs.calibration import Calibration, from_json
from hocket.launch.job import Job, run_job
from hocket.launch.mpi import Mpi

Say = Callable[[int, int, str], None]


def measured_by(
    mpi: Mpi, ranks: int, hostfile: str | None, source: str | None, placement: str, quick: bool, say: Say
) -> Calibration:
    """The calibration that ranks of its own measure. Raises HocketError with what they say, or with how they ended."""
    what = {"source": source, "placement": placement, "quick": quick}
    job = Job("hocket.measure.calibration.worker", ranks, what, "all was measured")
    outcome = run_job(
        job, mpi, {}, lambda now: say(now["at"], now["of"], now["work"]), hostfile=hostfile, verbose=None
    )
    return from_json(outcome.answer)
