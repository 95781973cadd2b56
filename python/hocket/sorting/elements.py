"""Moving the elements of distributed arrays with mpi4py and numpy ('hocket help c-and-python').

The same as the C interface (``hocket_elements.h``), and by the same library. ``pip install hocket[mpi4py]``.

Every rank holds a part of an array; rank 0 has the first elements. Elements are the rows along the first axis, of any
type without objects. Arrays that are not contiguous are copied first. All functions are collective; bad arguments of
any rank raise UsageError on all of them."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from hocket.errors import UsageError
from hocket.launch.runtime.library import everywhere
from hocket.sorting.arguments import (
    Array,
    Call,
    count_of,
    elements_of,
    given,
    need_as_many,
    pointer,
    positions_of,
    target_for,
    without_objects,
)

if TYPE_CHECKING:
    from mpi4py import MPI


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

    Returns this rank's part of the target: ``out`` if it is given, else a new array of ``count`` elements (None: as
    many as ``array`` has). Every position is to be given exactly once. ``method``: ``packed``, ``chained`` or ``auto``.
    After an error the contents of ``out`` are undefined."""
    call = Call(comm, method)

    def prepare() -> None:
        call.source = elements_of(array)
        call.integers = positions_of(destinations, "destinations", np.int64)
        need_as_many(len(call.integers), "destinations", len(call.source))
        call.target = target_for(out, len(call.source) if count is None else count, call.source)

    call.prepare(prepare)
    call.run("hocket_permute", *call.source_arguments(), pointer(call.integers), *call.target_arguments())
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

    Returns ``out`` if it is given, else a new array. ``method``: ``packed``, ``chained`` or ``auto``."""
    call = Call(comm, method)

    def prepare() -> None:
        call.source = elements_of(array)
        call.integers = positions_of(indices, "indices", np.int64)
        call.target = target_for(out, len(call.integers), call.source)
        need_as_many(len(call.integers), "indices", len(call.target))

    call.prepare(prepare)
    call.run(
        "hocket_take",
        *call.source_arguments(),
        ctypes.c_int64(len(call.target)),
        pointer(call.integers),
        pointer(call.target),
    )
    return call.result(out)


def send_elements(
    comm: MPI.Comm, array: npt.ArrayLike, ranks: npt.ArrayLike, *, method: str = "auto"
) -> Array:
    """An h-relation: element i goes to rank ``ranks[i]``. Collective.

    Returns what has arrived, in the order of sending ranks, and of each in its order."""
    call = Call(comm, method)

    def prepare() -> None:
        call.source = elements_of(array)
        call.integers = positions_of(ranks, "ranks", np.intc)
        need_as_many(len(call.integers), "ranks", len(call.source))
        call.target = call.source[:0]

    call.prepare(prepare)
    arrived, memory = ctypes.c_int64(), ctypes.c_void_p()
    call.run(
        "hocket_send_elements",
        *call.source_arguments(),
        pointer(call.integers),
        ctypes.byref(arrived),
        ctypes.byref(memory),
    )

    def fetch() -> Array:
        target = np.empty((arrived.value, *call.source.shape[1:]), call.source.dtype)
        ctypes.memmove(target.ctypes.data, memory, target.nbytes)
        return target

    try:
        return everywhere(comm, fetch)
    finally:
        call.library.call("hocket_free_elements", ctypes.byref(memory))


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

    The first ``lengths[0]`` elements go to the positions from ``destinations[0]`` on, the next ``lengths[1]`` to those
    from ``destinations[1]`` on, and so forth. Returns as :func:`permute` does."""
    call = Call(comm, "auto")

    def prepare() -> None:
        call.source = elements_of(array)
        call.integers = positions_of(destinations, "destinations", np.int64)
        call.lengths = positions_of(lengths, "lengths", np.int64)
        need_as_many(len(call.integers), "destinations", len(call.lengths), "lengths")
        if (covered := sum(call.lengths.tolist())) != len(call.source):
            raise UsageError(
                f"the lengths are {covered} elements in all, the array has {len(call.source)}",
                remedy="give lengths of all elements",
            )
        call.target = target_for(out, len(call.source) if count is None else count, call.source)

    call.prepare(prepare)
    call.library.check(
        "hocket_grouped_permute", call.library.handle(comm), ctypes.c_size_t(call.width),
        ctypes.c_int64(len(call.lengths)), pointer(call.lengths), pointer(call.integers), pointer(call.source),
        *call.target_arguments(),
    )  # fmt: skip
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

    Returns this rank's rows of the transposed matrix: ``out`` if it is given, else a new array of ``rows`` rows (None:
    an equal share; where that does not come out even, the first ranks have one more)."""
    call = Call(comm, method)

    def look() -> Array:
        source = without_objects(np.asarray(matrix), "matrix")
        if source.ndim != 2:
            raise UsageError(f"a matrix of {source.ndim} dimensions", remedy="give one of two")
        return source

    source = everywhere(comm, look)
    total = sum(comm.allgather(len(source)))

    def prepare() -> None:
        call.source = np.ascontiguousarray(source)
        columns = source.shape[1]
        ranks, rank = comm.Get_size(), comm.Get_rank()
        own = columns // ranks + (rank < columns % ranks) if rows is None else count_of(rows, "rows")
        call.target = np.empty((own, total), source.dtype) if out is None else given(out, source.dtype)
        if out is not None and (out.ndim != 2 or out.shape[1] != total):
            raise UsageError(
                f"out has the shape {out.shape}; the rows of the transpose have {total} elements",
                remedy="give out rows as long, or leave it out",
            )
        call.element = source.dtype.itemsize

    call.prepare(prepare)
    call.library.check(
        "hocket_transpose", call.library.handle(comm), call.method, ctypes.c_size_t(call.width),
        ctypes.c_int64(len(source)), ctypes.c_int64(source.shape[1]), pointer(call.source), *call.target_arguments(),
    )  # fmt: skip
    return call.result(out)


class SharedArray(np.ndarray[Any, Any]):
    """An array in memory that the ranks of a host share, from :func:`empty`.

    Takes and transposes read what lies in it without a copy. To be released by all ranks, with :meth:`release` or at
    the end of a ``with`` block; not to be used, nor any view of it, afterwards."""

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
    call = Call(comm, "auto")

    def prepare() -> tuple[np.dtype[Any], tuple[int, ...]]:
        kind = without_objects(np.empty(0, dtype), "memory").dtype
        sides = shape if isinstance(shape, Sequence) else [shape]
        return kind, tuple(count_of(side, "shape") for side in sides)

    kind, sides = everywhere(comm, prepare)
    size = math.prod(sides, start=kind.itemsize)
    memory = ctypes.c_void_p()
    handle = call.library.handle(comm)
    call.library.check("hocket_alloc", handle, ctypes.c_size_t(size), ctypes.byref(memory))
    raw: Any = (ctypes.c_uint8 * size).from_address(memory.value) if memory.value else b""
    array = np.frombuffer(raw, np.uint8).view(kind).reshape(sides) if size else np.empty(sides, kind)
    shared = array.view(SharedArray)
    shared._release = lambda: call.library.check("hocket_release", handle, ctypes.byref(memory))
    return shared
