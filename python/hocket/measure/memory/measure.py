"""Every rank under ``hocket calibrate memory``: all do the same work at the same time.

Rank 0 prints a line of JSON before each figure, and at the end one with all figures.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from mpi4py import MPI

from hocket.measure.memory.budget import Budget, measured
from hocket.measure.memory.sizes import in_turn, shapes
from hocket.measure.memory.works import Rank


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--memory", type=int, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=float, required=True)
    options = parser.parse_args()
    comm = MPI.COMM_WORLD

    def say(line: dict[str, Any]) -> None:
        if comm.Get_rank() == 0:
            print(json.dumps(line), flush=True)

    rank = Rank(comm, options.memory)
    todo = in_turn(shapes(options.memory, comm.Get_size(), options.quick))
    budget = Budget(options.seconds, comm.bcast)
    done = measured(
        todo,
        comm.Get_size(),
        rank.seconds,
        budget,
        lambda at, work: say({"at": at, "of": len(todo), "work": work}),
    )
    say({"figures": done.figures, "of": len(todo), "differing": done.differing})


def _abort(kind: type[BaseException], value: BaseException, _: object) -> None:
    """End all ranks upon one rank's error: the others would wait for it."""
    print(f"{kind.__name__}: {value}", file=sys.stderr, flush=True)
    MPI.COMM_WORLD.Abort(1)


if __name__ == "__main__":
    sys.excepthook = _abort
    main()
