"""A rank that ``hocket network discover --measure`` has started: measures, and rank 0 tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hocket.launch.job import Tell, run_as_rank
from hocket.measure.discovery.measure import measure

if TYPE_CHECKING:
    from mpi4py import MPI


def work(comm: MPI.Intracomm, what: dict[str, Any], tell: Tell) -> dict[str, Any] | None:
    """Do one rank's part; returns what was found on rank 0."""
    found = measure(comm, what["seconds"], lambda at, of, now: tell({"at": at, "of": of, "work": now}))
    return None if found is None else found.as_json()


if __name__ == "__main__":
    run_as_rank(work)
