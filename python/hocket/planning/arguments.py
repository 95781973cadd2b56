"""Arguments of the Python API, checked: what a caller can do wrong raises a HocketError with its remedy."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from typing import Final

from hocket import _core
from hocket.errors import UsageError
from hocket.units import MAX_SECONDS, parse_bytes, parse_time

MOST_BYTES: Final = 2**50


@contextmanager
def typed() -> Iterator[None]:
    """Convert the core's input errors to UsageError."""
    try:
        yield
    except _core.InputError as problem:
        raise UsageError(str(problem.args[0])) from None


def path_of(value: str | PathLike[str], what: str) -> str:
    path = fspath(value) if isinstance(value, str | PathLike) else None
    if not isinstance(path, str):
        raise UsageError(f"{what} is {value!r}", remedy="give a str or a pathlib.Path")
    return path


def seconds_of(value: float | str, name: str) -> float:
    seconds = parse_time(value) if isinstance(value, str) else value
    if isinstance(seconds, bool) or not isinstance(seconds, float | int) or not 0 <= seconds <= MAX_SECONDS:
        raise UsageError(
            f"{name} {value!r}", remedy=f"give 0 to {MAX_SECONDS:.0f} seconds, or text such as '5us'"
        )
    return float(seconds)


def size_of(value: int | str | None) -> int:
    if value is None:
        raise UsageError("the demand needs a size", remedy="give bytes=65536, or text such as '64KiB'")
    return whole(parse_bytes(value) if isinstance(value, str) else value, "bytes", 1, MOST_BYTES)


def contributions_of(sizes: Sequence[int], ranks: int) -> list[int]:
    if isinstance(sizes, str | bytes) or not isinstance(sizes, Iterable):
        raise UsageError(f"contributions {sizes!r}", remedy="give a list of sizes, one for each rank")
    checked = [whole(size, f"contribution of rank {rank}", 0, MOST_BYTES) for rank, size in enumerate(sizes)]
    if len(checked) != ranks:
        raise UsageError(f"{len(checked)} contributions for {ranks} ranks", remedy="give one for each rank")
    return checked


def whole(value: int, name: str, least: int, most: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or not least <= number <= most:
        raise UsageError(f"{name} {value!r}", remedy=f"give a whole number from {least} to {most}")
    return number
