"""Trial of every rank after ``hocket calibrate memory``: some sorts by the new profile and the built-in one,
in turn.

    python -m hocket.measure.memory.trial ELEMENTS OWN BUILT_IN

Files are profiles, ELEMENTS are keys per rank. Rank 0 prints a line of JSON: the seconds of each sort by both.
"""

from __future__ import annotations

import json
import os
import sys

import numpy as np
from mpi4py import MPI

from hocket.sorting.sort import sort

_ROUNDS = 5  # after one that finds memory fresh


def _keys(case: str, n: int, rank: int) -> np.ndarray[tuple[int], np.dtype[np.unsignedinteger]]:
    random = np.random.default_rng([1, rank])
    kind, spread = case.split()
    dtype = np.dtype(kind.replace("uint32", "u4").replace("uint64", "u8"))
    most = int(np.iinfo(dtype).max)
    if spread == "uniform":
        return random.integers(0, most, n, dtype, endpoint=True)
    return np.minimum(random.random(n) ** -2.0, 2.0**32 - 1).astype(dtype)  # k has a share of about k^-1.5


def main(elements: int, profiles: list[str]) -> None:
    comm = MPI.COMM_WORLD
    comms = [comm.Dup() for _ in profiles]  # each keeps the profile of its first sort
    times: dict[str, tuple[list[float], ...]] = {}
    for case in ("uint32 uniform", "uint32 zipf", "uint64 uniform"):
        keys = _keys(case, elements, comm.Get_rank())
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
    if comm.Get_rank() == 0:
        print(json.dumps({"times": times}), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
