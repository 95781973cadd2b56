"""A rank that ``hocket bench`` has started: measures, and rank 0 tells."""

from __future__ import annotations

import json
import sys
import traceback
from typing import Any

from hocket.bench.job import MARK
from hocket.bench.request import Request
from hocket.errors import HocketError, MissingToolError


def main() -> None:
    """One rank. Errors are told, not raised."""
    from mpi4py import MPI

    from hocket.bench.measure import measure

    comm = MPI.COMM_WORLD
    what = json.loads(sys.argv[1])
    first = comm.Get_rank() == 0
    try:
        if comm.Get_size() != what["ranks"]:
            raise MissingToolError(
                "mpi4py does not run on the MPI of the launcher",
                remedy="set MPI4PY_LIBMPI to the path of its libmpi.so, or choose another MPI by --mpi",
            )
        for row in measure(
            comm, Request.from_dict(what["request"]), lambda header: _tell({"header": header})
        ):
            if first:
                _tell({"row": row.as_dict()})
        if first:
            _tell({"over": True})
    except HocketError as error:  # the same on all ranks
        if first:
            _tell({"error": str(error)})
    except BaseException as error:  # others may wait for this rank
        traceback.print_exc()
        _tell({"error": f"rank {comm.Get_rank()}: {error or type(error).__name__}"})
        comm.Abort(1)


def _tell(message: dict[str, Any]) -> None:
    """To whom has started the ranks."""
    print(f"{MARK}{json.dumps(message)}", flush=True)


if __name__ == "__main__":
    main()
