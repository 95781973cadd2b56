"""The header of NumPy's ``.npy`` files. Nothing in it is trusted, and nothing is unpickled."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

import numpy as np

MAGIC: Final = b"\x93NUMPY"

_READERS: Final = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


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

    Raises ValueError with what is wrong. Whether the array is all there is the caller's to check.
    """
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
