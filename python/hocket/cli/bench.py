"""``hocket bench``: native and scheduled collectives side by side, in one job."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final

import click

from hocket.cli._shared.commands import Collectives, Command, Number, group, option, options
from hocket.cli._shared.launching import (
    check_places,
    check_ranks_here,
    hostfile_option,
    job_network_option,
    mpi_option,
    need_network,
    rank_options,
)
from hocket.cli._shared.measured import MEASURE, check_ranks_given, kept_or_measured
from hocket.cli._shared.options import plot_option, ranks_option
from hocket.cli._shared.request import seed_option
from hocket.cli._shared.work import check_writable, json_option, wants_json, write_atomically
from hocket.demand.collectives import COLLECTIVES, IRREGULAR
from hocket.errors import UsageError
from hocket.launch.environment import RuntimeOptions
from hocket.launch.job import Job, in_a_job, need_mpi4py, run_here, run_job, work_of
from hocket.launch.mpi import Mpi, find_mpi
from hocket.measure.bench_rows import (
    EQUAL_CALLS,
    Row,
    as_csv,
    as_json,
    columns_of,
    comment_lines,
    parse_sizes,
    row_line,
    title_line,
)
from hocket.network import read_network
from hocket.network.chosen import job_hosts
from hocket.system.records import record

if TYPE_CHECKING:
    from mpi4py import MPI

DEFAULT_SIZES: Final = "8:1M"
_WORK: Final = "hocket.measure.bench:work"


@group(
    "hocket bench all-to-all -n 8 --network cluster.toml --sizes 8:1M",
    "srun hocket bench MPI_Alltoallv --density 0.5 --csv times.csv",
    kind=Collectives,
)
def bench() -> None:
    """Measure native and scheduled collectives side by side, in one job.

    Started as a rank (by 'hocket run', 'hocket lab run', srun or mpiexec), it measures in that job. Otherwise it starts
    -n ranks. A collective may be called by its MPI name."""


_options = options(
    option("--sizes SIZES",
           "Message sizes: a list, or a range such as 8:1M (each twice the last) or 8:1M:4 (four times).",
           default=DEFAULT_SIZES),
    ranks_option(),
    option("--time SECONDS", "Time for each size, native and scheduled together.", "seconds",
           type=Number(min=0, max=3600), default=1.0),
    json_option,
    option("--csv FILE", "Write the table as CSV, a line for each size.", "csv_file"),
    plot_option({"times": "time by size, and the ratio of native to scheduled"}),
    mpi_option,
    hostfile_option,
    job_network_option("Network to schedule on. In a job it only gives the bound."),
    rank_options,
)  # fmt: skip


_candidates_option = option("--candidates", "Measure every candidate, and say which one a run would select.")


def _command(name: str, call: str) -> click.Command:
    asks = COLLECTIVES[name].asks
    return click.command(
        name,
        cls=Command,
        help=f"Measure {call}: {asks[0].lower()}{asks[1:]}\n\nSIZE takes each of --sizes.",
        examples=(
            f"hocket bench {name} -n 8 --network cluster.toml",
            f"srun hocket bench {name} --sizes 1K:1M --csv times.csv",
        ),
    )(_candidates_option(_options(lambda **options: _bench(name, **options))))


for _name, _call in EQUAL_CALLS.items():
    bench.add_command(_command(_name, _call))


@bench.command(
    IRREGULAR,
    examples=(
        "hocket bench irregular -n 8 --network cluster.toml --density 0.3",
        "srun hocket bench irregular --sizes 1K:1M --csv times.csv",
    ),
)
@_options
@option("--density SHARE", "Share of the pairs of ranks that exchange a message.", type=Number(min=0, max=1),
        default=1.0)  # fmt: skip
@seed_option
def irregular(**options: Any) -> None:
    """Measure MPI_Alltoallv with random messages of 0.5 to 1.5 times each size."""
    _bench(IRREGULAR, **options)


def _bench(
    pattern: str,
    *,
    sizes: str,
    ranks: int | None,
    csv_file: str | None,
    plots: tuple[tuple[str, str], ...],
    mpi_name: str | None,
    hostfile: str | None,
    source: str | None,
    options: RuntimeOptions,
    **asked: Any,
) -> None:
    what = {"pattern": pattern, "sizes": parse_sizes(sizes), "network": source, **asked}
    if asked.get("candidates") and plots:
        raise UsageError("--candidates and --plot exclude each other", remedy="write a table by --csv")
    for path in (csv_file, *(file for _, file in plots)):
        check_writable(path)
    need_mpi4py()
    os.environ["HOCKET_CHOOSE"] = "off"  # both sides are measured: nothing is left to find out
    output = _Output(csv_file, [file for _, file in plots])
    if in_a_job():
        if source == MEASURE:
            raise UsageError(
                "--network measure starts ranks of its own", remedy="name the file that is kept, or give -n"
            )

        def here(comm: MPI.Intracomm) -> int:
            work_of(_WORK)(comm, what, output.hear)
            return output.ends() if comm.Get_rank() == 0 else 0

        sys.exit(run_here(ranks, here))
    check_ranks_given(ranks)
    ranks = ranks or 0
    need_network(source, options)
    check_ranks_here(ranks, hostfile)
    if source == MEASURE:
        source = what["network"] = kept_or_measured(
            job_hosts(os.environ, hostfile), ranks, mpi_name, hostfile
        )
    mpi = find_mpi(mpi_name)
    outcome = run_job(
        Job(_WORK, ranks, what, "all was measured"), mpi, _environment(mpi, ranks, source, options), output.hear,
        hostfile=hostfile, verbose=options.log > 0,
    )  # fmt: skip
    for warning in dict.fromkeys(line for line in outcome.said if line.startswith("hocket:")):
        click.echo(warning, err=True)  # why nothing is scheduled, say
    if code := output.ends():
        sys.exit(code)


class _Output:
    """Rows as they come; files and the exit code at the end."""

    def __init__(self, csv_file: str | None, plots: list[str]) -> None:
        self._csv, self._plots = csv_file, plots
        self._header: dict[str, Any] = {}
        self._rows: list[Row] = []

    def hear(self, message: dict[str, Any]) -> None:
        """Listen to rank 0: the header, then rows."""
        if "header" in message:
            self._begins(message["header"])
        else:
            self._row(record(Row, message["row"]))

    def _begins(self, header: dict[str, Any]) -> None:
        self._header = header
        if not wants_json():
            click.echo("\n".join([*comment_lines(header), title_line(columns_of(header))]))

    def _row(self, row: Row) -> None:
        self._rows.append(row)
        if not wants_json():
            click.echo(row_line(row, columns_of(self._header)))

    def ends(self) -> int:
        """Writes what is left; returns the exit code."""
        if wants_json():
            click.echo(as_json(self._header, self._rows))
        if self._csv is not None:
            write_atomically(self._csv, [as_csv(self._header, self._rows)])
        for plot in self._plots:
            from hocket.pictures.curves import draw_bench

            subtitle = (
                f"{self._header['MPI']}; ranks: {self._header['Ranks']}; network: {self._header['Network']}"
            )
            draw_bench(self._rows, plot, title=f"hocket {self._header['Hocket']}", subtitle=subtitle)
        if (wrong := next((row for row in self._rows if row.wrong), None)) is None:
            return 0
        click.echo(f"hocket: wrong data with messages of {wrong.bytes} bytes: {wrong.wrong}", err=True)
        return 1


def _environment(mpi: Mpi, ranks: int, source: str | None, options: RuntimeOptions) -> dict[str, str]:
    """Environment with which the ranks follow schedules; empty without a network."""
    from hocket.launch.environment import scheduled_environment

    if source is None:
        return {}
    network = read_network(source)
    check_places(network, source, ranks, options.placement)
    return scheduled_environment(mpi.mpicc, network, options, ranks=ranks)
