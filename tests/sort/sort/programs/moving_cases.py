"""Random permutations, takes, h-relations, grouped permutations and transposes, compared with numpy's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from mpi4py import MPI
from numpy.random import Generator
from random_cases import Array, apart, difference, draw_counts, draw_size

from hocket.sorting.elements import grouped_permute, permute, send_elements, take, transpose

OPERATIONS: Final = ("permute", "take", "send", "grouped", "transpose")
METHODS: Final = ("auto", "packed", "chained")


@dataclass(frozen=True)
class MovingCase:
    """An operation on an array that all ranks together have, and how many elements of it each of them gives.

    ``index``: destinations, indices or target ranks, as the operation wants them. Of a grouped permutation:
    which place each run has among the runs in the target; ``lengths``: of the runs of each rank.
    """

    operation: str
    method: str
    array: Array
    counts: list[int]
    index: Array
    target_counts: list[int]
    lengths: list[list[int]]
    strided: bool

    @classmethod
    def draw(cls, rng: Generator, ranks: int) -> Self:
        operation = str(rng.choice(OPERATIONS))
        n = draw_size(rng, ranks)
        counts, target_counts = draw_counts(rng, n, ranks), draw_counts(rng, n, ranks)
        lengths: list[list[int]] = []
        shape: tuple[int, ...] = (n,)
        if operation == "take":
            n_taken = draw_size(rng, ranks) if n else 0
            target_counts = draw_counts(rng, n_taken, ranks)
            index = rng.integers(0, max(1, n), n_taken)
        elif operation == "send":
            index = rng.integers(0, ranks, n) if rng.random() < 0.7 else np.full(n, rng.integers(ranks))
        elif operation == "grouped":
            lengths = [_cut(rng, count) for count in counts]
            index = rng.permutation(sum(map(len, lengths)))
        elif operation == "transpose":
            rows, columns = (int(side) for side in rng.integers(0, 80, 2))
            counts, target_counts = draw_counts(rng, rows, ranks), draw_counts(rng, columns, ranks)
            shape, index = (rows, columns), np.empty(0, np.int64)
        else:
            index = rng.permutation(n)
            if rng.random() < 0.2:  # nearly in place
                index = np.roll(np.arange(n), int(rng.integers(0, 5)))
        method = str(rng.choice(METHODS))
        array = _draw_elements(rng, shape)
        return cls(operation, method, array, counts, index, target_counts, lengths, bool(rng.random() < 0.2))

    def run(self, comm: MPI.Comm) -> str:
        """Collective. What is wrong on this rank; nothing if all is well."""
        rank = comm.Get_rank()
        own, target = _part(self.counts, rank), _part(self.target_counts, rank)
        mine = apart(self.array[own]) if self.strided else self.array[own]
        count = self.target_counts[rank]
        if self.operation == "permute":
            got = permute(comm, mine, self.index[own], count=count, method=self.method)
            expected = self.array[np.argsort(self.index)][target]
        elif self.operation == "take":
            got = take(comm, mine, self.index[target], method=self.method)
            expected = self.array[self.index[target]]
        elif self.operation == "send":
            got = send_elements(comm, mine, self.index[own], method=self.method)
            expected = self.array[self.index == rank]
        elif self.operation == "grouped":
            lengths = np.array([length for each in self.lengths for length in each], np.int64)
            order = np.argsort(self.index)
            places = np.empty_like(lengths)
            places[order] = np.cumsum(lengths[order]) - lengths[order]
            runs = _part([len(each) for each in self.lengths], rank)
            got = grouped_permute(comm, mine, lengths[runs], places[runs], count=count)
            pieces = np.split(self.array, np.cumsum(lengths)[:-1])
            expected = np.concatenate([pieces[i] for i in order] or pieces)[target]
        else:
            got = transpose(comm, mine, rows=count, method=self.method)
            expected = self.array.T[target]
        return difference(self.operation, got, expected)

    def labels(self) -> dict[str, str]:
        return {"operation": f"{self.operation} {self.method}"}

    def __str__(self) -> str:
        return (
            f"{self.operation} ({self.method}) of {self.array.shape} {self.array.dtype}, "
            f"counts {self.counts}, target counts {self.target_counts}, strided {self.strided}"
        )


def _part(counts: list[int], rank: int) -> slice:
    begin = sum(counts[:rank])
    return slice(begin, begin + counts[rank])


def _cut(rng: Generator, count: int) -> list[int]:
    """Lengths of runs that make up `count` elements."""
    if count == 0:
        return []
    ends = np.unique(rng.integers(1, count, int(rng.integers(0, 20)), endpoint=True))
    return np.diff([0, *ends[ends < count], count]).tolist()


def _draw_elements(rng: Generator, shape: tuple[int, ...]) -> Array:
    """Draw elements of 1 to 40 bytes; rows of a matrix only where the elements are one-dimensional."""
    width = int(rng.choice([1, 2, 4, 8, 16, int(rng.integers(1, 41))]))
    raw = rng.integers(0, 256, (*shape, width), dtype=np.uint8)
    if width in (2, 4, 8):
        return raw.view(f"u{width}").reshape(shape)
    if len(shape) == 1 and rng.random() < 0.3:
        return raw
    return raw.view(f"V{width}").reshape(shape)
