"""NumPy's ``.npy``: an n × n array of integers, or of floats that are whole. No pickles."""

from __future__ import annotations

import io
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hocket.demand.numbers import problem_of
from hocket.demand.source import Source
from hocket.demand.traffic import MOST_BYTES, Traffic
from hocket.npy import MAGIC, read_header

_REMEDY: Final = "save an n x n array of integers with numpy.save"


def begins(data: bytes) -> bool:
    return data.startswith(MAGIC)


def read(source: Source) -> Traffic:
    """Shape, type and size of the file are checked before any of the array is read."""
    try:
        header = read_header(io.BytesIO(source.data))
    except ValueError as error:
        raise source.error(str(error), remedy=_REMEDY) from None
    shape, dtype = header.shape, header.dtype
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        written = " x ".join(map(str, shape)) or "one number"
        raise source.error(f"an array of {written} is not square", remedy="give n x n bytes")
    if dtype.kind not in "iuf":
        raise source.error(f"entries of type {dtype} are no bytes", remedy=_REMEDY)
    traffic = Traffic(shape[0], source)
    held = len(source.data) - header.offset
    if held != header.nbytes:
        raise source.error(
            f"holds {held:,} bytes of entries, its header says {header.nbytes:,}", remedy="is the file whole?"
        )
    table = np.frombuffer(source.data, dtype, offset=header.offset)
    table = table.reshape(shape, order="F" if header.column_major else "C")
    if dtype.kind == "f":
        table = table.astype(np.float64)
    _check_entries(source, table)
    for sender, receiver in np.argwhere(table).tolist():
        traffic.add(sender, receiver, int(table[sender, receiver]))
    return traffic


def _check_entries(source: Source, table: NDArray[Any]) -> None:
    bad = (table < 0) | (table > MOST_BYTES)
    if table.dtype.kind == "f":
        bad |= ~np.isfinite(table) | (table != np.floor(table))
    if bad.any():
        sender, receiver = np.argwhere(bad)[0].tolist()
        entry = table[sender, receiver].item()
        raise source.error(
            f"entry [{sender}, {receiver}] is {entry}, which {problem_of(entry)}",
            remedy="give whole numbers of bytes",
        )
