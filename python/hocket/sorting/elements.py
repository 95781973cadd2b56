"""Moving the elements of distributed arrays with mpi4py and numpy ('hocket help c-and-python').

The same as the C interface (``hocket_elements.h``), and by the same library. ``pip install hocket[mpi4py]``.

Every rank holds a part of an array; rank 0 has the first elements. Elements are the rows along the first
axis, of any type without objects. Arrays that are not contiguous are copied first. All functions are
collective; bad arguments of any rank raise UsageError on all of them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from hocket.errors import UsageError
from hocket.launch.runtime.library import RuntimeLibrary, everywhere, load_sort_library

if TYPE_CHECKING:
    from mpi4py import MPI

Array = npt.NDArray[Any]

_METHODS = {"auto": 0, "packed": 1, "chained": 2}  # hocket_elements.h


def permute(
    comm: MPI.Comm,
    array: npt.ArrayLike,
    destinations: npt.ArrayLike,
    *,
    count: int | None = None,
    out: Array | None = None,
    method: str = "auto",
) -> Array:
    """Element i of this rank's part goes to position ``destinations[i]`` of the whole target. Collective.

    Returns this rank's part of the target: ``out`` if it is given, else a new array of ``count`` elements
    (None: as many as ``array`` has). Every position is to be given exactly once. ``method``: ``packed``,
    ``chained`` or ``auto``. After an error the contents of ``out`` are undefined.
    """
    call = _Call(comm, method)

    def prepare() -> None:
        call.source = _elements(array)
        call.integers = _positions(destinations, "destinations", np.int64)
        _need_as_many(len(call.integers), "destinations", len(call.source))
        call.target = _target(out, len(call.source) if count is None else count, call.source)

    call.prepare(prepare)
    call.run(
        "hocket_permute",
        *call.source_arguments(),
        _pointer(call.integers),
        *call.target_arguments(),
    )
    return call.result(out)


def take(
    comm: MPI.Comm,
    array: npt.ArrayLike,
    indices: npt.ArrayLike,
    *,
    out: Array | None = None,
    method: str = "auto",
) -> Array:
    """The elements at positions ``indices`` of the whole source, any of them any number of times. Collective.

    Returns ``out`` if it is given, else a new array. ``method``: ``packed``, ``chained`` or ``auto``.
    """
    call = _Call(comm, method)

    def prepare() -> None:
        call.source = _elements(array)
        call.integers = _positions(indices, "indices", np.int64)
        call.target = _target(out, len(call.integers), call.source)
        _need_as_many(len(call.integers), "indices", len(call.target))

    call.prepare(prepare)
    call.run(
        "hocket_take",
        *call.source_arguments(),
        ctypes.c_int64(len(call.target)),
        _pointer(call.integers),
        _pointer(call.target),
    )
    return call.result(out)


def send_elements(
    comm: MPI.Comm, array: npt.ArrayLike, ranks: npt.ArrayLike, *, method: str = "auto"
) -> Array:
    """An h-relation: element i goes to rank ``ranks[i]``. Collective.

    Returns what has arrived, in the order of sending ranks, and of each in its order.
    """
    call = _Call(comm, method)

    def prepare() -> None:
        call.source = _elements(array)
        call.integers = _positions(ranks, "ranks", np.intc)
        _need_as_many(len(call.integers), "ranks", len(call.source))
        call.target = call.source[:0]

    call.prepare(prepare)
    arrived, memory = ctypes.c_int64(), ctypes.c_void_p()
    call.run(
        "hocket_send_elements",
        *call.source_arguments(),
        _pointer(call.integers),
        ctypes.byref(arrived),
        ctypes.byref(memory),
    )

    def fetch() -> None:
        call.target = np.empty((arrived.value, *call.source.shape[1:]), call.source.dtype)
        ctypes.memmove(call.target.ctypes.data, memory, call.target.nbytes)

    try:
        everywhere(comm, fetch)
    finally:
        call.library.call("hocket_free_elements", ctypes.byref(memory))
    return call.target


def grouped_permute(
    comm: MPI.Comm,
    array: npt.ArrayLike,
    lengths: npt.ArrayLike,
    destinations: npt.ArrayLike,
    *,
    count: int | None = None,
    out: Array | None = None,
) -> Array:
    """Permutes data that is arranged already. Collective.

    The first ``lengths[0]`` elements go to the positions from ``destinations[0]`` on, the next
    ``lengths[1]`` to those from ``destinations[1]`` on, and so forth. Returns as :func:`permute` does.
    """
    call = _Call(comm, "auto")

    def prepare() -> None:
        call.source = _elements(array)
        call.integers = _positions(destinations, "destinations", np.int64)
        call.lengths = _positions(lengths, "lengths", np.int64)
        _need_as_many(len(call.integers), "destinations", len(call.lengths), "lengths")
        if (covered := sum(call.lengths.tolist())) != len(call.source):
            raise UsageError(
                f"the lengths are {covered} elements in all, the array has {len(call.source)}",
                remedy="give lengths of all elements",
            )
        call.target = _target(out, len(call.source) if count is None else count, call.source)

    call.prepare(prepare)
    call.library.check(
        "hocket_grouped_permute",
        call.library.handle(comm),
        ctypes.c_size_t(call.width),
        ctypes.c_int64(len(call.lengths)),
        _pointer(call.lengths),
        _pointer(call.integers),
        _pointer(call.source),
        *call.target_arguments(),
    )
    return call.result(out)


def transpose(
    comm: MPI.Comm,
    matrix: npt.ArrayLike,
    *,
    rows: int | None = None,
    out: Array | None = None,
    method: str = "auto",
) -> Array:
    """Transposes a matrix of which every rank holds whole rows. Collective.

    Returns this rank's rows of the transposed matrix: ``out`` if it is given, else a new array of ``rows``
    rows (None: an equal share; where that does not come out even, the first ranks have one more).
    """
    call = _Call(comm, method)
    source: Array = np.empty((0, 0))

    def look() -> None:
        nonlocal source
        source = _without_objects(np.asarray(matrix), "matrix")
        if source.ndim != 2:
            raise UsageError(f"a matrix of {source.ndim} dimensions", remedy="give one of two")

    everywhere(comm, look)
    total = sum(comm.allgather(len(source)))

    def prepare() -> None:
        call.source = np.ascontiguousarray(source)
        columns = source.shape[1]
        ranks, rank = comm.Get_size(), comm.Get_rank()
        own = columns // ranks + (rank < columns % ranks) if rows is None else _count(rows, "rows")
        call.target = np.empty((own, total), source.dtype) if out is None else _given(out, source.dtype)
        if out is not None and (out.ndim != 2 or out.shape[1] != total):
            raise UsageError(
                f"out has the shape {out.shape}; the rows of the transpose have {total} elements",
                remedy="give out rows as long, or leave it out",
            )
        call.element = source.dtype.itemsize

    call.prepare(prepare)
    call.library.check(
        "hocket_transpose",
        call.library.handle(comm),
        call.method,
        ctypes.c_size_t(call.width),
        ctypes.c_int64(len(source)),
        ctypes.c_int64(source.shape[1]),
        _pointer(call.source),
        *call.target_arguments(),
    )
    return call.result(out)


class SharedArray(np.ndarray[Any, Any]):
    """An array in memory that the ranks of a host share, from :func:`empty`.

    Takes and transposes read what lies in it without a copy. To be released by all ranks, with
    :meth:`release` or at the end of a ``with`` block; not to be used, nor any view of it, afterwards.
    """

    _release: Callable[[], None] | None = None

    def release(self) -> None:
        """Gives the memory back; collective. Nothing happens the second time."""
        if self._release is not None:
            self._release()
            self._release = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # After an error on this rank only the others would not release theirs, which is collective.
        if kind is None:
            self.release()


def empty(comm: MPI.Comm, shape: int | Sequence[int], dtype: npt.DTypeLike = float) -> SharedArray:
    """An uninitialised array of this rank in memory that the ranks of its host share. Collective."""
    call = _Call(comm, "auto")
    kind = np.dtype(np.uint8)
    sides: tuple[int, ...] = ()

    def prepare() -> None:
        nonlocal kind, sides
        kind = _without_objects(np.empty(0, dtype), "memory").dtype
        sides = tuple(_count(side, "shape") for side in (shape if isinstance(shape, Sequence) else [shape]))

    everywhere(comm, prepare)
    size = kind.itemsize
    for side in sides:
        size *= side
    memory = ctypes.c_void_p()
    handle = call.library.handle(comm)
    call.library.check("hocket_alloc", handle, ctypes.c_size_t(size), ctypes.byref(memory))
    raw: Any = (ctypes.c_uint8 * size).from_address(memory.value) if memory.value else b""
    array = np.frombuffer(raw, np.uint8).view(kind).reshape(sides) if size else np.empty(sides, kind)
    shared = array.view(SharedArray)
    shared._release = lambda: call.library.check("hocket_release", handle, ctypes.byref(memory))
    return shared


class _Call:
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
        first, *others = self.comm.allgather(_kind(self.source, self.element is None))
        for rank, other in enumerate(others, 1):
            if other != first:
                raise UsageError(
                    f"ranks differ: rank 0 has {first}, rank {rank} {other}",
                    remedy="give the same on all ranks",
                )

    @property
    def width(self) -> int:
        if self.element is not None:
            return self.element
        return int(np.prod(self.source.shape[1:], dtype=np.int64)) * self.source.dtype.itemsize

    def source_arguments(self) -> tuple[Any, ...]:
        return ctypes.c_size_t(self.width), ctypes.c_int64(len(self.source)), _pointer(self.source)

    def target_arguments(self) -> tuple[Any, ...]:
        return ctypes.c_int64(len(self.target)), _pointer(self.target)

    def run(self, function: str, *arguments: Any) -> None:
        self.library.check(function, self.library.handle(self.comm), self.method, *arguments)

    def result(self, out: Array | None) -> Array:
        if out is None:
            return self.target
        if out is not self.target:  # it was not contiguous
            out[...] = self.target
        return out


def _kind(array: Array, rows: bool) -> str:
    row = f" in rows of the shape {array.shape[1:]}" if rows and array.ndim > 1 else ""
    return f"elements of type {array.dtype}{row}"


def _pointer(array: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data if array.nbytes else None)


def _without_objects(array: Array, name: str) -> Array:
    if array.dtype.hasobject:
        raise UsageError(f"{name} of objects", remedy="give numbers, strings or records of fixed size")
    if array.dtype.itemsize == 0:
        raise UsageError(
            f"{name} of elements without bytes ({array.dtype})", remedy="give elements of one byte or more"
        )
    return array


def _elements(array: npt.ArrayLike) -> Array:
    elements = _without_objects(np.asarray(array), "an array")
    if elements.ndim == 0:
        raise UsageError("an array without dimensions", remedy="give one of at least one")
    if 0 in elements.shape[1:]:
        raise UsageError(
            f"rows without elements: the array has the shape {elements.shape}", remedy="leave the call out"
        )
    return np.ascontiguousarray(elements)


def _positions(values: npt.ArrayLike, name: str, kind: type[np.signedinteger[Any]]) -> Array:
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


def _need_as_many(given: int, name: str, needed: int, of: str = "elements") -> None:
    if given != needed:
        raise UsageError(f"{given} {name} for {needed} {of}", remedy=f"give {needed}")


def _count(value: int, name: str) -> int:
    if not isinstance(value, int | np.integer) or not 0 <= value < 2**63:
        raise UsageError(f"{name} {value!r}", remedy="give a number that is not negative")
    return int(value)


def _target(out: Array | None, count: int, source: Array) -> Array:
    if out is None:
        return np.empty((_count(count, "count"), *source.shape[1:]), source.dtype)
    target = _given(out, source.dtype)
    if out.shape[1:] != source.shape[1:] or out.ndim != source.ndim:
        raise UsageError(
            f"out has the shape {out.shape}, elements are rows of the shape {source.shape[1:]}",
            remedy="give out rows of that shape",
        )
    return target


def _given(out: Array, kind: np.dtype[Any]) -> Array:
    """Array to write the result to: `out`, or one that is copied to it. Raises UsageError."""
    if not isinstance(out, np.ndarray) or out.dtype != kind:
        raise UsageError(f"out is not an array of {kind}", remedy="give one, or leave it out")
    if not out.flags.writeable:
        raise UsageError("out is read-only", remedy="give a copy of it, or leave it out")
    return out if out.flags.c_contiguous else np.empty(out.shape, kind)
