"""``hocket record``: what the collective calls of an unmodified MPI program send."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import click

from hocket.cli._shared.commands import command
from hocket.cli._shared.launching import mpi_named
from hocket.cli._shared.options import output_option
from hocket.cli._shared.work import as_columns, check_writable, write_atomically
from hocket.demand.recorded import write
from hocket.errors import HocketError, UsageError
from hocket.launch import exit_code
from hocket.launch.environment import is_disabled
from hocket.launch.mpi import Mpi, find_mpi, with_exports
from hocket.launch.runtime import find_runtime
from hocket.measure.recording import Recording, merge
from hocket.system.signals import as_exceptions
from hocket.units import format_total

MOST_LISTED = 40
PREFIX = ".hocket-record-"


@command(
    "hocket record -o traffic.json -- mpiexec -n 8 ./program",
    "hocket record --mpi mpich -- sh job.sh",
    context_settings={"allow_interspersed_args": False},
)
@output_option("FILE", "File for the traffic. All hosts must see its directory.", default="traffic.json",
               show_default=True)  # fmt: skip
@mpi_named("MPI, if COMMAND does not begin with an mpiexec: mpich, openmpi or a path.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def record(output: str, mpi_name: str | None, command: tuple[str, ...]) -> None:
    """Run COMMAND, such as mpiexec -n 8 PROGRAM, and record the messages of each collective call.

    'hocket plan irregular --demand FILE:CALL' plans one of the calls. The exit code is that of COMMAND."""
    check_writable(output)
    if is_disabled(os.environ):
        raise UsageError("HOCKET_DISABLE=1: no call would be recorded", remedy="unset HOCKET_DISABLE")
    launcher = _launcher(command[0])
    mpi = find_mpi(mpi_name) if mpi_name else launcher
    if mpi is None:
        raise UsageError(f"{command[0] or repr(command[0])} is not a launcher of MPICH or Open MPI",
                         remedy="begin with an mpiexec, or give --mpi")  # fmt: skip
    # A plan in the environment is followed, by all ranks alike; without one calls are only recorded.
    variables = find_runtime(mpi.mpicc).environment() | {"HOCKET_PLAN": os.environ.get("HOCKET_PLAN", "")}
    beside = Path(output).absolute().parent
    # Ranks that are killed may still write while the directory goes.
    with (
        as_exceptions(),
        tempfile.TemporaryDirectory(prefix=PREFIX, dir=beside, ignore_cleanup_errors=True) as folder,
    ):
        variables["HOCKET_RECORD"] = folder
        told = with_exports(mpi, command, variables) if launcher else list(command)
        code = exit_code(told, {**os.environ, **({} if launcher else variables)})
        try:
            recording = merge(Path(folder))
        except HocketError:
            if code:
                sys.exit(code)  # the command has said why
            raise
    write_atomically(output, write(recording.ranks, recording.calls))
    _tell(recording, output)
    sys.exit(code)


def _launcher(name: str) -> Mpi | None:
    """The MPI of a launcher, as a shell would find it under this name."""
    path = shutil.which(name)
    try:
        return find_mpi(path) if path else None
    except UsageError:
        return None


def _tell(recording: Recording, output: str) -> None:
    """Print a summary on standard error, since standard output is the program's."""
    calls = recording.calls
    rows = [
        [number, call.operation, len(call.members), call.messages, format_total(call.bytes), call.repeated]
        for number, call in enumerate(calls[:MOST_LISTED], 1)
    ]
    lines = [as_columns(["call", "operation", "ranks", "messages", "bytes", "times"], rows)] if rows else []
    if len(calls) > MOST_LISTED:
        lines.append(f"and {len(calls) - MOST_LISTED} more")
    lines += [f"hocket: {remark}" for remark in recording.remarks]
    lines.append(f"wrote {output}; plan with: hocket plan irregular --network NETWORK --demand {output}:1")
    click.echo("\n".join(lines), err=True)
