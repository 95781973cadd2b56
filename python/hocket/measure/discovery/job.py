"""Starts ranks that measure, and hands on what they say."""

from __future__ import annotations

from collections.abc import Callable

from hocket.launch.job import Job, run_job
from hocket.launch.mpi import Mpi
from hocket.measure.discovery.found import Found


def measured_by(
    mpi: Mpi, ranks: int, hostfile: str | None, seconds: float, say: Callable[[int, int, str], None]
) -> Found:
    """The findings of ranks of its own. Raises HocketError with what they say, or with how they ended."""
    job = Job("hocket.measure.discovery.worker", ranks, {"seconds": seconds}, "all was measured")
    outcome = run_job(
        job, mpi, {}, lambda now: say(now["at"], now["of"], now["work"]), hostfile=hostfile, verbose=None
    )
    return Found.from_json(outcome.answer)
