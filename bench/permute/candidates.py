"""Times a random permutation by each candidate in turn; to be started with mpiexec.

    mpiexec -n 2 python bench/permute/candidates.py MEGABYTES ROUNDS CANDIDATE...

Rank 0 prints JSON: for each candidate the seconds of each round, from the moment when all ranks are ready
until the last one is done. Every element of every result is checked.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

import hocket

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import alternating

COMM = MPI.COMM_WORLD
RANK, RANKS = COMM.Get_rank(), COMM.Get_size()

Array = np.ndarray[Any, Any]
Candidate = Callable[[Array, Array, Array, Array], None]


def by_alltoallv(data: Array, destinations: Array, indices: Array, out: Array) -> None:
    """Permute as a careful user of mpi4py and numpy does, for parts of equal size."""
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


def by_mpsort(data: Array, destinations: Array, indices: Array, out: Array) -> None:
    import mpsort

    mpsort.permute(data, indices, COMM, out=out)


def by_permute(method: str) -> Candidate:
    def run(data: Array, destinations: Array, indices: Array, out: Array) -> None:
        hocket.permute(COMM, data, destinations, out=out, method=method)

    return run


def by_take(method: str) -> Candidate:
    def run(data: Array, destinations: Array, indices: Array, out: Array) -> None:
        hocket.take(COMM, data, indices, out=out, method=method)

    return run


CANDIDATES: dict[str, Candidate] = {
    "chained": by_permute("chained"),
    "packed": by_permute("packed"),
    "take-chained": by_take("chained"),
    "take-packed": by_take("packed"),
    "alltoallv": by_alltoallv,
    "mpsort": by_mpsort,
}


def spread(whole: Array | None, total: int) -> Array:
    """This rank's part of what rank 0 has."""
    each = total // RANKS
    if whole is None:
        part = np.empty(each, np.int64)
        COMM.Recv(part, 0)
        return part
    for rank in range(1, RANKS):
        COMM.Send(whole[rank * each : (rank + 1) * each], rank)
    return whole[:each].copy()


def permutation(total: int) -> tuple[Array, Array]:
    """Targets of this rank's elements; and sources of the elements in its part of the target."""
    destinations = np.random.default_rng(1).permutation(total) if RANK == 0 else None
    indices = None
    if destinations is not None:
        indices = np.empty_like(destinations)
        indices[destinations] = np.arange(total)
    return spread(destinations, total), spread(indices, total)


def main(megabytes: int, rounds: int, names: list[str]) -> None:
    total = megabytes * 10**6 // 8 // RANKS * RANKS
    destinations, indices = permutation(total)
    data = destinations * 3 + 1
    begin = RANK * (total // RANKS)
    wanted = np.arange(begin, begin + total // RANKS) * 3 + 1
    out = np.zeros_like(data)
    times: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds + 1):  # the first is not counted: memory is fresh
        for name in alternating(names, number + 1):
            out[...] = 0
            COMM.Barrier()
            started = time.perf_counter()
            CANDIDATES[name](data, destinations, indices, out)
            seconds = COMM.allreduce(time.perf_counter() - started, MPI.MAX)
            assert np.array_equal(out, wanted), name
            if number > 0:
                times[name].append(seconds)
    if RANK == 0:
        print(json.dumps(times))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
