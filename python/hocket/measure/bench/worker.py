"""A rank that ``hocket bench`` has started: measures, and rank 0 tells."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from hocket.launch.messages import Tell, run_as_rank
from hocket.measure.bench.job import MARK
from hocket.measure.bench.measure import measure
from hocket.measure.bench.request import Request

if TYPE_CHECKING:
    from mpi4py import MPI


def main() -> None:
    """One rank."""
    what = json.loads(sys.argv[1])

    def work(comm: MPI.Intracomm, tell: Tell) -> None:
        first = comm.Get_rank() == 0
        request = Request.from_dict(what["request"])
        for row in measure(comm, request, lambda header: tell({"header": header})):
            if first:
                tell({"row": row.as_dict()})
        if first:
            tell({"over": True})

    run_as_rank(MARK, what["ranks"], work)


if __name__ == "__main__":
    main()
