"""Starts ranks that measure where this process is none, and listens to what they say."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from typing import Any, Final

from hocket.errors import HocketError, MissingToolError
from hocket.launch import started
from hocket.launch.messages import error_lines, how_it_ended, messages
from hocket.launch.mpi import Mpi, launch_command, mpi4py_environment
from hocket.measure.bench.request import Request
from hocket.measure.bench.statistics import Row

MARK: Final = "hocket-bench:"

# What launchers set in each rank. A batch script of Slurm has a SLURM_PROCID, too, but is no step.
_RANK_VARIABLES: Final = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")


def in_a_job(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a launcher has started this process as a rank."""
    if any(environment.get(name) for name in _RANK_VARIABLES):
        return True
    return bool(environment.get("SLURM_PROCID")) and environment.get("SLURM_STEP_ID", "").isdecimal()


def need_mpi4py() -> None:
    """Raises MissingToolError."""
    if importlib.util.find_spec("mpi4py") is None:
        raise MissingToolError("mpi4py is missing", remedy="pip install 'hocket[mpi4py]'")


def run_job(
    request: Request,
    ranks: int,
    mpi: Mpi,
    environment: Mapping[str, str],
    *,
    begins: Callable[[dict[str, Any]], None],
    on_row: Callable[[Row], None],
    hostfile: str | None = None,
    verbose: bool = False,
) -> None:
    """Measures with ranks of its own. Raises HocketError with what they say, or with how they ended."""
    need_mpi4py()
    what = json.dumps({"ranks": ranks, "request": request.as_dict()})
    worker = [sys.executable, "-m", "hocket.measure.bench.worker", what]
    variables = {**environment, **mpi4py_environment(mpi)}
    command = launch_command(mpi, ranks, (), variables, worker, hostfile=hostfile)
    over = False
    with tempfile.TemporaryFile() as said, started(command, stderr=None if verbose else said) as process:
        for message in messages(process, MARK, verbose):
            if "error" in message:
                raise HocketError(message["error"])
            if "header" in message:
                begins(message["header"])
            elif "row" in message:
                on_row(Row.from_dict(message["row"]))
            else:
                over = True
        code = process.wait()
        if code != 0 or not over:
            raise HocketError(
                how_it_ended(code, said, "all was measured"), remedy="-v shows all that the ranks say"
            )
        for warning in dict.fromkeys(line for line in error_lines(said) if line.startswith("hocket:")):
            print(warning, file=sys.stderr)  # why nothing is scheduled, say
