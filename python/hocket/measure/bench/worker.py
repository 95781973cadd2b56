"""A rank that ``hocket bench`` has started: measures, and rank 0 tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hocket.launch.job import Tell, run_as_rank
from hocket.measure.bench.measure import measure
from hocket.measure.bench.request import Request

if TYPE_CHECKING:
    from mpi4py import MPI


def work(comm: MPI.Intracomm, what: dict[str, Any], tell: Tell) -> bool:
    """Do one rank's part; returns true when all was measured."""
    for row in measure(comm, Request.from_dict(what), lambda header: tell({"header": header})):
        if comm.Get_rank() == 0:
            tell({"row": row.as_dict()})
    return True


if __name__ == "__main__":
    run_as_rank(work)
