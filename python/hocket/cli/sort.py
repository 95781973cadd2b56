"""``hocket-sort``: the rows of a file, sorted by MPI ranks: a program of its own, as its library is."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from hocket.cli import main as run_program
from hocket.cli._shared.commands import Choice, Command, command, named, option, with_completion
from hocket.cli._shared.failure import Refusing
from hocket.cli._shared.launching import (
    check_places,
    check_ranks_here,
    hostfile_option,
    job_network_option,
    mpi_option,
    need_network,
    rank_options,
)
from hocket.cli._shared.options import defaults_options, load_network, memory_option, ranks_option, say_rates
from hocket.cli._shared.work import as_columns, check_writable, json_option, progress_of, tell
from hocket.errors import HocketError, UsageError
from hocket.launch.environment import RuntimeOptions
from hocket.launch.mpi import Mpi, find_mpi
from hocket.launch.runtime import find_sort
from hocket.measure.memory import cores
from hocket.network import Defaults
from hocket.network.chosen import job_hosts
from hocket.system.files import as_error, real_path, replaced
from hocket.system.signals import as_exceptions
from hocket.units import format_time, format_total, parse_bytes

if TYPE_CHECKING:
    from hocket.sorting.job import ArrayFile, Report

METHODS: Final = ("auto", "radix", "sample")
FIRST_TOUCH: Final = "first touch"  # sort/mpi/sort/sort.hpp


class _Program(Refusing, Command):
    """The command, which begins a command line."""


@command(
    "hocket-sort keys.npy sorted.npy -n 8",
    "hocket-sort events.npy events.npy -n 8 --key time --report",
    kind=_Program,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@ranks_option("one for each core")
@option("--payload IN2.npy OUT2.npy", "Rows of IN2 move with their keys and are written to OUT2.", nargs=2)
@option("--key FIELD", "Sort records by this field. Records move as a whole.", "field")
@option("--method", "How to sort.", type=Choice(METHODS), default="auto")
@memory_option("Memory for all ranks of a host together.  [default: what is free]")
@option("--report", "Print the measured and the predicted time of each step.", "with_report")
@json_option
@mpi_option
@hostfile_option
@job_network_option("Schedule the messages on this network.")
@defaults_options
@rank_options
@click.argument("source_file", metavar="IN.npy")
@click.argument("output", metavar="OUT.npy")
def sort(
    ranks: int | None,
    payload: tuple[str, str] | None,
    field: str | None,
    method: str,
    memory_size: str | None,
    with_report: bool,
    mpi_name: str | None,
    hostfile: str | None,
    source: str | None,
    defaults: Defaults,
    options: RuntimeOptions,
    source_file: str,
    output: str,
) -> None:
    """Sort the keys in IN.npy with MPI ranks and write them to OUT.npy, which may be the same file.

    Equal keys keep their order. NaN come last. All hosts must see both files."""
    from hocket.sorting.job import FileSort, sorted_by

    need_network(source, options)
    limit = named("--memory", parse_bytes, memory_size) if memory_size is not None else None
    check_ranks_here(ranks, hostfile)
    ranks = ranks or cores()
    files = _check(source_file, output, field, payload)
    mpi = find_mpi(mpi_name)
    environment = _environment(mpi, ranks, source, hostfile, defaults, options)
    with as_exceptions(), _outputs(files) as places, progress_of() as on_step:
        what = FileSort(
            keys=source_file, keys_output=places[0], field=field, payload=payload[0] if payload else None,
            payload_output=places[1] if payload else None, method=method, memory=limit,
        )  # fmt: skip
        report = sorted_by(
            mpi, ranks, what, environment, hostfile=hostfile, on_step=on_step, verbose=options.log > 0
        )
    tell(asdict(report), lambda: [_summary(report, with_report)], indent=2)


with_completion(sort)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs ``hocket-sort``; returns the exit code."""
    return run_program(arguments, sort, "hocket-sort")


def _check(
    source: str, output: str, field: str | None, payload: tuple[str, str] | None
) -> list[tuple[ArrayFile, str]]:
    """Check the options. Returns the files whose types the outputs take, each with its output path. Raises
    UsageError."""
    from hocket.sorting.job import ArrayFile, check_keys

    keys = ArrayFile.open(source)
    check_keys(keys, field)
    files = [(keys, output)]
    if payload:
        if field is not None:
            raise UsageError("records move as a whole", remedy="leave out --key or --payload")
        rows = ArrayFile.open(payload[0])
        if rows.rows != keys.rows:
            raise UsageError(f"{source} has {keys.rows:,} keys, {payload[0]} has {rows.rows:,} rows",
                             remedy="give one row per key")  # fmt: skip
        files.append((rows, payload[1]))
    for _, path in files:
        check_writable(path, in_place=True)
        if Path(path).exists() and not stat.S_ISREG(Path(path).stat().st_mode):
            raise UsageError(f"cannot write {path}: it is not a regular file", remedy="choose another place")
    if payload and real_path(output) == real_path(payload[1]):
        raise UsageError(f"keys and rows cannot both go to {output}", remedy="name two files")
    return files


def _environment(
    mpi: Mpi,
    ranks: int,
    source: str | None,
    hostfile: str | None,
    defaults: Defaults,
    options: RuntimeOptions,
) -> dict[str, str]:
    """Environment with which the ranks follow schedules; empty without a network. Compiles the sort library
    if needed."""
    from hocket.launch.environment import scheduled_environment

    if source is None:
        find_sort(mpi.mpicc)
        return {}
    known = load_network(source, defaults, hosts=job_hosts(os.environ, hostfile))
    options = options.completed(os.environ)
    check_places(known.network, source, ranks, options.placement)
    find_sort(mpi.mpicc)
    environment = scheduled_environment(mpi.mpicc, known, options, ranks=ranks)
    say_rates(known)
    return environment


@contextmanager
def _outputs(files: list[tuple[ArrayFile, str]]) -> Iterator[list[str]]:
    """Files of full size with nothing but their headers, which take their places when the block ends well."""
    with ExitStack() as stack:
        places = []
        for file, path in files:
            with as_error(f"cannot write {path}", "choose another place"):
                places.append(place := stack.enter_context(replaced(Path(path))))
                if (free := shutil.disk_usage(place.parent).free) < file.nbytes:
                    raise HocketError(
                        f"{path} will have {format_total(file.nbytes)}, its file system has room for "
                        f"{format_total(free)}",
                        remedy="choose another place or make room",
                    )
                with place.open("wb") as empty:
                    empty.write(file.header())
                    empty.truncate(file.offset + file.nbytes)
        yield [str(place) for place in places]


def _summary(report: Report, with_steps: bool) -> str:
    method = f"{report.method} sort" if report.rows else "nothing to do"
    line = (
        f"sorted {report.rows:,} rows ({format_total(report.bytes)}) with {report.ranks} ranks "
        f"in {format_time(report.seconds, 3)}: {method}, imbalance {report.imbalance:.3f}"
    )
    if not with_steps:
        return line
    sorting = [step for step in report.steps if step.predicted is not None]
    rows = [_cells(step.name, step.seconds, step.predicted, report.bytes) for step in report.steps]
    if sorting:
        predicted = sum(step.predicted for step in sorting if step.predicted is not None)
        rows.append(_cells("sort, all steps", sum(step.seconds for step in sorting), predicted, report.bytes))
    lines = [as_columns(["step", "time", "MB/s", "predicted", "error"], rows)]
    if any(step.name == FIRST_TOUCH for step in sorting):
        lines.append(f"{FIRST_TOUCH}: memory that ranks share is made; later sorts of the same job find it")
    return "\n".join([*lines, line])


def _cells(name: str, seconds: float, predicted: float | None, size: int) -> list[str]:
    """A row of the table of steps."""
    told = [name, format_time(seconds, 3), f"{size / seconds / 1e6:.3g}" if seconds > 0 else ""]
    if predicted is None or seconds == 0:
        return [*told, "", ""]
    return [*told, format_time(predicted, 3), f"{predicted / seconds - 1:+.0%}"]
