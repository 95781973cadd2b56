"""Moves elements in many ways and compares every byte with numpy. Prints "ok" and the MPI from rank 0.

permute_check.py SEED CASES: random cases. permute_check.py refuse: wrong arguments of one rank.
permute_check.py memory: one rank has none left.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

import hocket
from hocket.errors import UsageError

COMM = MPI.COMM_WORLD
RANK, RANKS = COMM.Get_rank(), COMM.Get_size()
LAST = RANKS - 1
METHODS = ("auto", "packed", "chained")

Array = np.ndarray[Any, Any]


def cuts(rng: np.random.Generator, total: int) -> Array:
    """Draw the beginnings of ranks' parts; some are empty."""
    kind = rng.integers(3)
    if kind == 0:
        return np.arange(RANKS + 1) * total // RANKS
    inner = np.sort(rng.integers(0, total + 1, RANKS - 1))
    if kind == 1:  # all on one rank
        inner[:] = np.where(np.arange(RANKS - 1) < rng.integers(RANKS), 0, total)
    return np.concatenate([[0], inner, [total]])


def part(whole: Array, begins: Array) -> Array:
    return whole[begins[RANK] : begins[RANK + 1]]


def elements(rng: np.random.Generator, total: int) -> Array:
    """Draw elements of widths from 1 to 40 bytes and some large ones; numbers, records, rows."""
    kind = rng.integers(5)
    if kind == 0:
        return rng.integers(0, 256, (total, int(rng.integers(1, 41)))).astype(np.uint8)
    if kind == 1:
        dtype = rng.choice(["u1", "i2", "f4", "f8", "c16", "S3", ">i4"])
        return rng.integers(0, 100, total).astype(dtype)
    if kind == 2:
        made = np.zeros(total, [("key", "<u2"), ("data", "u1", 6), ("z", "<f8")])
        made["key"], made["z"] = rng.integers(0, 2**16, total), rng.random(total)
        return made
    if kind == 3:
        return rng.random((total, 2, int(rng.integers(1, 40))))
    return rng.integers(0, 2**63, total)


def permuted(whole: Array, destinations: Array) -> Array:
    made = np.empty_like(whole)
    made[destinations] = whole
    return made


def same(got: Array, wanted: Array, what: object) -> None:
    assert got.dtype == wanted.dtype and got.shape == wanted.shape, (what, got.shape, wanted.shape)
    assert got.tobytes() == wanted.tobytes(), what


def destinations_of(rng: np.random.Generator, total: int) -> Array:
    kind = rng.integers(4)
    if kind == 0:
        return np.arange(total)[::-1].copy()
    if kind == 1:
        return np.roll(np.arange(total), int(rng.integers(-5, 6)))
    return rng.permutation(total)


def stored(rng: np.random.Generator, array: Array) -> Array:
    """Copy of the elements, contiguous or not, or in shared memory."""
    kind = rng.integers(3)
    if kind == 0:
        wide = np.zeros((2 * len(array), *array.shape[1:]), array.dtype)
        wide[::2] = array
        return wide[::2]
    if kind == 1:
        shared = hocket.empty(COMM, array.shape, array.dtype)
        shared[...] = array
        return shared
    return array


def permute_case(rng: np.random.Generator, total: int, method: str) -> None:
    whole = elements(rng, total)
    destinations = destinations_of(rng, total)
    sources, targets = cuts(rng, total), cuts(rng, total)
    wanted = part(permuted(whole, destinations), targets)
    array = stored(rng, part(whole, sources))
    own = part(destinations, sources)
    if rng.integers(2):
        own = own.astype(rng.choice(["i8", "u4", "u8"]))
    if rng.integers(2):
        got = hocket.permute(COMM, array, own, count=len(wanted), method=method)
    else:  # into a given array, between others that are not to be touched
        frame = np.full(
            (len(wanted) + 2) * wanted.dtype.itemsize * int(np.prod(wanted.shape[1:])), 0xA5, np.uint8
        )
        inner = frame.view(wanted.dtype).reshape(-1, *wanted.shape[1:])[1:-1]
        got = hocket.permute(COMM, array, own, out=inner, method=method)
        assert got is inner
        edge = len(frame) // (len(wanted) + 2)
        assert (frame[:edge] == 0xA5).all() and (frame[len(frame) - edge :] == 0xA5).all()
    same(got, wanted, ("permute", method, whole.dtype, whole.shape))
    free(array)


def take_case(rng: np.random.Generator, total: int, method: str) -> None:
    whole = elements(rng, total)
    wanted_total = int(rng.integers(0, 2 * total + 1)) if total else 0
    indices = rng.integers(0, max(total, 1), wanted_total)
    sources, targets = cuts(rng, total), cuts(rng, wanted_total)
    array = stored(rng, part(whole, sources))
    own = part(indices, targets)
    out = np.empty((len(own), *whole.shape[1:]), whole.dtype)[::-1] if rng.integers(2) else None
    got = hocket.take(COMM, array, own, out=out, method=method)
    assert out is None or got is out
    same(got, whole[own], ("take", method, whole.dtype, whole.shape))
    free(array)


def send_case(rng: np.random.Generator, total: int, method: str) -> None:
    whole = elements(rng, total)
    ranks = rng.integers(0, RANKS, total) if rng.integers(2) else np.full(total, rng.integers(RANKS))
    sources = cuts(rng, total)
    array = stored(rng, part(whole, sources))
    got = hocket.send_elements(COMM, array, part(ranks, sources), method=method)
    same(got, whole[ranks == RANK], ("send", method, whole.dtype, whole.shape))
    free(array)


def grouped_case(rng: np.random.Generator, total: int, method: str) -> None:
    whole = elements(rng, total)
    sources, targets = cuts(rng, total), cuts(rng, total)
    runs = np.unique(np.concatenate([rng.integers(0, total + 1, 9), sources]))
    lengths = np.diff(runs)
    order = rng.permutation(len(lengths))
    begins = np.zeros(len(lengths), np.int64)
    begins[order] = np.concatenate([[0], np.cumsum(lengths[order])[:-1]]) if len(lengths) else []
    destinations = np.concatenate([np.arange(b, b + n) for b, n in zip(begins, lengths, strict=True)] + [[]])
    mine = (runs[:-1] >= sources[RANK]) & (runs[:-1] < sources[RANK + 1])
    wanted = part(permuted(whole, destinations.astype(np.int64)), targets)
    array = stored(rng, part(whole, sources))
    got = hocket.grouped_permute(COMM, array, lengths[mine], begins[mine], count=len(wanted))
    same(got, wanted, ("grouped", whole.dtype, whole.shape))
    free(array)


def transpose_case(rng: np.random.Generator, total: int, method: str) -> None:
    rows, columns = int(rng.integers(0, 80)), int(rng.integers(0, 80))
    dtype = rng.choice(["u1", "i2", "f4", "f8", "c16", "S3", "S40"])
    whole = rng.integers(0, 100, (rows, columns)).astype(dtype)
    sources, targets = cuts(rng, rows), cuts(rng, columns)
    wanted = np.ascontiguousarray(part(whole.T, targets))
    array = stored(rng, part(whole, sources))
    if rng.integers(2):
        got = hocket.transpose(COMM, array, rows=len(wanted), method=method)
    else:
        got = hocket.transpose(COMM, array, out=np.empty_like(wanted), method=method)
    same(got, wanted, ("transpose", method, whole.dtype, whole.shape))
    free(array)


def free(array: Array) -> None:
    if isinstance(array, hocket.sorting.elements.SharedArray):
        array.release()
        array.release()


CASES = (permute_case, permute_case, take_case, send_case, grouped_case, transpose_case)


def random_cases(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)  # the same on all ranks
    for number in range(count):
        state = rng.bit_generator.state
        total = int(rng.choice([0, 1, RANKS - 1, 10, 100, 1000, int(rng.integers(2000, 60000))]))
        try:
            CASES[number % len(CASES)](rng, total, METHODS[int(rng.integers(3))])
        except BaseException:
            print(f"rank {RANK}: case {number} of seed {seed}, state {state}", flush=True)
            raise


def refused(part_of_text: str, call: Callable[..., object], *arguments: Any, **options: Any) -> None:
    """Check that a call is refused on all ranks alike, and that the next call works."""
    try:
        call(*arguments, **options)
    except UsageError as error:
        assert part_of_text in str(error), (part_of_text, str(error))
    else:
        raise AssertionError(f"{part_of_text}: not refused")
    texts = COMM.allgather(None)
    assert len(texts) == RANKS
    hocket.permute(COMM, np.arange(3), 3 * RANK + np.arange(3))


def refuse() -> None:
    n = 5
    data, own = np.arange(n), RANK * n + np.arange(n)
    total = n * RANKS

    def wrong(value: int, at: int = 2) -> Array:
        """The last rank's positions, with one that is not right."""
        positions = own.copy()
        if RANK == LAST:
            positions[at] = value
        return positions

    who = f"rank {LAST}: " if RANK != LAST else ""
    for method in METHODS:
        for value in (total, -1, 2**62, -(2**63)):
            text = f"{who}destination {value} of element 2 is out of range: the target has {total} elements"
            refused(text, hocket.permute, COMM, data, wrong(value), method=method)
            text = f"{who}index {value} of element 2 is out of range: the source has {total} elements"
            refused(text, hocket.take, COMM, data, wrong(value), method=method)
        first = LAST * n + 4
        text = (
            f"destination {first} is repeated: element 2 of rank {LAST} and element 4 of rank {LAST} go there"
        )
        refused(text, hocket.permute, COMM, data, wrong(first), method=method)
        if RANKS > 1:
            text = f"destination 0 is repeated: element 0 of rank 0 and element 2 of rank {LAST} go there"
            refused(text, hocket.permute, COMM, data, wrong(0), method=method)
        out_of_range = np.full(n, RANKS if RANK == LAST else 0)
        text = f"{who}rank {RANKS} of element 0 is out of range: there are {RANKS} ranks"
        refused(text, hocket.send_elements, COMM, data, out_of_range, method=method)
    few = n - (RANK == LAST)
    text = f"the source has {total - 1} elements in all, the target {total}"
    refused(text, hocket.permute, COMM, data[:few], own[:few], count=n)
    text = f"the source has {total} elements in all, the target {total + 1}"
    refused(text, hocket.permute, COMM, data, own, count=n + (RANK == LAST))
    refused("destinations for", hocket.permute, COMM, data, own[:few])
    refused("count -1", hocket.permute, COMM, data, own, count=-1 if RANK == LAST else n)
    refused(
        "there is no method 'fast'",
        hocket.permute,
        COMM,
        data,
        own,
        method="fast" if RANK == LAST else "auto",
    )
    objects = np.array([None] * n) if RANK == LAST else data
    refused("an array of objects", hocket.permute, COMM, objects, own)
    refused("an array of objects", hocket.take, COMM, objects, own)
    refused(
        "destinations of type float64", hocket.permute, COMM, data, own.astype(float) if RANK == LAST else own
    )
    huge = np.full(n, 2**64 - 1, np.uint64) if RANK == LAST else own
    refused("destinations: 18446744073709551615 of element 0", hocket.permute, COMM, data, huge)
    constant = np.empty_like(data)
    constant.flags.writeable = RANK != LAST
    refused("out is read-only", hocket.permute, COMM, data, own, out=constant)
    if RANKS > 1:
        other = data.astype(np.int32 if RANK == LAST else np.int64)
        refused(
            f"ranks differ: rank 0 has elements of type int64, rank {LAST}", hocket.permute, COMM, other, own
        )
        rows = np.zeros((n, 2 + (RANK == LAST)))
        refused("rows of the shape", hocket.take, COMM, rows, own)
    begin = [RANK * n]
    text = f"destination {LAST * n - 1} is repeated: two runs cover it"
    if RANKS > 1:
        refused(text, hocket.grouped_permute, COMM, data, [n], [RANK * n - (RANK == LAST)])
    text = f"run 0 of 5 elements from destination {LAST * n + 1} on is out of range"
    refused(text, hocket.grouped_permute, COMM, data, [n], [RANK * n + (RANK == LAST)])
    refused("is out of range", hocket.grouped_permute, COMM, data, [n], [-1 if RANK == LAST else RANK * n])
    refused("run 0 has -1 elements", hocket.grouped_permute, COMM, data, [-1, n + 1], [0, RANK * n])
    refused("the lengths are 4 elements", hocket.grouped_permute, COMM, data, [n - (RANK == LAST)], begin)
    matrix = np.zeros((2, RANKS))
    refused("target rows are", hocket.transpose, COMM, matrix, rows=1 + (RANK == LAST))
    refused("a matrix of 1 dimensions", hocket.transpose, COMM, matrix[0] if RANK == LAST else matrix)
    refused("is not a communicator", hocket.permute, 42, data, own)
    refused("shape -1", hocket.empty, COMM, -1 if RANK == LAST else 1)
    with hocket.empty(COMM, (n, 2), "f4") as shared:
        shared[:] = RANK
        got = hocket.take(COMM, shared, [(RANK + 1) % RANKS * n])
        assert (got == (RANK + 1) % RANKS).all() and got.shape == (1, 2)
    with hocket.empty(COMM, 0) as nothing:
        assert nothing.shape == (0,)


@contextmanager
def last_rank_short_of(size: int) -> Iterator[None]:
    """Limit the last rank's memory: it gets less than `size` bytes more."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    if RANK == LAST:
        resource.setrlimit(resource.RLIMIT_AS, (used + size // 2, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


def memory() -> None:
    """Every call works, fails on all ranks when one has no memory, and works again."""
    n = 6 << 17
    begin, total = RANK * n, RANKS * n
    data = np.arange(begin, begin + n)
    elsewhere = (data[::-1] + n) % total
    to_all = np.arange(n, dtype=np.intc) % RANKS
    matrix = data.reshape(-1, 2 * RANKS)
    columns = np.empty((2, len(matrix) * RANKS), data.dtype)
    out = np.empty_like(data)
    run = [n // 2, n - n // 2]
    calls: list[Callable[[], object]] = [
        lambda: hocket.permute(COMM, data, elsewhere, out=out, method="packed"),
        lambda: hocket.take(COMM, data, elsewhere, out=out, method="packed"),
        lambda: hocket.send_elements(COMM, data, to_all, method="packed"),
        lambda: hocket.transpose(COMM, matrix, out=columns, method="packed"),
    ]
    if hosts_are_many():
        calls += [
            lambda: hocket.take(COMM, data, elsewhere, out=out, method="chained"),
            lambda: hocket.transpose(COMM, matrix, out=columns, method="chained"),
            lambda: hocket.grouped_permute(
                COMM, data, run, [(begin + n) % total, (begin + n) % total + run[0]], out=out
            ),
        ]
    for number, call in enumerate(calls):
        call()
        with last_rank_short_of(data.nbytes):
            finds_none(call, number)
        call()
    with last_rank_short_of(data.nbytes):
        finds_none(
            lambda: hocket.permute(COMM, data, elsewhere, count=n if RANK != LAST else 1 << 40), "count"
        )


def finds_none(call: Callable[[], object], what: object) -> None:
    try:
        call()
    except MemoryError:
        COMM.Barrier()
    else:
        raise AssertionError(f"{what} found memory")


def hosts_are_many() -> bool:
    return 0 < int(os.environ.get("HOCKET_TEST_SHARED_RANKS", "0")) < RANKS


if __name__ == "__main__":
    if sys.argv[1] == "refuse":
        refuse()
    elif sys.argv[1] == "memory":
        memory()
    else:
        random_cases(int(sys.argv[1]), int(sys.argv[2]))
    COMM.Barrier()
    if RANK == 0:
        print("ok", MPI.Get_library_version().splitlines()[0])
