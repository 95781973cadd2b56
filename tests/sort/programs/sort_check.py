"""Sorts in many ways and compares each byte with a stable serial sort. Prints "ok" and the cases from rank 0.

sort_check.py matrix FIRST STEP [every] | payloads | awkward | rounds | refusals
"""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

import hocket
from hocket.errors import UsageError

Array = npt.NDArray[Any]
WORLD = MPI.COMM_WORLD
TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8")
DISTRIBUTIONS = ("uniform", "zipf", "equal", "sorted", "reversed", "few", "special")
METHODS: tuple[dict[str, Any], ...] = (
    {"method": "radix"},
    {"method": "radix", "digit_bits": 5},
    {"method": "sample"},
    {"method": "sample", "sampling": "regular", "oversampling": 3},
)
BALANCES = ("even", "in-place", "as-it-falls")


def draw(rng: np.random.Generator, kind: str, distribution: str, n: int) -> Array:
    """Keys as all ranks together have them."""
    dtype = np.dtype(kind)
    raw = rng.integers(0, 256, n * dtype.itemsize, dtype=np.uint8).view(dtype)
    if distribution == "special" and dtype.kind == "f":
        some = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1], dtype)
        return np.where(rng.random(n) < 0.5, some[rng.integers(0, len(some), n)], raw)
    if dtype.kind == "f":
        raw = rng.standard_normal(n).astype(dtype)
    if distribution == "zipf":
        return (rng.zipf(1.3, n) % 100).astype(dtype)
    if distribution == "equal":
        return np.full(n, raw[0] if n else 0, dtype)
    if distribution == "few":
        return raw[rng.integers(0, min(n, 3), n)] if n else raw
    if distribution in ("sorted", "reversed"):
        return np.sort(raw)[:: -1 if distribution == "reversed" else 1]
    return raw


def cut(rng: np.random.Generator, n: int, ranks: int) -> list[int]:
    """Draw the beginnings of ranks' parts: some are empty."""
    middle = sorted(rng.integers(0, n, ranks - 1, endpoint=True)) if rng.random() < 0.7 else [0] * (ranks - 1)
    return [0, *map(int, middle), n]


def check(comm: MPI.Comm, keys: Array, payload: Array | None, begins: list[int], **options: Any) -> None:
    rank, ranks = comm.Get_rank(), comm.Get_size()
    own = slice(begins[rank], begins[rank + 1])
    before = keys[own].tobytes()
    done = hocket.sort_report(comm, keys[own], None if payload is None else payload[own], **options)
    assert keys[own].tobytes() == before, "the input has changed"
    counts = comm.allgather(len(done.keys))
    wanted = [end - begin for begin, end in itertools.pairwise(begins)]
    if options["balance"] == "even":
        wanted = [len(keys) // ranks + (other < len(keys) % ranks) for other in range(ranks)]
    if options["balance"] != "as-it-falls":
        assert counts == wanted, (counts, wanted)
    first = sum(counts[:rank])
    mine = np.argsort(keys, kind="stable")[first : first + counts[rank]]
    assert sum(counts) == len(keys)
    assert done.keys.dtype == keys.dtype and done.keys.tobytes() == keys[mine].tobytes(), "keys"
    if payload is not None:
        assert done.payload is not None and done.payload.dtype == payload.dtype
        assert done.payload.shape == payload[mine].shape
        assert done.payload.tobytes() == payload[mine].tobytes(), "payload"
    else:
        assert done.payload is None
    assert done.method in ("radix", "sample") and done.imbalance >= 1


def groups() -> Iterator[MPI.Comm]:
    """This rank's communicator, with 1 to all ranks, again and again."""
    rank, ranks = WORLD.Get_rank(), WORLD.Get_size()
    comms = [WORLD.Split(int(rank >= size), rank) for size in range(1, ranks + 1)]
    yield from itertools.cycle(comms)


def matrix(first: str, step: str, which: str = "") -> int:
    """Every type with every distribution and method, with one balance in turn: any three of the four choices come
    together. ``every``: with each balance. Of these every STEP-th case."""
    comms = groups()
    cases = [
        (number, case)
        for number, case in enumerate(itertools.product(TYPES, DISTRIBUTIONS, METHODS, BALANCES))
        if which == "every" or number // len(BALANCES) % len(BALANCES) == number % len(BALANCES)
    ]
    random.Random(1).shuffle(cases)  # else each part had one method
    cases = cases[int(first) :: int(step)]
    for number, (kind, distribution, method, balance) in cases:
        comm = next(comms)
        rng = np.random.default_rng([number, comm.Get_size()])
        n = int(rng.choice([0, 1, 2, 3, 7, 100, 1000, 1501]))
        keys = draw(rng, kind, distribution, n)
        places = np.arange(n, dtype=np.uint32) if number % 2 else None  # tells equal keys apart
        try:
            check(comm, keys, places, cut(rng, n, comm.Get_size()), balance=balance, **method)
        except AssertionError as error:
            raise AssertionError(f"{kind} {distribution} {method} {balance} {n}: {error}") from None
    return len(cases)


def payloads() -> int:
    """Widths of payload, narrow ones that travel with their keys and wide ones that are fetched."""
    record = np.dtype([("name", "S5"), ("value", "f8")])
    kinds: list[tuple[Any, tuple[int, ...]]] = [
        *((np.uint8, (width,)) for width in (0, 1, 3, 6, 16, 24, 25, 40, 1000)),
        (np.float64, ()),
        (record, ()),
        (record, (2, 3)),
        (np.complex128, ()),
    ]
    for number, ((dtype, shape), method) in enumerate(itertools.product(kinds, METHODS)):
        rng = np.random.default_rng([7, number])
        n = 1200
        width = int(np.prod(shape)) * np.dtype(dtype).itemsize
        raw = rng.integers(0, 256, n * width, dtype=np.uint8)
        payload = raw.view(dtype).reshape(n, *shape) if width else np.empty((n, *shape), dtype)
        keys = draw(rng, TYPES[number % len(TYPES)], "zipf", n)
        begins = cut(rng, n, WORLD.Get_size())
        check(WORLD, keys, payload, begins, balance=BALANCES[number % 3], **method)
    return len(kinds) * len(METHODS)


def awkward() -> int:
    """Arrays that are not contiguous or of the other byte order, bools, lists; reports of larger sorts."""
    rank, ranks = WORLD.Get_rank(), WORLD.Get_size()
    rng = np.random.default_rng(5)
    n = 3000
    begins = [n * i // ranks for i in range(ranks + 1)]
    for kind in (">u4", ">i8", ">f4", "?"):
        keys = rng.integers(0, 2**8, n).astype(kind)
        check(WORLD, keys, np.asfortranarray(rng.random((n, 3))), begins, balance="even", method="radix")
    check(WORLD, rng.integers(0, 9, 2 * n)[::-2], rng.random((2 * n, 2))[::2], begins, balance="even")
    assert hocket.sort(WORLD, [rank, -rank], balance="in-place") is not None  # type: ignore[arg-type]

    large = 400_000
    for method, distribution in itertools.product(METHODS, ("uniform", "zipf", "equal")):
        keys = draw(rng, "u4", distribution, large)
        begins = [large * i // ranks for i in range(ranks + 1)]
        check(WORLD, keys, None, begins, balance="even", **method)
        mine = keys[begins[rank] : begins[rank + 1]]
        if "oversampling" not in method:
            told: list[tuple[str, int, int]] = []
            done = hocket.sort_report(WORLD, mine, progress=lambda *step: told.append(step), **method)  # noqa: B023
            assert done.method == method["method"] and done.imbalance <= 1.05, (distribution, done.imbalance)
            names = [step.name for step in done.steps if step.name != "first touch"]
            assert list(dict.fromkeys(step for step, _, _ in told)) == names, (told, names)
            assert [done for _, done, _ in told] == list(range(1, len(told) + 1))
            assert told[-1][2] == len(told), told  # a sort may find out that it needs more steps
            highest_first = method == {"method": "radix"} and distribution == "uniform" and ranks > 1
            by_all_digits = method["method"] == "radix" and not highest_first and ranks > 1
            assert not highest_first or names[-2:] == ["local sort", "balance"], names
            assert not by_all_digits or names[-1] == "grouped permute", names
            assert all(step.seconds >= 0 and step.predicted >= 0 for step in done.steps)
    return 20


def rounds() -> int:
    """Sort so many bytes per rank that elements for others go in two rounds, by the highest digit."""
    rank, ranks = WORLD.Get_rank(), WORLD.Get_size()
    n = ranks * (1 << 20) + 5 * ranks + 1
    begins = [n * i // ranks for i in range(ranks)] + [n]
    cases: list[tuple[str, str, bool]] = [
        ("u8", "uniform", False),
        ("f8", "uniform", True),
        ("u8", "reversed", False),
    ]
    for kind, distribution, with_places in cases:
        keys = draw(np.random.default_rng(9), kind, distribution, n)
        places = np.arange(n, dtype=np.uint32) if with_places else None
        check(WORLD, keys, places, begins, balance="even", method="radix")
        told: list[tuple[str, int, int]] = []
        own = slice(begins[rank], begins[rank + 1])
        done = hocket.sort_report(WORLD, keys[own], method="radix", progress=lambda *step: told.append(step))  # noqa: B023
        assert [step.name for step in done.steps].count("grouped permute") == 1
        assert "first touch" not in [step.name for step in done.steps], "shared memory is made once"
        assert told[-1] == ("balance", len(told), len(told)), told
        assert [step for step, _, _ in told].count("grouped permute") == 2, told
    return len(cases)


def refused(part: str, call: Callable[[], object]) -> None:
    """Check that a call is refused on all ranks, with the same sense."""
    try:
        call()
    except UsageError as error:
        assert part in str(error), error
    else:
        raise AssertionError(f"not refused: {part}")


def refusals() -> int:
    rank, ranks = WORLD.Get_rank(), WORLD.Get_size()
    last = rank == ranks - 1
    keys = np.arange(10, dtype=np.uint32)

    def options(**given: Any) -> Callable[[], object]:
        return lambda: hocket.sort(WORLD, keys, **given)

    cases: list[tuple[str, Callable[[], object]]] = [
        ("keys of type object", lambda: hocket.sort(WORLD, np.array([1], object) if last else keys)),
        ("keys of type complex128", lambda: hocket.sort(WORLD, keys.astype(complex))),
        ("2 dimensions", lambda: hocket.sort(WORLD, keys.reshape(2, 5) if rank == 0 else keys)),
        ("ranks differ", lambda: hocket.sort(WORLD, keys.astype(np.int32) if last else keys)),
        ("ranks differ", lambda: hocket.sort(WORLD, keys, keys if last else None)),
        ("ranks differ", lambda: hocket.sort(WORLD, keys, keys.astype(np.int8 if last else np.int16))),
        ("9 rows for 10 keys", lambda: hocket.sort(WORLD, keys, np.arange(9) if last else np.arange(10))),
        ("payload of objects", lambda: hocket.sort(WORLD, keys, np.full(10, None))),
        ("no rows", lambda: hocket.sort(WORLD, keys, np.int32(3))),
        ("method 'quick'", options(method="quick" if last else "radix")),
        ("balance 'odd'", options(balance="odd")),
        ("sampling 'never'", options(sampling="never")),
        ("digit_bits 13", options(digit_bits=13 if last else 12)),
        ("digit_bits 0", options(digit_bits=0)),
        ("seed -1", options(seed=-1)),
        ("oversampling", options(oversampling=1.5)),
        ("ranks differ in method", options(method="radix" if last else "sample")),
        ("ranks differ in balance", options(balance="even" if last else "in-place")),
        ("ranks differ in seed", options(seed=rank)),
        ("is not a communicator", lambda: hocket.sort(None, keys)),  # type: ignore[arg-type]
    ]
    for part, call in cases:
        refused(part, call)
    assert hocket.sort(WORLD, keys[:1]).tolist() == [0]  # type: ignore[union-attr]
    return len(cases)


if __name__ == "__main__":
    modes = {
        "matrix": matrix,
        "payloads": payloads,
        "awkward": awkward,
        "rounds": rounds,
        "refusals": refusals,
    }
    count = modes[sys.argv[1]](*sys.argv[2:])
    if WORLD.Get_rank() == 0:
        print("ok", count)
