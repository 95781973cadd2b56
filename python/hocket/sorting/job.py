"""Starts the ranks that sort files, and hands on what they say."""

import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from hocket.demand.npy import MAGIC, read_header
from hocket.errors import ArrayError
from hocket.launch.job import Job, run_job
from hocket.launch.mpi import Mpi
from hocket.system.files import opened_to_read
from hocket.system.records import record
from hocket.system.text import where_is

Array = NDArray[Any]

_KEY_BYTES: Final = {"b": (1,), "u": (1, 2, 4, 8), "i": (1, 2, 4, 8), "f": (2, 4, 8)}
_CHUNK_BYTES: Final = 1 << 22  # converted at once
_SAVE: Final = "save an array with numpy.save"


@dataclass(frozen=True, slots=True)
class ArrayFile:
    """An array of rows, one behind the other from byte ``offset`` of a file."""

    path: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int

    @classmethod
    def open(cls, path: str) -> Self:
        """Reads the header and compares it with the size of the file."""
        where = where_is(path)
        with opened_to_read(path, "a .npy file", ArrayError, again=True) as file:
            size = os.fstat(file.fileno()).st_size
            if file.read(len(MAGIC)) != MAGIC:
                raise ArrayError("is not a .npy file", where=where, remedy=_SAVE)
            file.seek(0)
            try:
                header = read_header(file)
            except ValueError as problem:
                raise ArrayError(str(problem), where=where, remedy=_SAVE) from None
        if header.dtype.hasobject:
            raise ArrayError("holds Python objects", where=where, remedy="save numbers")
        if size - header.offset != header.nbytes:
            raise ArrayError(
                f"holds {size - header.offset:,} bytes of an array, its header says {header.nbytes:,}",
                where=where,
                remedy="is the file whole?",
            )
        if not header.shape:
            raise ArrayError("is a single number", where=where, remedy="save an array of one dimension")
        if header.column_major and len(header.shape) > 1:
            raise ArrayError(
                "holds its columns, not its rows, one behind the other (Fortran order)",
                where=where,
                remedy="save numpy.ascontiguousarray of it",
            )
        return cls(path, header.shape, header.dtype, header.offset)

    @property
    def rows(self) -> int:
        return self.shape[0]

    @property
    def row_bytes(self) -> int:
        return self.dtype.itemsize * math.prod(self.shape[1:])

    @property
    def nbytes(self) -> int:
        return self.rows * self.row_bytes

    def header(self) -> bytes:
        """Header of the file, as bytes."""
        with Path(self.path).open("rb") as file:
            return file.read(self.offset)

    def map(self, begin: int, end: int) -> Array:
        """Rows as a read-only memory map."""
        shape = (end - begin, *self.shape[1:])
        if math.prod(shape) * self.dtype.itemsize == 0:
            return np.empty(shape, self.dtype)
        start = self.offset + begin * self.row_bytes
        return np.asarray(np.memmap(self.path, self.dtype, "r", start, shape))

    def write(self, begin: int, rows: Array) -> None:
        """Puts ``rows`` at their place in the file, in its byte order."""
        if rows.nbytes == 0:
            return
        step = max(1, _CHUNK_BYTES // max(1, self.row_bytes))
        with Path(self.path).open("r+b") as file:
            file.seek(self.offset + begin * self.row_bytes)
            for chunk in _chunks(rows, step):
                file.write(np.ascontiguousarray(chunk, self.dtype).reshape(-1).view(np.uint8).data)


def _chunks(rows: Array, step: int) -> Iterator[Array]:
    for first in range(0, len(rows), step):
        yield rows[first : first + step]


def check_keys(file: ArrayFile, field: str | None) -> None:
    """Raises ArrayError unless the array, or that field of its records, can be sorted by."""
    where = where_is(file.path)
    names = file.dtype.names
    if len(file.shape) != 1:
        raise ArrayError(
            f"has {len(file.shape)} dimensions; keys have one",
            where=where,
            remedy="give rows that move with their keys by --payload",
        )
    if field is None and names is not None:
        raise ArrayError(
            f"holds records of {', '.join(names)}", where=where, remedy="say by --key which field to sort by"
        )
    if field is not None and (names is None or field not in names):
        has = f"its records hold {', '.join(names)}" if names else "it holds no records"
        raise ArrayError(f"has no field '{field}'; {has}", where=where, remedy="correct --key")
    dtype = file.dtype if field is None else file.dtype[field]
    if dtype.itemsize not in _KEY_BYTES.get(dtype.kind, ()):
        raise ArrayError(
            f"keys of type {dtype} cannot be sorted",
            where=where,
            remedy="give integers of 8 to 64 bits or floats of 16 to 64",
        )


@dataclass(frozen=True, slots=True)
class FileSort:
    """Input and output of a sort; ``outputs`` are files with their headers, and of their full size.

    ``payload``: a file whose rows move with the keys. ``field``: of records, which then are the payload. ``memory``:
    bytes that may be used on each host; None: what is free."""

    keys: str
    keys_output: str
    field: str | None = None
    payload: str | None = None
    payload_output: str | None = None
    method: str = "auto"
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """Seconds of the slowest rank; ``predicted`` is None where no model tells."""

    name: str
    seconds: float
    predicted: float | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """Result of a sort. ``bytes``: of keys and payload. ``imbalance``: most rows on a rank over the mean."""

    method: str
    ranks: int
    rows: int
    bytes: int
    seconds: float
    imbalance: float
    steps: tuple[Step, ...]


def sorted_by(
    mpi: Mpi,
    ranks: int,
    files: FileSort,
    environment: Mapping[str, str],
    *,
    hostfile: str | None = None,
    on_step: Callable[[int, int, str], None] = lambda done, steps, name: None,
    verbose: bool = False,
) -> Report:
    """Sorts, and calls ``on_step`` with how many steps are done, of how many, and the last one.

    Raises HocketError with what the ranks say, or with how they ended if they do not say anything."""
    job = Job("hocket.sorting.worker:work", ranks, asdict(files), "all was sorted")
    outcome = run_job(
        job, mpi, environment, lambda now: on_step(now["done"], now["steps"], now["step"]), hostfile=hostfile,
        verbose=verbose,
    )  # fmt: skip
    return record(Report, outcome.answer)
