"""Irregular exchanges with mpi4py: scheduled once, run as often as wanted.

The same as the C interface (``hocket.h``), and by the same library, compiled for the MPI that mpi4py runs on. ``pip
install hocket[mpi4py]``."""

from __future__ import annotations

import ctypes
import operator
import os
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from hocket.errors import UsageError
from hocket.launch.runtime.library import Info, Phase, everywhere, load_library

if TYPE_CHECKING:
    from mpi4py import MPI

Demand = Mapping[int, int] | Sequence[int] | npt.NDArray[np.integer[Any]]


class Exchange:
    """A scheduled exchange between the ranks of a communicator.

    ``demand`` is what this rank sends: ``{target: bytes}``, or as many sizes in bytes as there are ranks. ``algorithm``
    is a name that ``hocket info`` lists; None: the default. Making and freeing are collective, and so is every run. Bad
    arguments of any rank raise on all of them.

    Buffers are anything contiguous: one per target, in the order of :attr:`targets`, and one per source, in the order
    of :attr:`sources`."""

    def __init__(
        self, comm: MPI.Comm, demand: Demand, *, algorithm: str | None = None, seed: int = 1
    ) -> None:
        self._begin(comm)

        def prepare() -> dict[int, int]:
            vector = _vector(demand, comm.Get_size())
            if not 0 <= seed < 2**64:
                raise UsageError(f"seed {seed} is out of range", remedy="give a number from 0 to 2^64 - 1")
            return vector

        self._call(
            "hocket_schedule", self._library.handle(comm), *_arrays(everywhere(comm, prepare)),
            None if algorithm is None else algorithm.encode(), seed, ctypes.byref(self._table),
        )  # fmt: skip
        self._describe()

    @classmethod
    def load(cls, comm: MPI.Comm, prefix: str | os.PathLike[str]) -> Self:
        """Load a table that :meth:`save` has written, on as many ranks; collective.

        Raises TableError on all ranks if a file is damaged, or made for other ranks or another network, or if the files
        do not belong together. :meth:`check` tells whether it fits what is to be sent."""
        self = cls.__new__(cls)
        self._begin(comm)
        self._call("hocket_load", self._library.handle(comm), os.fsencode(prefix), ctypes.byref(self._table))
        self._describe()
        return self

    def _begin(self, comm: MPI.Comm) -> None:
        self._comm = comm
        self._library = load_library(comm)
        self._table = ctypes.c_void_p()
        self._under_way: tuple[_Buffers, _Buffers, list[Any]] | None = None

    def check(self, demand: Demand) -> None:
        """Raises TableError on all ranks unless every rank's demand is that of its table; collective.

        The order of targets counts: buffers are given in it."""
        vector = everywhere(self._comm, lambda: _vector(demand, self._info.ranks))
        self._call("hocket_check", self._table, *_arrays(vector))

    def save(self, prefix: str | os.PathLike[str]) -> None:
        """Writes this rank's table to ``PREFIX.RANK``, whole or not at all."""
        self._call("hocket_save", self._table, os.fsencode(prefix))

    # Contents of the table

    def _describe(self) -> None:
        self._info = Info()
        self._call("hocket_get_info", self._table, ctypes.byref(self._info))
        self._targets = self._partners("hocket_targets")
        self._sources = self._partners("hocket_sources")
        count, rows = ctypes.c_size_t(), ctypes.POINTER(Phase)()
        self._call("hocket_phases", self._table, ctypes.byref(count), ctypes.byref(rows))
        dtype = np.dtype(Phase)
        raw = ctypes.string_at(rows, count.value * ctypes.sizeof(Phase)) if count.value else b""
        self._phases = np.frombuffer(raw, dtype)  # read-only, and outlives the table

    def _partners(self, function: str) -> dict[int, int]:
        count = ctypes.c_int()
        ranks, sizes = ctypes.POINTER(ctypes.c_int)(), ctypes.POINTER(ctypes.c_int64)()
        self._call(function, self._table, ctypes.byref(count), ctypes.byref(ranks), ctypes.byref(sizes))
        return {ranks[i]: sizes[i] for i in range(count.value)}

    @property
    def targets(self) -> dict[int, int]:
        """Bytes that go to each target: the destination vector."""
        return dict(self._targets)

    @property
    def sources(self) -> dict[int, int]:
        """Bytes that come from each rank that sends any, in ascending order: the source vector."""
        return dict(self._sources)

    @property
    def phases(self) -> npt.NDArray[np.void]:
        """The communication phase table of this rank: one row per phase, fields as in ``hocket_phase``.

        ``phase, send_to, receive_from, send_length, send_offset, receive_length, receive_offset``; a partner of -1:
        none. A phase has several rows where this rank sends or receives more than once in it."""
        return self._phases

    @property
    def phase_count(self) -> int:
        """Phases of the whole exchange."""
        return int(self._info.phases)

    @property
    def algorithm(self) -> str:
        """The algorithm's name."""
        return str(self._info.algorithm.decode())

    @property
    def seed(self) -> int:
        """Random seed of the algorithm."""
        return int(self._info.seed)

    @property
    def digest(self) -> int:
        """Digest of the tables of all ranks: equal on all of them."""
        return int(self._info.digest)

    @property
    def ratio(self) -> float | None:
        """Time of the phases, one after the other, over what no schedule can beat; None: nothing is sent."""
        bound = float(self._info.bound_seconds)
        return float(self._info.lockstep_seconds) / bound if bound > 0 else None

    # Running it

    def run(self, send_buffers: Sequence[Any], receive_buffers: Sequence[Any] | None = None) -> list[Any]:
        """Exchanges once and returns the receive buffers: fresh arrays of bytes unless they are given."""
        self.start(send_buffers, receive_buffers)
        return self.wait()

    def start(self, send_buffers: Sequence[Any], receive_buffers: Sequence[Any] | None = None) -> None:
        """Begins an exchange; the buffers are not to be touched before it is over."""
        if receive_buffers is None:
            receive_buffers = [np.empty(size, np.uint8) for size in self._sources.values()]
        sends = _Buffers(self._targets, send_buffers, "send")
        receives = _Buffers(self._sources, receive_buffers, "receive", writable=True)
        self._call("hocket_exchange_start", self._table, sends.pointers, receives.pointers)
        self._under_way = sends, receives, list(receive_buffers)

    def test(self) -> bool:
        """Moves the exchange on; True when it is over. It ends with :meth:`wait` all the same."""
        over = ctypes.c_int()
        self._call("hocket_exchange_test", self._table, ctypes.byref(over))
        return bool(over.value)

    def wait(self) -> list[Any]:
        """Waits until the exchange is over and returns the receive buffers."""
        self._call("hocket_exchange_wait", self._table)
        if self._under_way is None:
            raise UsageError("there is nothing to wait for", remedy="call start() first")
        received = self._under_way[2]
        self._under_way = None
        return received

    def free(self) -> None:
        """Gives the table back; collective. Nothing but what was read before works afterwards."""
        if self._table:
            self._call("hocket_free", ctypes.byref(self._table))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # After an error on this rank only the others would not free theirs, which is collective.
        if kind is None:
            self.free()

    def _call(self, function: str, *arguments: Any) -> None:
        self._library.check(function, *arguments)


class _Buffers:
    """Pointers to the buffers, one per message, and references that keep the memory alive."""

    def __init__(
        self, sizes: Mapping[int, int], buffers: Sequence[Any], what: str, *, writable: bool = False
    ) -> None:
        if len(buffers) != len(sizes):
            raise UsageError(
                f"{len(buffers)} {what} buffers for {len(sizes)} messages",
                remedy=f"give one per {'source' if writable else 'target'}, in their order",
            )
        self.arrays = [
            _array(buffer, size, f"the {what} buffer of rank {rank}", writable)
            for buffer, (rank, size) in zip(buffers, sizes.items(), strict=True)
        ]
        self.pointers = (ctypes.c_void_p * len(buffers))(*(array.ctypes.data for array in self.arrays))


def _array(buffer: Any, size: int, name: str, writable: bool) -> npt.NDArray[Any]:
    try:
        array = buffer if isinstance(buffer, np.ndarray) else np.frombuffer(buffer, np.uint8)
    except (TypeError, ValueError, BufferError) as error:
        if size == 0:
            return np.empty(0, np.uint8)
        raise UsageError(
            f"{name} is not a contiguous buffer: {error}", remedy="give a NumPy array or bytes"
        ) from None
    if array.nbytes != size:
        raise UsageError(
            f"{name} has {array.nbytes} bytes, the message {size}",
            remedy="give a buffer as long as the message",
        )
    if not array.flags.c_contiguous:
        raise UsageError(f"{name} is not contiguous", remedy="copy it: numpy.ascontiguousarray")
    if writable and size > 0 and not array.flags.writeable:
        raise UsageError(f"{name} is read-only", remedy="give a copy of it")
    return array


def _vector(demand: Demand, ranks: int) -> dict[int, int]:
    """The destination vector; sizes that no C type can hold are refused here, the rest by the library."""
    try:
        if isinstance(demand, Mapping):
            vector = {operator.index(rank): operator.index(size) for rank, size in demand.items()}
        else:
            sizes = [operator.index(size) for size in demand]
            if len(sizes) != ranks:
                raise UsageError(
                    f"{len(sizes)} sizes for {ranks} ranks", remedy="give one per rank, or {target: bytes}"
                )
            vector = {rank: size for rank, size in enumerate(sizes) if size != 0}
    except TypeError as error:
        raise UsageError(
            f"a demand of this kind is not understood: {error}",
            remedy="give {target: bytes}, or one size per rank",
        ) from None
    for rank, size in vector.items():
        if not -(2**31) <= rank < 2**31 or not -(2**63) <= size < 2**63:
            raise UsageError(
                f"{size} bytes to rank {rank}: out of range",
                remedy=f"give ranks from 0 to {ranks - 1}, and bytes from 0 on",
            )
    return vector


def _arrays(vector: Mapping[int, int]) -> tuple[int, Any, Any]:
    n = len(vector)
    return n, (ctypes.c_int * n)(*vector.keys()), (ctypes.c_int64 * n)(*vector.values())
