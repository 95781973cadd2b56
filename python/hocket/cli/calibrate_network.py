"""``hocket calibrate network``: what messages cost, measured once and used for predictions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from hocket.cli._shared.commands import Command
from hocket.cli._shared.launching import check_ranks_here, hostfile_option, mpi_option
from hocket.cli._shared.options import json_option
from hocket.cli._shared.plots import plot_option
from hocket.cli._shared.usage import Whole
from hocket.cli._shared.work import as_columns, check_writable, progress_of, write_atomically
from hocket.errors import UsageError
from hocket.units import format_bytes, format_rate, format_time

if TYPE_CHECKING:
    from mpi4py import MPI

    from hocket.costs.calibration import Calibration, Figure, Flows


@click.command(
    cls=Command,
    examples=(
        "hocket calibrate network -n 32 --hostfile hosts --network cluster.toml",
        "hocket calibrate network --show --network cluster.toml --plot costs=costs.svg",
    ),
)
@click.option("-n", "ranks", type=Whole(min=2), metavar="RANKS", help="Number of ranks to start.")
@mpi_option
@hostfile_option
@click.option(
    "--network",
    "source",
    metavar="NETWORK",
    help="What is wired to what: tells distances and inter-switch links.",
)
@click.option("--placement", type=click.Choice(["names", "order"]), default="names", show_default=True,
              help="How ranks find their hosts: names (processor names) or order (rank i on place i).")  # fmt: skip
@click.option("--quick", is_flag=True, help="Measure less, in 8 s, with less accuracy.")
@click.option(
    "-o", "--output", metavar="FILE", help="File for the calibration.  [default: the one in the user's cache]"
)
@click.option("--show", metavar="FILE", is_flag=False, flag_value="",
              help="Measure nothing and show this calibration.  [default: the one kept for --network]")  # fmt: skip
@plot_option({"costs": "time of a message by its size, and the rate of concurrent flows"})
@json_option
def network(
    ranks: int | None,
    mpi_name: str | None,
    hostfile: str | None,
    source: str | None,
    placement: str,
    quick: bool,
    output: str | None,
    show: str | None,
    plots: tuple[tuple[str, str], ...],
    as_json: bool,
) -> None:
    """Measure the costs of messages between hosts, in a minute at most.

    Started as a rank (by 'hocket lab run', srun or mpiexec), it measures in that job. Otherwise it starts -n ranks.
    'hocket plan' and 'hocket simulate' predict by the result.
    """
    from hocket.costs.kept import kept_path, read_file_of
    from hocket.launch.job import in_a_job, need_mpi4py, run_here

    pictures = [file for _, file in plots]
    for path in (output, *pictures):
        check_writable(path)
    description = None
    if source is not None:
        from hocket.cli._shared.options import load_network

        description = load_network(source, quiet=True).description
    if show is not None:
        path = show or str(kept_path(description))
        _tell(read_file_of(path), path, None, pictures, as_json)
        return
    need_mpi4py()
    path = output or str(kept_path(description))
    if in_a_job():

        def work(comm: MPI.Intracomm) -> Calibration | None:
            from hocket.measure.calibration.measure import measure

            return measure(comm, source, placement, quick, lambda at, of, now: None)

        here = run_here(ranks, work)
        if here is not None:
            _keep(here, path, pictures, as_json)
        return
    if ranks is None:
        raise UsageError(
            "-n is missing", remedy="give the number of ranks, or start it as the program of a job"
        )
    check_ranks_here(ranks, hostfile)
    from hocket.launch.mpi import find_mpi
    from hocket.measure.calibration.job import measured_by

    with progress_of(as_json) as say:
        found = measured_by(find_mpi(mpi_name), ranks, hostfile, source, placement, quick, say)
    _keep(found, path, pictures, as_json)


def _keep(found: Calibration, path: str, pictures: list[str], as_json: bool) -> None:
    write_atomically(path, [json.dumps(found.as_json(), indent=1) + "\n"])
    _tell(found, path, path, pictures, as_json)


def _tell(found: Calibration, path: str, written: str | None, pictures: list[str], as_json: bool) -> None:
    for picture in pictures:
        from hocket.pictures.calibration import draw_calibration

        draw_calibration(found, picture)
    if as_json:
        click.echo(json.dumps({"file": path, **found.as_json()}, indent=2))
        return
    click.echo("\n".join(_lines(found)))
    if written is not None:
        click.echo(f"wrote {written}", err=True)


def _lines(found: Calibration) -> list[str]:
    rate = "" if found.host_rate is None else f", links of {format_rate(found.host_rate)}"
    lines = [
        f"{found.date}, {found.mpi}: {found.ranks} ranks on {found.hosts} hosts, {found.cores} cores each{rate}",
        "",
    ]
    rows: list[list[Any]] = [
        [one.name, _shown(one.send), _shown(one.receive), format_time(one.latency, 3),
         format_rate(1 / one.per_byte, 3)]
        for one in found.classes
    ]  # fmt: skip
    lines += [as_columns(["distance", "send", "receive", "latency", "rate of long messages"], rows), ""]
    sizes = sorted({transfer.bytes for one in found.classes for transfer in one.transfers})
    rows = []
    for one in found.classes:
        known = {transfer.bytes: transfer.seconds for transfer in one.transfers}
        rows.append([one.name, *(_shown(known[size]) if size in known else "-" for size in sizes)])
    lines += [as_columns(["a message", *map(format_bytes, sizes)], rows), ""]
    lines.append(f"sent before the receiver asks: up to {format_bytes(found.eager)}")
    lines.append(
        f"a token: {_shown(found.token)}, while all exchange {format_bytes(found.token_bytes)} "
        f"{_shown(found.token_loaded)}"
    )
    lines.append(
        f"all at once: {format_rate(1 / max(found.per_byte_loaded, 1e-15), 3)} each; MPI_Sendrecv of a byte "
        f"{_shown(found.sendrecv)}"
    )
    for what, flows in (
        ("into one host", found.host_flows),
        ("over one inter-switch link", found.switch_link_flows),
    ):
        if flows:
            lines += ["", _flow_table(what, flows)]
    if found.memory is not None:
        copied = found.memory.get("1C1", 0.0)
        lines += ["", f"memory: {copied:,.0f} MB/s copied in a row ({found.memory_origin})"]
    if found.left_out:
        lines.append(f"{found.left_out} figures left out for want of time")
    return [*lines, f"measured in {found.seconds:.1f} s"]


def _shown(figure: Figure) -> str:
    return f"{format_time(figure.median, 3)} ± {100 * figure.spread:.0f} %"


def _flow_table(what: str, flows: tuple[Flows, ...]) -> str:
    counts = sorted({one.flows for one in flows})
    rows = []
    for size in sorted({one.bytes for one in flows}):
        parts = {one.flows: f"{100 * one.part:.0f} %" for one in flows if one.bytes == size}
        rows.append([f"{format_bytes(size)} each", *(parts.get(count, "-") for count in counts)])
    return as_columns([f"flows {what}", *map(str, counts)], rows)
