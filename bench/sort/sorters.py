"""Times sorting by each candidate in turn; to be started with mpiexec.

    mpiexec -n 2 python bench/sort/sorters.py ELEMENTS ROUNDS SORTER:DISTRIBUTION...

Rank 0 prints a line of JSON per candidate: the seconds of each round, until the last rank has its result, and
what Hocket says of its own steps. A first round is not counted: memory is fresh. Its results are checked.
"""

from __future__ import annotations

import itertools
import json
import statistics
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np
from mpi4py import MPI

import hocket
from hocket.sorting.sort import Sorted

COMM = MPI.COMM_WORLD
RANK, RANKS = COMM.Get_rank(), COMM.Get_size()
MOST = 2**32 - 1

Array = np.ndarray[Any, Any]


def draw(distribution: str, total: int) -> Array:
    """This rank's part of uint32 keys."""
    begin, end = (total * rank // RANKS for rank in (RANK, RANK + 1))
    rng = np.random.default_rng([3, RANK])
    if distribution == "uniform":
        return rng.integers(0, MOST, end - begin, np.uint32, endpoint=True)
    if distribution == "zipf":  # the value k has a share of about k^-1.5
        return np.minimum(rng.random(end - begin) ** -2.0, MOST).astype(np.uint32)
    if distribution == "equal":
        return np.full(end - begin, 7, np.uint32)
    if distribution == "sorted":
        return np.arange(begin, end, dtype=np.uint32)
    return np.arange(total - begin, total - end, -1, dtype=np.uint32)  # reversed


def by_gathering(keys: Array) -> Array:
    """Sort on one rank that has enough memory, as a user of mpi4py and numpy does."""
    counts = COMM.gather(len(keys))
    if RANK > 0:
        COMM.Gatherv(keys, None)
        return keys[:0]
    whole = np.empty(sum(counts), keys.dtype)
    COMM.Gatherv(keys, (whole, counts))
    whole.sort()
    return whole


def by_mpsort(keys: Array) -> Array:
    import mpsort

    out = np.empty_like(keys)
    mpsort.sort(keys, orderby=None, out=out, comm=COMM)
    return out


def run(sorter: str, keys: Array) -> tuple[Array, Sorted | None]:
    if sorter == "gather":
        return by_gathering(keys), None
    if sorter == "mpsort":
        return by_mpsort(keys), None
    method, _, kind = sorter.partition("-")
    if method == "radix":  # radix-11: by all digits, of 11 bits
        done = hocket.sort_report(COMM, keys, method=method, digit_bits=int(kind) if kind else None)
    else:
        done = hocket.sort_report(COMM, keys, method=method, sampling=kind or "random")
    return done.keys, done


def meet() -> None:
    """A barrier that leaves the processor to ranks that have work."""
    request = COMM.Ibarrier()
    while not request.Test():
        time.sleep(1e-4)


def check(keys: Array, result: Array) -> None:
    """Sorted, within and between ranks, and of the same sum."""
    assert bool(np.all(result[:-1] <= result[1:]))
    ends = [end for end in COMM.allgather(tuple(map(int, result[[0, -1]])) if len(result) else None) if end]
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(ends))
    sums = COMM.allreduce(np.array([int(keys.sum()), int(result.sum()), len(keys), len(result)], object))
    assert sums[0] == sums[1] and sums[2] == sums[3], sums


def steps_of(reports: list[Sorted]) -> dict[str, list[float]]:
    """Seconds of each step: median of the slowest rank's measured times, and the model's prediction."""
    steps = {}
    for i, step in enumerate(reports[0].steps):
        seconds = [COMM.allreduce(report.steps[i].seconds, MPI.MAX) for report in reports]
        steps[step.name] = [statistics.median(seconds), step.predicted]
    return steps


def main(total: int, rounds: int, candidates: list[str]) -> None:
    keys = {name: draw(name, total) for name in {candidate.partition(":")[2] for candidate in candidates}}
    seconds: dict[str, list[float]] = {candidate: [] for candidate in candidates}
    reports: dict[str, list[Sorted]] = {candidate: [] for candidate in candidates}
    for number in range(rounds + 1):
        for candidate in candidates:
            sorter, _, distribution = candidate.partition(":")
            meet()
            began = time.perf_counter()
            result, report = run(sorter, keys[distribution])
            took = time.perf_counter() - began
            meet()
            if number == 0:
                check(keys[distribution], result)
                continue
            seconds[candidate].append(COMM.allreduce(took, MPI.MAX))
            if report is not None:
                reports[candidate].append(replace(report, keys=result[:0].copy()))
            del result, report
    for candidate in candidates:
        line: dict[str, Any] = {"candidate": candidate, "seconds": seconds[candidate]}
        if reports[candidate]:
            line["imbalance"] = max(report.imbalance for report in reports[candidate])
            line["steps"] = steps_of(reports[candidate])
        if RANK == 0:
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(int(float(sys.argv[1])), int(sys.argv[2]), sys.argv[3:])
