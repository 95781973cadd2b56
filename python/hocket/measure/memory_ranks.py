"""The works that ``hocket calibrate memory`` measures, each on the memory of a rank."""

import contextlib
import ctypes
import mmap
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from hocket import _core
from hocket.launch.job import Tell
from hocket.launch.runtime.library import load_sort_library
from hocket.measure.memory_sizes import Budget, Shape, in_turn, measured, repeats, shapes
from hocket.sorting.sort import sort

Bytes = npt.NDArray[np.uint8]
Kernel = Callable[[int], list[float]]  # repetitions -> seconds of each

_LEAST_SECONDS = 1e-13  # nothing is free
_MOST_ELEMENTS = 1 << 20  # that random accesses are averaged over
_STRIDE = 64  # elements
_WAITS = {"meet": 0, "collective": 1, "message": 2}  # sort/mpi/sort/costs.cpp


class Rank:
    """The memory of a rank, and how each work is done on it."""

    def __init__(self, comm: MPI.Intracomm, memory: int) -> None:
        self.comm = comm
        self.random = np.random.default_rng(comm.Get_rank())
        words = memory // 8
        self.source = self.random.integers(0, 2**64, words, dtype=np.uint64).view(np.uint8)
        self.target = np.ones(8 * words, np.uint8)
        self.whole, self.part = self._shared(memory)
        self.library = load_sort_library(comm)

    def _shared(self, size: int) -> tuple[Bytes, Bytes]:
        """Memory that all ranks share: the whole, and this rank's part of it."""
        self.window = MPI.Win.Allocate_shared(size, 1, comm=self.comm)
        address = self.window.Shared_query(0)[0].address
        whole = _bytes_of(MPI.memory.fromaddress(address, size * self.comm.Get_size()))
        begin = size * self.comm.Get_rank()
        part = whole[begin : begin + size]
        part[:] = 1
        return whole, part

    def seconds(self, shape: Shape, share: float) -> float:
        """Per element, byte or call, of the rank that takes longest, in ``share`` seconds if once does."""
        kernel: Kernel
        kernel, units = getattr(self, "_" + shape.work.replace("-", "_"))(shape)
        self.comm.Barrier()
        first = self.comm.allreduce(kernel(1)[0], MPI.MAX)
        more = repeats(first, share)
        times = [first]
        while len(times) <= more:
            self.comm.Barrier()
            times += kernel(more)
        typical = sorted(times)[len(times) // 4]  # what other programs take is not the machine's
        slowest: float = self.comm.allreduce(typical, MPI.MAX)
        return float(max(slowest / units, _LEAST_SECONDS))

    def _copy(self, shape: Shape) -> tuple[Kernel, int]:
        n = shape.bytes
        return lambda r: _core.elements.copy(self.source[:n], self.target[:n], r), n

    def _strided(self, shape: Shape, read: int, write: int) -> tuple[Kernel, int]:
        """Copy elements that are so many elements apart where they are read, and where they are written."""
        n = shape.bytes // (_STRIDE * shape.width)
        source, target = self.source[: n * read * shape.width], self.target[: n * write * shape.width]
        return lambda r: _core.elements.copy_strided(shape.width, source, read, target, write, n, r), n

    def _strided_read(self, shape: Shape) -> tuple[Kernel, int]:
        return self._strided(shape, _STRIDE, 1)

    def _strided_write(self, shape: Shape) -> tuple[Kernel, int]:
        return self._strided(shape, 1, _STRIDE)

    def _index(self, shape: Shape) -> npt.NDArray[np.int64]:
        places = shape.bytes // shape.width
        return self.random.integers(0, places, min(places, _MOST_ELEMENTS, self.source.size // shape.width))

    def _gather(self, shape: Shape) -> tuple[Kernel, int]:
        index = self._index(shape)
        source = self.source[: shape.bytes]
        target = self.target[: index.size * shape.width]
        return lambda r: _core.elements.gather(shape.width, source, index, target, r), index.size

    def _scatter(self, shape: Shape, target: Bytes | None = None) -> tuple[Kernel, int]:
        index = self._index(shape)
        target = (self.target if target is None else target)[: shape.bytes]
        source = self.source[: index.size * shape.width]
        return lambda r: _core.elements.scatter(shape.width, source, index, target, r), index.size

    def _shared_gather(self, shape: Shape) -> tuple[Kernel, int]:
        positions = self._index(shape)
        source, target = self.whole[: shape.bytes], self.target[: positions.size * shape.width]
        parts = self.comm.Get_size()
        return lambda r: _core.elements.gather_parts(
            parts, shape.width, source, positions, target, r
        ), positions.size

    def _shared_scatter(self, shape: Shape) -> tuple[Kernel, int]:
        return self._scatter(shape, self.whole)

    def _positions(self, shape: Shape) -> npt.NDArray[np.int64]:
        """Anywhere in an array of which every rank has as much as this one works on."""
        n = shape.bytes // shape.width
        return self.random.integers(0, n * self.comm.Get_size(), n)

    def _route(self, shape: Shape) -> tuple[Kernel, int]:
        positions = self._positions(shape)
        total = positions.size * self.comm.Get_size()
        longest = max(total // shape.parts, 1)  # of about so many regions
        return lambda r: _core.elements.route(total, 1, longest, shape.parts, positions, r), positions.size

    def _split(self, shape: Shape) -> tuple[Kernel, int]:
        positions, ranks = self._positions(shape), self.comm.Get_size()
        n = positions.size
        source, target = self.source[: n * shape.width], self.target[: n * shape.width]
        offsets = np.zeros(n, np.uint32)
        return (
            lambda r: _core.elements.split(
                n * ranks, ranks, shape.width, source, positions, target, offsets, r
            ),
            n,
        )

    def _pull(self, shape: Shape) -> tuple[Kernel, int]:
        """Copy as many runs from each rank's part, which it has just written past the caches, as a sort does."""
        run, ranks = shape.parts, self.comm.Get_size()
        of_each = max(min(shape.bytes // run, _MOST_ELEMENTS // 4) // ranks, 1)
        runs = np.arange(of_each, dtype=np.uint64) * np.uint64(run)
        begins = np.concatenate([runs + np.uint64(part * self.part.size) for part in range(ranks)])
        target = self.target[: begins.size * run]
        write, _ = self._partition(Shape("partition", 8, 2, of_each * run))

        def pull(_: int) -> list[float]:
            write(1)
            self.comm.Barrier()
            taken: list[float] = _core.memory.copy_runs(self.whole, begins, run, target, 1)
            return taken

        return pull, begins.size * run

    def _records(self, shape: Shape) -> tuple[_core.elements.KeyType, Bytes, int]:
        n = shape.bytes // shape.width
        key = _core.elements.KeyType.u32 if shape.width == 4 else _core.elements.KeyType.u64
        return key, self.source[: n * shape.width], n

    def _count(self, shape: Shape) -> tuple[Kernel, int]:
        key, records, n = self._records(shape)
        digit = (0, shape.parts.bit_length() - 1)
        counts = np.zeros(shape.parts, np.uint64)
        return lambda r: _core.elements.count_digits(key, shape.width, records, [digit], [counts], r), n

    def _partition(self, shape: Shape) -> tuple[Kernel, int]:
        key, records, n = self._records(shape)
        digit = (0, shape.parts.bit_length() - 1)
        counts = np.zeros(shape.parts, np.uint64)
        _core.elements.count_digits(key, shape.width, records, [digit], [counts])
        begins = _begins(counts, shape.width)
        target = self.part[: records.size]
        return lambda r: _core.elements.partition(key, shape.width, records, digit, target, begins, r), n

    def _divide(self, shape: Shape) -> tuple[Kernel, int]:
        _, records, n = self._records(shape)
        parts = self.random.integers(0, shape.parts, n, dtype=np.uint16)
        begins = _begins(np.bincount(parts, minlength=shape.parts).astype(np.uint64), shape.width)
        target = self.part[: records.size]
        return lambda r: _core.elements.partition_parts(shape.width, records, parts, target, begins, r), n

    def _classify(self, shape: Shape) -> tuple[Kernel, int]:
        key, records, n = self._records(shape)
        bits = 8 * _core.elements.key_bytes(key)
        splitters = [((i + 1) * 2**bits // (shape.parts + 1), 0, 0) for i in range(shape.parts)]
        parts = np.zeros(n, np.uint16)
        return lambda r: _core.elements.classify(key, shape.width, records, 0, 0, splitters, parts, r), n

    def _pack(self, shape: Shape) -> tuple[Kernel, int]:
        key, n = shape.width // 2, shape.bytes // shape.width
        keys, payload = self.source[: n * key], self.source[-n * (shape.width - key) :]
        records = self.target[: n * shape.width]
        return lambda r: _core.memory.pack(key, keys, shape.width - key, payload, records, r), n

    def _scan(self, shape: Shape) -> tuple[Kernel, int]:
        counts = np.ones(shape.bytes // shape.width, np.uint64)
        return lambda r: _core.memory.scan(counts, r), counts.size

    def _sort(self, shape: Shape) -> tuple[Kernel, int]:
        """Sort in shared memory, as sample sort does."""
        key, records, n = self._records(shape)
        mask = np.frombuffer((2**shape.parts - 1).to_bytes(_core.elements.key_bytes(key), "little"), np.uint8)
        bits = (records.reshape(-1, mask.size) & mask).reshape(-1)
        own, scratch = self.part[: bits.size], self.part[bits.size : 2 * bits.size]

        def sort(_: int) -> list[float]:
            own[:] = bits
            self.comm.Barrier()
            return [_core.elements.sort_records(key, shape.width, own, scratch)]

        return sort, n

    def _library_sort(self, shape: Shape) -> tuple[Kernel, int]:
        keys = self.source[: shape.bytes].view(f"u{shape.width}")
        own = self.target[: shape.bytes].view(keys.dtype)

        def sort(_: int) -> list[float]:
            own[:] = keys
            self.comm.Barrier()
            start = time.perf_counter()
            own.sort()
            return [time.perf_counter() - start]

        return sort, keys.size

    def _touch(self, shape: Shape) -> tuple[Kernel, int]:
        return lambda r: [_first_touch(_private(shape.bytes)) for _ in range(r)], shape.bytes

    def _shared_touch(self, shape: Shape) -> tuple[Kernel, int]:
        def touch(_: int) -> list[float]:
            window = MPI.Win.Allocate_shared(shape.bytes, 1, comm=self.comm)
            seconds = _first_touch(_bytes_of(window.tomemory()))
            self.comm.Barrier()
            window.Free()
            return [seconds]

        return touch, shape.bytes

    def _wait(self, shape: Shape) -> tuple[Kernel, int]:
        def wait(repeat: int) -> list[float]:
            seconds = np.zeros(repeat)
            code = self.library.call(
                "hocket_measure", self.library.handle(self.comm), _WAITS[shape.work], ctypes.c_int64(shape.bytes),
                repeat, ctypes.c_void_p(seconds.ctypes.data),
            )  # fmt: skip
            if code != 0:
                raise RuntimeError(self.library.error_string(code))
            return [float(value) for value in seconds]

        return wait, shape.bytes * max(self.comm.Get_size() - 1, 1)

    _meet = _collective = _message = _wait


def _bytes_of(memory: MPI.memory) -> Bytes:
    return np.asarray(memory, np.uint8)


def _begins(counts: npt.NDArray[np.uint64], width: int) -> npt.NDArray[np.uint64]:
    return np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.uint64) * np.uint64(width)


def _private(size: int) -> Bytes:
    """Fresh memory, as the runtime gets it (sort/mpi/place/layout.cpp)."""
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):  # a wish
        memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, np.uint8)


def _first_touch(fresh: Bytes) -> float:
    """Additional seconds of the first write to fresh memory."""
    begin = time.perf_counter()
    fresh.fill(1)
    between = time.perf_counter()
    fresh.fill(2)
    return max(2 * between - begin - time.perf_counter(), 0.0)


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
