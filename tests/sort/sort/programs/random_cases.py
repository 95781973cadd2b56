"""Random sorts, each compared byte for byte with a stable sort by numpy on one rank.

A case is drawn from a seed and a number alone, and a number of ranks; every rank draws all of it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, fields
from typing import Any, Final, Self

import numpy as np
from mpi4py import MPI
from numpy.random import Generator
from numpy.typing import NDArray

from hocket.sorting.sort import sort_report

Array = NDArray[Any]

INTEGERS: Final = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8")
FLOATS: Final = ("f2", "f4", "f8")
OTHERS: Final = ("?", ">u4", ">i8", ">f4")  # converted before and after
ARRANGED: Final = ("sorted", "reversed", "swapped")
DISTRIBUTIONS: Final = ("uniform", "narrow", "zipf", "equal", "few", "extreme", *ARRANGED)
PAYLOADS: Final = ("none", "none", "bytes", "bytes", "float64", "records", "every other", "rows")
RECORD: Final = np.dtype([("name", "S3"), ("value", "<f8"), ("kind", "u1")])
PAUSE: Final = 100e-6  # seconds: ranks outnumber cores


@dataclass(frozen=True)
class SortCase:
    """A sort, its input as all ranks together have it, and how many elements each of them gives."""

    keys: Array
    payload: Array | None
    counts: list[int]
    type: str
    distribution: str
    payload_kind: str
    strided: bool
    options: dict[str, Any]

    @classmethod
    def draw(cls, rng: Generator, ranks: int) -> Self:
        n = draw_size(rng, ranks)
        kind = str(rng.choice(INTEGERS + FLOATS + OTHERS, p=_TYPE_WEIGHTS))
        distribution = str(rng.choice(DISTRIBUTIONS))
        payload_kind = str(rng.choice(PAYLOADS))
        method = str(rng.choice(["radix", "sample", "auto"]))
        options = {
            "method": method,
            "balance": str(rng.choice(["even", "in-place", "as-it-falls"])),
            "sampling": str(rng.choice(["random", "regular"])),
            "oversampling": int(rng.choice([0, 0, 1, 3, 16])),
            "digit_bits": int(rng.integers(1, 13)) if rng.random() < 0.4 else None,
            "seed": int(rng.integers(0, 2**63)),
        }
        return cls(
            draw_keys(rng, kind, distribution, n),
            draw_payload(rng, payload_kind, n),
            draw_counts(rng, n, ranks),
            kind,
            distribution,
            payload_kind,
            bool(rng.random() < 0.2),
            options,
        )

    def run(self, comm: MPI.Comm) -> str:
        """Collective. What is wrong on this rank; nothing if all is well."""
        rank = comm.Get_rank()
        begin = sum(self.counts[:rank])
        own = slice(begin, begin + self.counts[rank])
        keys = apart(self.keys[own]) if self.strided else self.keys[own]
        payload = None if self.payload is None else self.payload[own]
        result = sort_report(comm, keys, payload, **self.options)
        counts = self._expected_counts(comm, len(result.keys))
        if len(result.keys) != counts[rank]:
            return f"{len(result.keys)} elements instead of {counts[rank]}"
        if sum(counts) != len(self.keys):
            return f"ranks have {counts}, together {sum(counts)} instead of {len(self.keys)}"
        first = sum(counts[:rank])
        mine = np.argsort(self.keys, kind="stable")[first : first + counts[rank]]
        problem = difference("keys", result.keys, self.keys[mine])
        if self.payload is not None and not problem:
            problem = difference("payload", result.payload, self.payload[mine])
        return problem

    def _expected_counts(self, comm: MPI.Comm, own: int) -> list[int]:
        if self.options["balance"] == "in-place":
            return self.counts
        if self.options["balance"] == "even":
            ranks, n = len(self.counts), len(self.keys)
            return [n // ranks + (rank < n % ranks) for rank in range(ranks)]
        return gather_counts(comm, own)

    def labels(self) -> dict[str, str]:
        return {
            "operation": f"sort {self.options['method']}",
            "keys": self.type,
            "distribution": self.distribution,
            "payload": self.payload_kind,
            "balance": self.options["balance"],
        }

    def __str__(self) -> str:
        told = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("keys", "payload")}
        return f"sort of {len(self.keys)}: {told}"


_TYPE_WEIGHTS: Final = [0.08] * 11 + [0.03] * 4


def draw_size(rng: Generator, ranks: int) -> int:
    """Mostly hundreds to a few thousand elements; often fewer than ranks, seldom many."""
    which = rng.random()
    if which < 0.15:
        return int(rng.integers(0, 2 * ranks + 2))
    most = 60_000 if which > 0.98 else 4_000
    return int(np.exp(rng.uniform(np.log(2), np.log(most))))


def draw_counts(rng: Generator, n: int, ranks: int) -> list[int]:
    """Draw the number of elements of each rank: even, uneven, some with nothing, or one with all."""
    which = rng.integers(4)
    if which == 0:
        return [n * (rank + 1) // ranks - n * rank // ranks for rank in range(ranks)]
    if which == 1:
        weights = rng.dirichlet([1.0] * ranks)
    elif which == 2:
        weights = rng.random(ranks) * (rng.random(ranks) < 0.5)
        weights[rng.integers(ranks)] += 0.1
    else:
        weights = np.zeros(ranks)
        weights[rng.integers(ranks)] = 1
    return [int(count) for count in rng.multinomial(n, weights / weights.sum())]


def draw_keys(rng: Generator, kind: str, distribution: str, n: int) -> Array:
    """Floats with NaN of either sign and with bits of their own, infinities, both zeros among them."""
    dtype = np.dtype(kind)
    if dtype.kind == "b":
        return rng.random(n) < 0.5
    native = dtype.newbyteorder("=")
    if dtype.kind == "f":
        keys = _float_keys(rng, native, distribution, n)
    else:
        keys = _integer_keys(rng, native, distribution, n)
    return _arranged(rng, keys, distribution).astype(dtype)


def _integer_keys(rng: Generator, dtype: np.dtype[Any], distribution: str, n: int) -> Array:
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    if distribution == "narrow":
        width = int(rng.integers(1, 2 ** int(rng.integers(1, dtype.itemsize * 8))))
        least += int(rng.integers(0, most - least - width, dtype=np.uint64, endpoint=True))
        most = least + width
    if distribution == "zipf":
        return np.minimum(rng.zipf(1.3, n), min(most, 2**62)).astype(dtype)
    if distribution == "equal":
        return np.full(n, rng.integers(least, most, dtype=dtype, endpoint=True))
    if distribution == "extreme":
        return rng.choice(np.array([least, least + 1, 0, 1, most - 1, most], dtype), n)
    if distribution == "few":
        return rng.choice(rng.integers(least, most, 5, dtype=dtype, endpoint=True), n)
    return rng.integers(least, most, n, dtype=dtype, endpoint=True)


def _float_keys(rng: Generator, dtype: np.dtype[Any], distribution: str, n: int) -> Array:
    info = np.finfo(dtype)
    special = [
        np.nan,
        -np.nan,
        np.inf,
        -np.inf,
        0.0,
        -0.0,
        info.tiny,
        -info.tiny,
        info.max,
        info.min,
        1.0,
        -1.0,
    ]
    if distribution == "extreme":
        return rng.choice(np.array(special, dtype), n)
    if distribution == "uniform":  # any bits
        return rng.integers(0, 2 ** (8 * dtype.itemsize), n, dtype=f"u{dtype.itemsize}").view(dtype)
    if distribution == "zipf":
        return np.minimum(rng.zipf(1.3, n), 60_000).astype(dtype)
    if distribution == "equal":
        return np.full(n, rng.choice(np.array(special, dtype)))
    if distribution == "few":
        return rng.choice(np.array([-0.0, 0.0, np.nan, 1.5, -2.5], dtype), n)
    keys = rng.normal(size=n)
    keys[rng.random(n) < 0.05] = np.nan
    return keys.astype(dtype)


def _arranged(rng: Generator, keys: Array, distribution: str) -> Array:
    if distribution == "sorted":
        return np.sort(keys)
    if distribution == "reversed":
        return np.sort(keys)[::-1]
    if distribution == "swapped" and len(keys):
        keys = np.sort(keys)
        a, b = rng.integers(len(keys), size=(2, 1 + len(keys) // 50))
        keys[a], keys[b] = keys[b], keys[a]
    return keys


def draw_payload(rng: Generator, kind: str, n: int) -> Array | None:
    """Rows that tell where they come from as soon as they have a few bytes."""
    if kind == "none":
        return None
    if kind == "bytes":
        return rng.integers(0, 256, (n, int(rng.integers(0, 41))), dtype=np.uint8)
    if kind == "float64":
        return rng.random(n)
    if kind == "records":
        raw = rng.integers(0, 256, (n, RECORD.itemsize), dtype=np.uint8)
        return raw.reshape(-1).view(RECORD)
    if kind == "every other":
        return rng.integers(0, 256, (n, 12), dtype=np.uint8)[:, ::2]
    return rng.integers(0, 2**16, (n, 2, 3), dtype=np.uint16)


def apart(array: Array) -> Array:
    """Copy of the elements as a view with a stride of two."""
    spread = np.zeros((len(array), 2, *array.shape[1:]), array.dtype)
    spread[:, 0] = array
    return spread[:, 0]


def difference(what: str, got: Array, expected: Array) -> str:
    """First difference between the bytes of two arrays, as text; empty if there is none."""
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return f"{what}: {got.dtype} {got.shape} instead of {expected.dtype} {expected.shape}"
    if got.tobytes() == expected.tobytes():
        return ""
    at = next(i for i in range(len(got)) if got[i : i + 1].tobytes() != expected[i : i + 1].tobytes())
    return f"{what}: element {at} is {got[at]} instead of {expected[at]}"


def gather_counts(comm: MPI.Comm, own: int) -> list[int]:
    """Gather the counts of all ranks; sleeps while it waits."""
    counts = np.empty(comm.Get_size(), np.int64)
    wait(comm.Iallgather(np.array([own], np.int64), counts))
    return [int(count) for count in counts]


def wait(request: MPI.Request) -> None:
    while not request.Test():
        time.sleep(PAUSE)
