"""Request for a measurement; needs no MPI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

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
