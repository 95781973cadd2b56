"""Arguments of calls that move elements: what they may be, on all ranks, and how the library gets them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hocket.errors import UsageError
from hocket.launch.runtime.library import RuntimeLibrary, everywhere, load_sort_library

if TYPE_CHECKING:
    from mpi4py import MPI

Array = npt.NDArray[Any]

_METHODS = {"auto": 0, "packed": 1, "chained": 2}  # hocket_elements.h


class Call:
    """The arguments of a call, and how it ends."""

    def __init__(self, comm: MPI.Comm, method: str) -> None:
        self.library: RuntimeLibrary = load_sort_library(comm)
        self.comm = comm
        self._method_name = method
        self.method = ctypes.c_int()
        self.source: Array = np.empty(0)
        self.target: Array = np.empty(0)
        self.integers: Array = np.empty(0)
        self.lengths: Array = np.empty(0)
        self.element: int | None = None  # bytes; None: of a row

    def prepare(self, step: Callable[[], None]) -> None:
        """Checks the arguments of all ranks."""

        def checked() -> None:
            if self._method_name not in _METHODS:
                raise UsageError(
                    f"there is no method '{self._method_name}'", remedy=f"give {', '.join(_METHODS)}"
                )
            self.method = ctypes.c_int(_METHODS[self._method_name])
            step()

        everywhere(self.comm, checked)
        same_everywhere(self.comm, _kind(self.source, self.element is None))

    @property
    def width(self) -> int:
        if self.element is not None:
            return self.element
        return int(np.prod(self.source.shape[1:], dtype=np.int64)) * self.source.dtype.itemsize

    def source_arguments(self) -> tuple[Any, ...]:
        return ctypes.c_size_t(self.width), ctypes.c_int64(len(self.source)), pointer(self.source)

    def target_arguments(self) -> tuple[Any, ...]:
        return ctypes.c_int64(len(self.target)), pointer(self.target)

    def run(self, function: str, *arguments: Any) -> None:
        self.library.check(function, self.library.handle(self.comm), self.method, *arguments)

    def result(self, out: Array | None) -> Array:
        if out is None:
            return self.target
        if out is not self.target:  # it was not contiguous
            out[...] = self.target
        return out


def same_everywhere(comm: MPI.Comm, given: str) -> None:
    """Raises UsageError on all ranks where what they were given differs. Collective."""
    first, *others = comm.allgather(given)
    for rank, other in enumerate(others, 1):
        if other != first:
            raise UsageError(
                f"ranks differ: rank 0 has {first}, rank {rank} {other}", remedy="give the same on all ranks"
            )


def _kind(array: Array, rows: bool) -> str:
    row = f" in rows of the shape {array.shape[1:]}" if rows and array.ndim > 1 else ""
    return f"elements of type {array.dtype}{row}"


def pointer(array: Array) -> ctypes.c_void_p:
    """Address of the first element; none where there is no byte."""
    return ctypes.c_void_p(array.ctypes.data if array.nbytes else None)


def without_objects(array: Array, name: str) -> Array:
    """The array. Raises UsageError where its elements are objects, or have no bytes."""
    if array.dtype.hasobject:
        raise UsageError(f"{name} of objects", remedy="give numbers, strings or records of fixed size")
    if array.dtype.itemsize == 0:
        raise UsageError(
            f"{name} of elements without bytes ({array.dtype})", remedy="give elements of one byte or more"
        )
    return array


def elements_of(array: npt.ArrayLike) -> Array:
    """The array, contiguous. Raises UsageError where it has no rows, or rows without elements."""
    elements = without_objects(np.asarray(array), "an array")
    if elements.ndim == 0:
        raise UsageError("an array without dimensions", remedy="give one of at least one")
    if 0 in elements.shape[1:]:
        raise UsageError(
            f"rows without elements: the array has the shape {elements.shape}", remedy="leave the call out"
        )
    return np.ascontiguousarray(elements)


def positions_of(values: npt.ArrayLike, name: str, kind: type[np.signedinteger[Any]]) -> Array:
    """One-dimensional integers as ``kind``, contiguous. Raises UsageError where one does not fit."""
    positions = np.asarray(values)
    if positions.size == 0:
        positions = positions.astype(kind)
    if positions.ndim != 1:
        raise UsageError(f"{name} of {positions.ndim} dimensions", remedy="give one dimension")
    if positions.dtype.kind not in "iu":
        raise UsageError(f"{name} of type {positions.dtype}", remedy="give integers")
    limits = np.iinfo(kind)
    if not np.can_cast(positions.dtype, kind):
        outside = np.flatnonzero((positions > limits.max) | (positions < limits.min))
        if len(outside):
            first = int(outside[0])
            raise UsageError(
                f"{name}: {positions[first]} of element {first} is out of range",
                remedy=f"give numbers from {limits.min} to {limits.max}",
            )
    return np.ascontiguousarray(positions, kind)


def need_as_many(given: int, name: str, needed: int, of: str = "elements") -> None:
    """Raises UsageError where two numbers differ."""
    if given != needed:
        raise UsageError(f"{given} {name} for {needed} {of}", remedy=f"give {needed}")


def count_of(value: int, name: str) -> int:
    """The number. Raises UsageError where it is negative, or none."""
    if not isinstance(value, int | np.integer) or not 0 <= value < 2**63:
        raise UsageError(f"{name} {value!r}", remedy="give a number that is not negative")
    return int(value)


def target_for(out: Array | None, count: int, source: Array) -> Array:
    """Array of ``count`` rows like those of ``source``: ``out``, or a new one. Raises UsageError."""
    if out is None:
        return np.empty((count_of(count, "count"), *source.shape[1:]), source.dtype)
    target = given(out, source.dtype)
    if out.shape[1:] != source.shape[1:] or out.ndim != source.ndim:
        raise UsageError(
            f"out has the shape {out.shape}, elements are rows of the shape {source.shape[1:]}",
            remedy="give out rows of that shape",
        )
    return target


def given(out: Array, kind: np.dtype[Any]) -> Array:
    """Array to write the result to: `out`, or one that is copied to it. Raises UsageError."""
    if not isinstance(out, np.ndarray) or out.dtype != kind:
        raise UsageError(f"out is not an array of {kind}", remedy="give one, or leave it out")
    if not out.flags.writeable:
        raise UsageError("out is read-only", remedy="give a copy of it, or leave it out")
    return out if out.flags.c_contiguous else np.empty(out.shape, kind)
