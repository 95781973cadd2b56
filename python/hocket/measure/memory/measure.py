"""Every rank under ``hocket calibrate memory``: all do the same work at the same time, and then some sorts."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from mpi4py import MPI

from hocket.launch.job import Tell
from hocket.measure.memory.sizes import Budget, in_turn, measured, shapes
from hocket.measure.memory.works import Rank
from hocket.sorting.sort import sort


def work(comm: MPI.Intracomm, what: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Measure; rank 0 tells before each figure what comes next."""
    rank = Rank(comm, what["memory"])
    todo = in_turn(shapes(what["memory"], comm.Get_size(), what["quick"]))

    def say(at: int, kind: str) -> None:
        if comm.Get_rank() == 0:
            tell({"at": at, "of": len(todo), "work": kind})

    budget = Budget(what["seconds"], comm.bcast)
    done = measured(todo, comm.Get_size(), rank.seconds, budget, say)
    return {"figures": done.figures, "of": len(todo), "differing": done.differing}


_ROUNDS = 5  # after one that finds memory fresh


def _keys(case: str, n: int, rank: int) -> np.ndarray[tuple[int], np.dtype[np.unsignedinteger]]:
    random = np.random.default_rng([1, rank])
    kind, spread = case.split()
    dtype = np.dtype(kind.replace("uint32", "u4").replace("uint64", "u8"))
    most = int(np.iinfo(dtype).max)
    if spread == "uniform":
        return random.integers(0, most, n, dtype, endpoint=True)
    return np.minimum(random.random(n) ** -2.0, 2.0**32 - 1).astype(dtype)  # k has a share of about k^-1.5


def trial(comm: MPI.Intracomm, what: dict[str, Any], _: Tell) -> dict[str, tuple[list[float], ...]]:
    """Seconds of some sorts by the new profile and the built-in one, which take turns."""
    profiles = what["profiles"]
    comms = [comm.Dup() for _ in profiles]  # each keeps the profile of its first sort
    times: dict[str, tuple[list[float], ...]] = {}
    for case in ("uint32 uniform", "uint32 zipf", "uint64 uniform"):
        keys = _keys(case, what["elements"], comm.Get_rank())
        taken: tuple[list[float], ...] = tuple([] for _ in profiles)
        for turn in range(_ROUNDS + 1):
            for profile, own, seconds in zip(profiles, comms, taken, strict=True):
                os.environ["HOCKET_MEMORY"] = profile
                comm.Barrier()
                begin = MPI.Wtime()
                sort(own, keys)
                took = comm.allreduce(MPI.Wtime() - begin, MPI.MAX)
                if turn > 0:
                    seconds.append(took)
        times[case] = taken
    return times
