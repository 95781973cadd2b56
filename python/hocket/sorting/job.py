"""Starts the ranks that sort files, and hands on what they say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from hocket.launch.job import Job, run_job
from hocket.launch.mpi import Mpi


@dataclass(frozen=True, slots=True)
class FileSort:
    """Input and output of a sort; ``outputs`` are files with their headers, and of their full size.

    ``payload``: a file whose rows move with the keys. ``field``: of records, which then are the payload.
    ``memory``: bytes that may be used on each host; None: what is free.
    """

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

    @classmethod
    def from_message(cls, message: dict[str, Any]) -> Self:
        return cls(**{**message, "steps": tuple(Step(**step) for step in message["steps"])})


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

    Raises HocketError with what the ranks say, or with how they ended if they do not say anything.
    """
    job = Job("hocket.sorting.worker:work", ranks, asdict(files), "all was sorted")
    outcome = run_job(
        job,
        mpi,
        environment,
        lambda now: on_step(now["done"], now["steps"], now["step"]),
        hostfile=hostfile,
        verbose=verbose,
    )
    return Report.from_message(outcome.answer)
