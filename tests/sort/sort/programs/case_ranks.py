"""Runs random cases on ranks, which divide themselves into groups, anew after some cases.

    mpiexec -n 9 python tests/sort/sort/programs/case_ranks.py --seed 1 --first 0 --count 1000 [--log FILE]
    mpiexec -n 5 python tests/sort/sort/programs/case_ranks.py --seed 1 --only 123

The first wrong case ends them all. FILE holds the numbers of the cases that ranks are at, for when one
of them crashes.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Final

import numpy as np
from moving_cases import MovingCase
from mpi4py import MPI
from random_cases import SortCase, wait

IN_A_ROW: Final = 25  # cases of a group before groups are formed anew
WRONG: Final = 3  # exit code


def draw(seed: int, number: int, ranks: int) -> SortCase | MovingCase:
    """The case of that number for so many ranks: two sorts, then something that only moves elements."""
    kind = MovingCase if number % 3 == 2 else SortCase
    return kind.draw(np.random.default_rng([seed, number]), ranks)


def run_case(comm: MPI.Comm, seed: int, number: int) -> dict[str, str]:
    """Run a case and return its labels. Ends all ranks if the result on this one is wrong."""
    case = None
    try:
        case = draw(seed, number, comm.Get_size())
        problem = case.run(comm)
        labels = case.labels()
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    if problem:
        shared = os.environ.get("HOCKET_TEST_SHARED_RANKS", "0")
        print(
            f"WRONG: case {number} of seed {seed}, rank {comm.Get_rank()} of {comm.Get_size()}: {problem}\n"
            f"  {case}\n"
            f"  again: HOCKET_TEST_SHARED_RANKS={shared} mpiexec -n {comm.Get_size()} python {sys.argv[0]} "
            f"--seed {seed} --only {number}",
            flush=True,
        )
        MPI.COMM_WORLD.Abort(WRONG)
    return {"ranks": str(comm.Get_size()), **labels}


def groups(rng: np.random.Generator, ranks: int) -> list[int]:
    """The group of each rank; sizes from 1 to all of them."""
    sizes: list[int] = []
    while (left := ranks - sum(sizes)) > 0:
        sizes.append(int(rng.integers(1, left, endpoint=True)))
    return [group for group, size in enumerate(sizes) for _ in range(size)]


def rounds(seed: int, first: int, count: int, ranks: int) -> Iterator[list[tuple[int, range]]]:
    """Group of each rank, and the numbers of the group's cases."""
    rng = np.random.default_rng([seed, first, ranks, 2**32])
    end = first + count
    while first < end:
        of = groups(rng, ranks)
        yield [(g, range(min(end, first + g * IN_A_ROW), min(end, first + (g + 1) * IN_A_ROW))) for g in of]
        first += (of[-1] + 1) * IN_A_ROW


def tell_counts(parts: list[dict[str, Counter[str]]] | None) -> None:
    """Print the numbers of cases by label on rank 0, as one JSON object."""
    total: dict[str, Counter[str]] = {}
    for label, counts in (item for part in parts or [] for item in part.items()):
        total.setdefault(label, Counter()).update(counts)
    if parts is not None:
        print(json.dumps(total), flush=True)


def main() -> None:
    """One rank."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--only", type=int)
    parser.add_argument("--log")
    arguments = parser.parse_args()
    world = MPI.COMM_WORLD
    rank, ranks = world.Get_rank(), world.Get_size()
    if arguments.only is not None:
        run_case(world, arguments.seed, arguments.only)
        return
    at: np.ndarray = np.zeros((ranks, 2), np.int64)
    if arguments.log:
        at = np.memmap(arguments.log, np.int64, "r+", shape=at.shape)
    counts: dict[str, Counter[str]] = {}
    for of in rounds(arguments.seed, arguments.first, arguments.count, ranks):
        group, numbers = of[rank]
        wait(world.Ibarrier())
        comm = world.Split(group, rank)
        for number in numbers:
            at[rank] = number, comm.Get_size()
            labels = run_case(comm, arguments.seed, number)
            if comm.Get_rank() == 0:
                for label, value in labels.items():
                    counts.setdefault(label, Counter())[value] += 1
        comm.Free()
    wait(world.Ibarrier())
    tell_counts(world.gather(counts))


if __name__ == "__main__":
    main()
