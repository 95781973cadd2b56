"""Request for a measurement; needs no MPI."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from hocket.demand.collectives import (
    ALL_GATHER,
    ALL_REDUCE,
    ALL_TO_ALL,
    BROADCAST,
    GATHER,
    REDUCE,
    REDUCE_SCATTER,
    SCATTER,
)
from hocket.errors import UsageError
from hocket.units import parse_bytes

MOST_BYTES: Final = 1 << 30  # of a message
_LEAST_FACTOR: Final = 2
_REMEDY: Final = "write a range such as 8:1M or 8:1M:4, or a list such as 8,64,1K"
_BINARY: Final = {"K": 10, "M": 20, "G": 30}
_SHORT: Final = re.compile(r"(\d{1,18})([KMG])", re.IGNORECASE | re.ASCII)


def parse_sizes(text: str) -> tuple[int, ...]:
    """Bytes of a message, for each row of the table: ``8:1M`` doubles, ``8:1M:4`` takes four times as
    much from row to row, ``8,64,1K`` is a list. K, M and G are powers of 1024, as in OSU's
    benchmarks; units such as KiB and MB mean what they mean everywhere. Raises UsageError."""
    if ":" not in text:
        return tuple(dict.fromkeys(_size(word) for word in text.split(",")))
    words = text.split(":")
    if len(words) > 3:
        raise UsageError(f"--sizes {text!r} is not a range", remedy=_REMEDY)
    size, last = _size(words[0]), _size(words[1])
    factor = int(words[2]) if len(words) == 3 and words[2].isdecimal() and len(words[2]) < 10 else 2
    if len(words) == 3 and words[2] != str(factor):
        raise UsageError(f"--sizes {text!r}: {words[2]!r} is not a factor", remedy=_REMEDY)
    if factor < _LEAST_FACTOR:
        raise UsageError(f"--sizes {text!r}: sizes would not grow", remedy="give a factor of at least 2")
    if size > last:
        raise UsageError(f"--sizes {text!r} ends before it begins", remedy=_REMEDY)
    sizes = []
    while size <= last:
        sizes.append(size)
        size *= factor
    return tuple(sizes)


def _size(word: str) -> int:
    short = _SHORT.fullmatch(word.strip())
    if short:
        size = int(short[1]) << _BINARY[short[2].upper()]
    else:
        try:
            size = parse_bytes(word)
        except UsageError as error:
            raise UsageError(f"--sizes: {error.what}", remedy=_REMEDY) from None
    if not 1 <= size <= MOST_BYTES:
        problem = "nothing to send" if size < 1 else "too much for one message"
        raise UsageError(f"--sizes: {word.strip()[:32]} is {problem}", remedy="give sizes from 1 to 1G")
    return size


def irregular_sizes(ranks: int, average: int, density: float, seed: int) -> npt.NDArray[np.int64]:
    """Bytes from each rank (row) to each rank (column): the same on all ranks and machines.

    A pair has a message with probability ``density``; it has 0.5 to 1.5 times ``average`` bytes, and at
    least one. Which pairs these are and by what factor does not depend on ``average``.
    """
    random = np.random.default_rng(seed)
    factors = random.uniform(0.5, 1.5, (ranks, ranks))
    exists = random.random((ranks, ranks)) < density
    return np.where(exists, np.maximum(np.rint(factors * average), 1), 0).astype(np.int64)


# Collectives that are measured, and the call; what is called is in exchanges.py.
EQUAL_CALLS: Final = {
    ALL_TO_ALL: "MPI_Alltoall",
    ALL_GATHER: "MPI_Allgather",
    REDUCE_SCATTER: "MPI_Reduce_scatter_block",
    ALL_REDUCE: "MPI_Allreduce",
    BROADCAST: "MPI_Bcast",
    REDUCE: "MPI_Reduce",
    GATHER: "MPI_Gather",
    SCATTER: "MPI_Scatter",
}


@dataclass(frozen=True, slots=True)
class Request:
    """Measurement to make. ``sizes``: bytes of a message; ``seconds``: for each size, of both together.

    ``candidates``: all that calls are chosen from. ``density`` and ``seed``: of irregular exchanges.
    ``network``: for the bound; else that of the job's plan.
    """

    pattern: str
    sizes: tuple[int, ...]
    seconds: float = 1.0
    density: float = 1.0
    seed: int = 1
    candidates: bool = False
    network: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, request: Mapping[str, Any]) -> Self:
        return cls(**{**request, "sizes": tuple(request["sizes"])})
