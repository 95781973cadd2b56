"""NumPy's ``.npy``: an n × n array of integers, or of floats that are whole. No pickles."""

from __future__ import annotations

import io
from typing import Final

import numpy as np

from hocket.demand.arrays import check_form, of_table
from hocket.demand.npy_header import MAGIC, read_header
from hocket.demand.source import Source
from hocket.demand.traffic import Traffic

_REMEDY: Final = "save an n x n array of integers with numpy.save"


def begins(data: bytes) -> bool:
    return data.startswith(MAGIC)


def read(source: Source) -> Traffic:
    """Shape, type and size of the file are checked before any of the array is read."""
    try:
        header = read_header(io.BytesIO(source.data))
    except ValueError as error:
        raise source.error(str(error), remedy=_REMEDY) from None
    check_form(source, header.shape, header.dtype, _REMEDY)
    held = len(source.data) - header.offset
    if held != header.nbytes:
        raise source.error(
            f"holds {held:,} bytes of entries, its header says {header.nbytes:,}", remedy="is the file whole?"
        )
    table = np.frombuffer(source.data, header.dtype, offset=header.offset)
    return of_table(source, table.reshape(header.shape, order="F" if header.column_major else "C"), _REMEDY)
