"""NumPy's ``.npy``: an n × n array of integers, or of floats that are whole. No pickles."""

from __future__ import annotations

import io
import math
import warnings
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hocket.demand.numbers import problem_of
from hocket.demand.source import Source
from hocket.demand.traffic import MOST_BYTES, Traffic

_MAGIC: Final = b"\x93NUMPY"
_REMEDY: Final = "save an n x n array of integers with numpy.save"

_HEADERS: Final = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def begins(data: bytes) -> bool:
    return data.startswith(_MAGIC)


def read(source: Source) -> Traffic:
    """Shape, type and size of the file are checked before any of the array is read."""
    shape, column_major, dtype, data = _header(source)
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        written = " x ".join(map(str, shape)) or "one number"
        raise source.error(f"an array of {written} is not square", remedy="give n x n bytes")
    if dtype.kind not in "iuf":
        raise source.error(f"entries of type {dtype} are no bytes", remedy=_REMEDY)
    traffic = Traffic(shape[0], source)
    expected = math.prod(shape) * dtype.itemsize
    if len(data) != expected:
        raise source.error(
            f"holds {len(data):,} bytes of entries, its header says {expected:,}", remedy="is the file whole?"
        )
    table = np.frombuffer(data, dtype).reshape(shape, order="F" if column_major else "C")
    if dtype.kind == "f":
        table = table.astype(np.float64)
    _check_entries(source, table)
    for sender, receiver in np.argwhere(table).tolist():
        traffic.add(sender, receiver, int(table[sender, receiver]))
    return traffic


def _header(source: Source) -> tuple[tuple[int, ...], bool, np.dtype[Any], memoryview]:
    stream = io.BytesIO(source.data)
    try:
        read_header = _HEADERS.get(np.lib.format.read_magic(stream))
        with warnings.catch_warnings(action="ignore"):  # of Python's own parser
            header = read_header(stream) if read_header else None
    except Exception:  # whatever NumPy's parser of Python literals raises
        raise source.error("the header of the array is damaged", remedy=_REMEDY) from None
    if header is None:
        raise source.error("this version of .npy is not known", remedy=_REMEDY)
    shape, column_major, dtype = header
    if any(side < 0 for side in shape):
        raise source.error("an array of less than nothing", remedy=_REMEDY)
    return shape, column_major, dtype, memoryview(source.data)[stream.tell() :]


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
