"""Starts the ranks that sort, and listens to what they say.

Ranks talk on standard output, which every launcher brings here: one JSON object per line behind a mark.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from hocket.errors import HocketError, MissingToolError
from hocket.launch import started
from hocket.launch.messages import how_it_ended, messages
from hocket.launch.mpi import Mpi, launch_command, mpi4py_environment

MARK: Final = "hocket-sort:"

Tell = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Job:
    """What to sort, and where to; ``outputs`` are files with their headers, and of their full size.

    ``payload``: a file whose rows move with the keys. ``field``: of records, which then are the payload.
    ``memory``: bytes that may be used on each host; None: what is free.
    """

    ranks: int
    keys: str
    keys_output: str
    field: str | None = None
    payload: str | None = None
    payload_output: str | None = None
    method: str = "auto"
    memory: int | None = None

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        return cls(**json.loads(text))


@dataclass(frozen=True, slots=True)
class Step:
    """Seconds of the slowest rank; ``predicted`` is None where no model tells."""

    name: str
    seconds: float
    predicted: float | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What a sort did. ``bytes``: of keys and payload. ``imbalance``: most rows on a rank over the mean."""

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


def run_job(
    job: Job,
    mpi: Mpi,
    environment: Mapping[str, str],
    *,
    hostfile: str | None = None,
    on_step: Callable[[str, int, int], None] = lambda name, done, steps: None,
    verbose: bool = False,
) -> Report:
    """Sorts, and calls ``on_step`` with the last step, how many are done, and of how many.

    Raises HocketError with what the ranks say, or with how they ended if they do not say anything.
    """
    if importlib.util.find_spec("mpi4py") is None:
        raise MissingToolError("mpi4py is missing", remedy="pip install 'hocket[mpi4py]'")
    worker = [sys.executable, "-m", "hocket.sorting.worker", job.to_json()]
    variables = {**environment, **mpi4py_environment(mpi)}
    command = launch_command(mpi, job.ranks, (), variables, worker, hostfile=hostfile)
    report = None
    with tempfile.TemporaryFile() as said, started(command, stderr=None if verbose else said) as process:
        for message in messages(process, MARK, verbose):
            if "error" in message:
                raise HocketError(message["error"])
            if "report" in message:
                report = Report.from_message(message["report"])
            else:
                on_step(message["step"], message["done"], message["steps"])
        code = process.wait()
        if code != 0 or report is None:
            raise HocketError(
                how_it_ended(code, said, "all was sorted"), remedy="-v shows all that the ranks say"
            )
    return report
