"""Sorting distributed arrays with mpi4py ('hocket help c-and-python').

The same as the C interface (``hocket_sort.h``), and by the same library. ``pip install hocket[mpi4py]``."""

from __future__ import annotations

import ctypes
import functools
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hocket import _core
from hocket.errors import UsageError
from hocket.launch.runtime.library import RuntimeLibrary, everywhere, load_sort_library
from hocket.sorting.arguments import Array, same_everywhere

if TYPE_CHECKING:
    from mpi4py import MPI

Progress = Callable[[str, int, int], object]

# hocket_sort.h
_KEY_TYPES = {
    np.dtype(name): code
    for code, name in enumerate(["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8"])
} | {np.dtype(np.bool_): 0}
_METHODS = {"auto": 0, "radix": 1, "sample": 2}
_METHOD_NAMES = {code: name for name, code in _METHODS.items()}
_BALANCES = {"even": 0, "in-place": 1, "as-it-falls": 2}
_SAMPLINGS = {"random": 0, "regular": 1}
_WIDEST_CARRIED = 24  # bytes: sort/mpi/sort/sort.cpp
_PROGRESS = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int, ctypes.c_int, ctypes.c_void_p)
_SORT_KEYS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)


class _Options(ctypes.Structure):
    """``hocket_sort_options``."""

    _fields_ = [
        ("method", ctypes.c_int),
        ("balance", ctypes.c_int),
        ("sampling", ctypes.c_int),
        ("oversampling", ctypes.c_int),
        ("digit_bits", ctypes.c_int),
        ("seed", ctypes.c_uint64),
        ("progress", _PROGRESS),
        ("sort_keys", _SORT_KEYS),
        ("context", ctypes.c_void_p),
    ]


class _Step(ctypes.Structure):
    """``hocket_sort_step``."""

    _fields_ = [("name", ctypes.c_char_p), ("seconds", ctypes.c_double), ("predicted", ctypes.c_double)]


@dataclass(frozen=True, slots=True)
class SortStep:
    """A step of this rank; one that is done for every digit is counted together.

    ``first touch`` is there only where memory that ranks share had to be made: not in sorts that follow."""

    name: str
    seconds: float  #: waiting included
    predicted: float  #: by the memory model


@dataclass(frozen=True, slots=True)
class Sorted:
    """Result of a sort on this rank, with the method and the times of its steps."""

    keys: Array
    payload: Array | None  #: None if there was none
    method: str  #: radix or sample
    steps: tuple[SortStep, ...]
    imbalance: float  #: most elements on a rank over the mean, before a last exchange evens it out


def sort(
    comm: MPI.Comm,
    keys: npt.ArrayLike,
    payload: npt.ArrayLike | None = None,
    *,
    method: str = "auto",
    balance: str = "even",
    sampling: str = "random",
    oversampling: int = 0,
    digit_bits: int | None = None,
    seed: int = 1,
    progress: Progress | None = None,
) -> Array | tuple[Array, Array]:
    """Sorts the keys of all ranks, rank 0 gets the smallest; stable. Collective.

    ``keys``: integers, floats or bools, one-dimensional; NaN come last, as numpy sorts. ``payload``: an array with a
    row for each key, which goes with it. Neither is changed. Returns the keys, or keys and payload, that this rank has
    now.

    ``method``: ``radix``, ``sample``, or ``auto``: what the memory model expects to be faster. ``balance``: ``even``
    (ranks get equally many, give or take one), ``in-place`` (as many as they gave), or ``as-it-falls`` (what a sample
    sort makes of it). ``sampling`` (``random`` or ``regular``), ``oversampling`` (samples per rank and splitter; 0:
    chosen) and ``seed`` belong to the sample sort, ``digit_bits`` (1 to 12; None: chosen) to the radix sort.
    ``progress(step, done, steps)`` is called after each step.

    Bad arguments of any rank raise UsageError on all of them."""
    done = sort_report(**locals())  # the same arguments
    return done.keys if done.payload is None else (done.keys, done.payload)


def sort_report(
    comm: MPI.Comm,
    keys: npt.ArrayLike,
    payload: npt.ArrayLike | None = None,
    *,
    method: str = "auto",
    balance: str = "even",
    sampling: str = "random",
    oversampling: int = 0,
    digit_bits: int | None = None,
    seed: int = 1,
    progress: Progress | None = None,
) -> Sorted:
    """Sort as :func:`sort` does, and also return the method, the times of the steps and the imbalance."""
    library = load_sort_library(comm)
    told = _Told(progress)

    def prepare() -> tuple[_Given, _Options]:
        given = _Given(keys, payload)
        return given, _Options(
            _one_of(method, _METHODS, "method"),
            _one_of(balance, _BALANCES, "balance"),
            _one_of(sampling, _SAMPLINGS, "sampling"),
            _number(oversampling, "oversampling", 0, 2**20),
            0 if digit_bits is None else _number(digit_bits, "digit_bits", 1, 12),
            _number(seed, "seed", 0, 2**64 - 1),
            told.callback,
            given.sort_keys,
            None,
        )

    given, options = everywhere(comm, prepare)
    same_everywhere(comm, given.description)
    handle = ctypes.c_void_p()
    library.check(
        "hocket_sort",
        library.handle(comm),
        ctypes.byref(options),
        given.key_type,
        ctypes.c_int64(len(given.keys)),
        ctypes.c_void_p(given.keys.ctypes.data),
        ctypes.c_size_t(given.payload_width),
        ctypes.c_void_p(None if given.payload is None else given.payload.ctypes.data),
        ctypes.byref(handle),
    )
    report = _report(_Result(library, handle), given)
    if told.problem is not None:
        raise told.problem
    return report


def memory_per_rank(count: int, key_dtype: npt.DTypeLike, payload_width: int = 0) -> tuple[int, int]:
    """Bytes of private and of shared memory that a sort takes on a rank beside its input, at most.

    For ranks of one host; between hosts an exchange takes as much private memory again. ``count``: the most keys that
    the rank has, before or after; ``payload_width``: bytes for each. The result is among them."""
    key = np.dtype(key_dtype).itemsize
    fetched = payload_width if payload_width > _WIDEST_CARRIED else 0
    record = key + (8 if fetched else payload_width)
    private = max(2 * record + 2, record + fetched)
    shared = record + fetched
    return count * private, count * shared


class _Given:
    """This rank's arrays as the library wants them: contiguous, in the byte order of the machine."""

    def __init__(self, keys: npt.ArrayLike, payload: npt.ArrayLike | None) -> None:
        array = np.asarray(keys)
        if array.ndim != 1:
            raise UsageError(f"keys with {array.ndim} dimensions", remedy="give a one-dimensional array")
        self.key_dtype = array.dtype
        if (native := array.dtype.newbyteorder("=")) not in _KEY_TYPES:
            raise UsageError(
                f"keys of type {array.dtype}", remedy="give integers or floats of 8 to 64 bits, or bools"
            )
        self.key_type = _KEY_TYPES[native]
        self.keys = np.ascontiguousarray(array, native)
        self.payload: Array | None = None
        self.payload_width = 0
        if payload is None:
            return
        rows = np.asarray(payload)
        if rows.dtype.hasobject:
            raise UsageError("a payload of objects", remedy="give numbers, strings or records of fixed size")
        if rows.ndim == 0 or len(rows) != len(array):
            count = "no rows" if rows.ndim == 0 else f"{len(rows)} rows"
            raise UsageError(f"a payload with {count} for {len(array)} keys", remedy="give one row per key")
        self.payload = np.ascontiguousarray(rows)
        self.payload_width = int(np.prod(rows.shape[1:], dtype=np.int64)) * rows.dtype.itemsize

    @functools.cached_property
    def sort_keys(self) -> Any:
        """numpy's sort for the library: quicker than its own where equal keys cannot be told apart, but for keys
        that the library sorts by vectors."""
        dtype = self.keys.dtype
        by_vectors = _core.elements.has_vector_sort() and dtype.itemsize >= 4
        if self.payload is not None or self.key_dtype.kind not in "iu" or by_vectors:
            return _SORT_KEYS()

        def sort(address: int, count: int, _: object) -> int:
            np.asarray(_Memory(address, count, dtype)).sort()
            return 1  # ctypes returns 0 after an exception

        return _SORT_KEYS(sort)

    @property
    def description(self) -> str:
        """Description that must be equal on all ranks, beyond what the library compares."""
        if self.payload is None:
            return f"keys of type {self.key_dtype}, no payload"
        row = f" {self.payload.shape[1:]}" if self.payload.ndim > 1 else ""
        return f"keys of type {self.key_dtype}, payload of {self.payload.dtype}{row}"


class _Memory:
    """An array in the library's memory."""

    def __init__(self, address: int, count: int, dtype: np.dtype[Any]) -> None:
        self.__array_interface__ = {
            "data": (address, False),
            "shape": (count,),
            "typestr": dtype.str,
            "version": 3,
        }


class _Told:
    """A progress function as a C callback; what it raises is raised when the sort is over."""

    def __init__(self, progress: Progress | None) -> None:
        self.callback = _PROGRESS()
        self.problem: BaseException | None = None
        if progress is None:
            return

        def call(step: bytes, done: int, steps: int, _: object) -> None:
            try:
                progress(step.decode(), done, steps)
            except BaseException as problem:
                self.problem = problem

        self.callback = _PROGRESS(call)


def _one_of(name: str, codes: dict[str, int], what: str) -> int:
    if name not in codes:
        raise UsageError(f"{what} {name!r}", remedy=f"one of {', '.join(codes)}")
    return codes[name]


def _number(value: int, what: str, least: int, most: int) -> int:
    if not isinstance(value, int | np.integer) or not least <= value <= most:
        raise UsageError(f"{what} {value!r}", remedy=f"give a number from {least} to {most}")
    return int(value)


class _Result:
    """A ``hocket_sorted``, which lives as long as any of its arrays."""

    def __init__(self, library: RuntimeLibrary, handle: ctypes.c_void_p) -> None:
        self._library = library
        self._handle = handle
        # At exit the system takes the memory: arrays may live longer than this.
        weakref.finalize(self, library.call, "hocket_free_sorted", ctypes.byref(handle)).atexit = False

    def value(self, function: str, kind: type[Any], *arguments: Any) -> Any:
        return self._library.value(function, kind, self._handle, *arguments)

    def array(self, function: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
        if (size := int(np.prod(shape, dtype=np.int64)) * dtype.itemsize) == 0:
            return np.empty(shape, dtype)
        buffer = (ctypes.c_uint8 * size).from_address(self.value(function, ctypes.c_void_p))
        buffer.result = self  # type: ignore[attr-defined]
        flat: Array = np.frombuffer(memoryview(buffer), np.uint8)
        return flat.view(dtype).reshape(shape)

    def steps(self) -> tuple[SortStep, ...]:
        steps = ctypes.POINTER(_Step)()
        count = self.value("hocket_sorted_steps", ctypes.c_size_t, ctypes.byref(steps))
        return tuple(SortStep(step.name.decode(), step.seconds, step.predicted) for step in steps[:count])


def _report(result: _Result, given: _Given) -> Sorted:
    count = result.value("hocket_sorted_count", ctypes.c_int64)
    keys = result.array("hocket_sorted_keys", given.keys.dtype, (count,))
    if (payload := given.payload) is not None:
        payload = result.array("hocket_sorted_payload", payload.dtype, (count, *payload.shape[1:]))
    return Sorted(
        keys.astype(given.key_dtype, copy=False),
        payload,
        _METHOD_NAMES[result.value("hocket_sorted_method", ctypes.c_int)],
        result.steps(),
        result.value("hocket_sorted_imbalance", ctypes.c_double),
    )
