"""A rank that ``hocket calibrate network`` has started: measures, and rank 0 tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hocket.launch.job import Tell, run_as_rank
from hocket.measure.calibration.measure import measure

if TYPE_CHECKING:
    from mpi4py import MPI


def work(comm: MPI.Intracomm, what: dict[str, Any], tell: Tell) -> dict[str, Any] | None:
    """Do one rank's part; returns the calibration on rank 0."""

    def say(at: int, of: int, now: str) -> None:
        if comm.Get_rank() == 0:
            tell({"at": at, "of": of, "work": now})

    found = measure(comm, what["source"], what["placement"], what["quick"], say)
    return None if found is None else found.as_json()


if __name__ == "__main__":
    run_as_rank(work)
