"""Starts ranks that measure where this process is none, and hands on what they say."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from hocket.launch.job import Job, run_job
from hocket.launch.mpi import Mpi
from hocket.measure.bench.request import Request
from hocket.measure.bench.statistics import Row


def measured_by(
    mpi: Mpi,
    ranks: int,
    request: Request,
    environment: Mapping[str, str],
    *,
    begins: Callable[[dict[str, Any]], None],
    on_row: Callable[[Row], None],
    hostfile: str | None = None,
    verbose: bool = False,
) -> None:
    """Measures with ranks of its own. Raises HocketError with what they say, or with how they ended."""

    def hear(message: dict[str, Any]) -> None:
        if "header" in message:
            begins(message["header"])
        else:
            on_row(Row.from_dict(message["row"]))

    job = Job("hocket.measure.bench.worker", ranks, request.as_dict(), "all was measured")
    outcome = run_job(job, mpi, environment, hear, hostfile=hostfile, verbose=verbose)
    for warning in dict.fromkeys(line for line in outcome.said if line.startswith("hocket:")):
        print(warning, file=sys.stderr)  # why nothing is scheduled, say
