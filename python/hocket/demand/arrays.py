"""Tables of traffic in memory, and the numbers in them."""

import math
import re
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hocket.demand.traffic import Source, Traffic
from hocket.units import MOST_BYTES

_PLAIN: Final = re.compile(r"[0-9]{1,18}")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eEdD][+-]?[0-9]+)?")
_NOT_FINITE: Final = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
LONGEST: Final = 64


def problem_of(value: float) -> str:
    """Reason why a number is not a size, as the end of an error message; empty if it is one."""
    if not math.isfinite(value):
        return "is not a number of bytes"
    if value < 0:
        return "is negative"
    if value != math.floor(value):
        return "is not a whole number of bytes"
    return "is more than 2^63 - 1 bytes" if value > MOST_BYTES else ""


def whole_number(text: str) -> int | str:
    """The size that ``text`` says, or how a message about it goes on."""
    if _PLAIN.fullmatch(text):
        return int(text)
    if _NOT_FINITE.fullmatch(text):
        return "is not a number of bytes"
    if len(text) > LONGEST or not _NUMBER.fullmatch(text):
        return "is not a number"
    value = int(text) if text.lstrip("+-").isdecimal() else float(text.lower().replace("d", "e"))
    if value == math.inf:
        return "is more than 2^63 - 1 bytes"
    return problem_of(value) or int(value)


_REMEDY: Final = "give an n x n array of integers: the bytes from each rank to each"


def traffic_of(matrix: Any) -> Traffic:
    """The messages of a square matrix: entry [i, j] is the bytes that rank i sends to rank j.

    ``matrix``: a numpy array, nested lists, or a sparse array or matrix of scipy in any format. Raises
    :class:`hocket.errors.DemandError`."""
    source = Source("the matrix", b"")
    if hasattr(matrix, "tocoo") and hasattr(matrix, "nnz"):
        return _of_sparse(source, matrix)
    try:
        table = np.asarray(matrix)
    except ValueError:
        raise source.error("its rows differ in length", remedy=_REMEDY) from None
    return of_table(source, table, _REMEDY)


def of_table(source: Source, table: NDArray[Any], remedy: str) -> Traffic:
    """The messages of a dense matrix; what is wrong with it is told of ``source``."""
    check_form(source, table.shape, table.dtype, remedy)
    traffic = Traffic(table.shape[0], source)
    if table.dtype.kind == "f":
        table = table.astype(np.float64)
    senders, receivers = np.nonzero(table)
    _add(traffic, senders, receivers, table[senders, receivers])
    return traffic


def check_form(source: Source, shape: tuple[int, ...], dtype: np.dtype[Any], remedy: str) -> None:
    """Refuses what is not a square matrix of numbers."""
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        written = " x ".join(map(str, shape)) or "one number"
        raise source.error(f"an array of {written} is not square", remedy="give n x n bytes")
    if dtype.kind not in "iuf":
        raise source.error(f"entries of type {dtype} are not real numbers", remedy=remedy)


def _of_sparse(source: Source, matrix: Any) -> Traffic:
    check_form(source, matrix.shape, matrix.dtype, _REMEDY)
    entries = matrix.tocsr(copy=True)
    entries.sum_duplicates()
    entries = entries.tocoo()
    values = entries.data.astype(np.float64) if matrix.dtype.kind == "f" else entries.data
    traffic = Traffic(matrix.shape[0], source)
    _add(traffic, entries.row, entries.col, values)
    return traffic


def _add(traffic: Traffic, senders: NDArray[Any], receivers: NDArray[Any], sizes: NDArray[Any]) -> None:
    """Message i takes ``sizes[i]`` bytes from ``senders[i]`` to ``receivers[i]``."""
    bad = (sizes < 0) | (sizes > MOST_BYTES)
    if sizes.dtype.kind == "f":
        bad |= ~np.isfinite(sizes) | (sizes != np.floor(sizes))
    for index in np.flatnonzero(bad)[:1]:
        entry = sizes[index].item()
        raise traffic.source.error(
            f"entry [{senders[index]}, {receivers[index]}] is {entry}, which {problem_of(entry)}",
            remedy="give whole numbers of bytes",
        )
    for sender, receiver, size in zip(senders.tolist(), receivers.tolist(), sizes.tolist(), strict=True):
        traffic.add(sender, receiver, int(size))
