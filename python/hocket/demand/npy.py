"""Traffic in NumPy's .npy format, and the headers of such files."""

import io
import math
import warnings
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

import numpy as np

from hocket.demand.arrays import check_form, of_table
from hocket.demand.traffic import Source, Traffic

MAGIC: Final = b"\x93NUMPY"

_READERS: Final = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


@dataclass(frozen=True, slots=True)
class Header:
    """Type and shape of an array, and its offset in the file, in bytes."""

    shape: tuple[int, ...]
    column_major: bool
    dtype: np.dtype[Any]
    offset: int

    @property
    def nbytes(self) -> int:
        """Size of the array, in bytes."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(stream: BinaryIO) -> Header:
    """The header at the beginning of ``stream``, which then stands at the array.

    Raises ValueError with what is wrong. Whether the array is all there is the caller's to check."""
    try:
        read = _READERS.get(np.lib.format.read_magic(stream))
        with warnings.catch_warnings(action="ignore"):  # of Python's own parser
            header = read(stream) if read else None
    except Exception:  # whatever NumPy's parser of Python literals raises
        raise ValueError("the header of the array is damaged") from None
    if header is None:
        raise ValueError("this version of .npy is not known")
    shape, column_major, dtype = header
    if any(side < 0 for side in shape):
        raise ValueError("the array has a negative size")
    return Header(shape, column_major, dtype, stream.tell())


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
    if (held := len(source.data) - header.offset) != header.nbytes:
        raise source.error(
            f"holds {held:,} bytes of entries, its header says {header.nbytes:,}", remedy="is the file whole?"
        )
    table = np.frombuffer(source.data, header.dtype, offset=header.offset)
    return of_table(source, table.reshape(header.shape, order="F" if header.column_major else "C"), _REMEDY)
