"""What a random permutation takes, by each candidate in turn; to be started with mpiexec.

    mpiexec -n 2 python bench/permute/candidates.py MEGABYTES REPETITIONS CANDIDATE...

Rank 0 prints a line of JSON per candidate: the seconds of each repetition, from the moment when all ranks are ready
until the last one is done. All results are compared with each other, byte by byte.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI

import hocket

COMM = MPI.COMM_WORLD
RANK, RANKS = COMM.Get_rank(), COMM.Get_size()

Array = np.ndarray[Any, Any]


def by_alltoallv(data: Array, destinations: Array, out: Array) -> None:
    """What a careful user of mpi4py and numpy writes, for parts of equal size."""
    each = len(out)
    if RANKS == 2:
        upper = destinations >= each
        order = np.concatenate([np.flatnonzero(~upper), np.flatnonzero(upper)])
        counts = np.array([len(data) - np.count_nonzero(upper), np.count_nonzero(upper)])
    else:
        owners = (destinations // each).astype(np.uint8)
        order = np.argsort(owners, kind="stable")  # a counting sort
        counts = np.bincount(owners, minlength=RANKS)
    arriving = np.empty_like(counts)
    COMM.Alltoall(counts, arriving)
    positions = np.empty(arriving.sum(), np.int64)
    elements = np.empty(arriving.sum(), data.dtype)
    COMM.Alltoallv([destinations[order], counts], [positions, arriving])
    COMM.Alltoallv([data[order], counts], [elements, arriving])
    positions -= RANK * each
    out[positions] = elements


def by_mpsort(data: Array, destinations: Array, out: Array) -> None:
    import mpsort

    out[...] = mpsort.permute(data, destinations, COMM, outsize=len(out))


def by_hocket(method: str) -> Callable[[Array, Array, Array], None]:
    def run(data: Array, destinations: Array, out: Array) -> None:
        hocket.permute(COMM, data, destinations, out=out, method=method)

    return run


CANDIDATES: dict[str, Callable[[Array, Array, Array], None]] = {
    "chained": by_hocket("chained"),
    "packed": by_hocket("packed"),
    "alltoallv": by_alltoallv,
    "mpsort": by_mpsort,
}


def permutation(total: int) -> Array:
    """This rank's part of the same random permutation on all ranks."""
    if RANK == 0:
        whole = np.random.default_rng(1).permutation(total)
        for rank in range(1, RANKS):
            COMM.Send(whole[rank * total // RANKS : (rank + 1) * total // RANKS], rank)
        return whole[: total // RANKS].copy()
    part = np.empty(total // RANKS, np.int64)
    COMM.Recv(part, 0)
    return part


def main(megabytes: int, repetitions: int, names: list[str]) -> None:
    total = megabytes * 10**6 // 8 // RANKS * RANKS
    destinations = permutation(total)
    data = destinations * 3 + 1
    begin = RANK * (total // RANKS)
    wanted = np.arange(begin, begin + total // RANKS) * 3 + 1
    out = np.zeros_like(data)
    times: dict[str, list[float]] = {name: [] for name in names}
    for repetition in range(repetitions + 1):  # the first is not counted: memory is fresh
        for name in names if repetition % 2 else reversed(names):
            out[...] = 0
            COMM.Barrier()
            started = time.perf_counter()
            CANDIDATES[name](data, destinations, out)
            seconds = COMM.allreduce(time.perf_counter() - started, MPI.MAX)
            assert np.array_equal(out, wanted), name
            if repetition > 0:
                times[name].append(seconds)
    if RANK == 0:
        print(json.dumps(times))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
