"""``hocket calibrate``: what this machine's parts cost, measured once and used from then on."""

import json
from typing import Any, Final

import click

from hocket import _core
from hocket.cli._shared.commands import Choice, Decorator, Whole, command, group, option
from hocket.cli._shared.launching import check_ranks_here, hostfile_option, job_network_option, mpi_option
from hocket.cli._shared.measured import by_ranks
from hocket.cli._shared.options import load_network, memory_option, output_option, plot_option, ranks_option
from hocket.cli._shared.request import parse_size
from hocket.cli._shared.work import (
    as_columns,
    check_writable,
    json_option,
    progress_of,
    tell,
    wants_json,
    write_atomically,
)
from hocket.costs.calibration import Calibration, Figure, Flows, from_json, kept_path, read_file_of
from hocket.costs.model import kept_path as kept_profile
from hocket.costs.model import read_profile
from hocket.errors import UsageError
from hocket.measure.memory import (
    DIFFER,
    MEANINGS,
    WAYS,
    composed,
    cores,
    made_slower,
    transfers,
    usable_memory,
)
from hocket.units import format_bytes, format_rate, format_time


def quick_option(seconds: int) -> Decorator:
    return option("--quick", f"Measure less, in {seconds} s, with less accuracy.")


def show_option(what: str, usual: str) -> Decorator:
    return option("--show FILE", f"Measure nothing and show this {what}.  [default: {usual}]", is_flag=False,
                  flag_value="")  # fmt: skip


@command(
    "hocket calibrate network -n 32 --hostfile hosts --network cluster.toml",
    "hocket calibrate network --show --network cluster.toml --plot costs=costs.svg",
)
@ranks_option(least=2)
@mpi_option
@hostfile_option
@job_network_option("What is wired to what: tells distances and inter-switch links.")
@option("--placement", "How ranks find their hosts: names (processor names) or order (rank i on place i).",
        type=Choice(["names", "order"]), default="names")  # fmt: skip
@quick_option(8)
@output_option("FILE", "File for the calibration.  [default: the one in the user's cache]")
@show_option("calibration", "the one kept for --network")
@plot_option({"costs": "time of a message by its size, and the rate of concurrent flows"})
@json_option
def network(
    source: str | None,
    placement: str,
    quick: bool,
    output: str | None,
    show: str | None,
    plots: tuple[tuple[str, str], ...],
    **job: Any,
) -> None:
    """Measure the costs of messages between hosts, in a minute at most.

    Started as a rank (by 'hocket lab run', srun or mpiexec), it measures in that job. Otherwise it starts -n ranks.
    'hocket plan' and 'hocket simulate' predict by the result."""
    pictures = [file for _, file in plots]
    for path in (output, *pictures):
        check_writable(path)
    description = None
    if source is not None:
        description = load_network(source).description
    if show is not None:
        path = show or str(kept_path(description))
        _tell(read_file_of(path), path, None, pictures)
        return
    path = output or str(kept_path(description))
    what = {"source": source, "placement": placement, "quick": quick}
    if (found := by_ranks("hocket.measure.calibration:work", what, **job)) is not None:
        write_atomically(path, [json.dumps(from_json(found).as_json(), indent=1) + "\n"])
        _tell(from_json(found), path, path, pictures)


def _tell(found: Calibration, path: str, written: str | None, pictures: list[str]) -> None:
    for picture in pictures:
        from hocket.pictures.curves import draw_calibration

        draw_calibration(found, picture)
    tell({"file": path, **found.as_json()}, lambda: _lines(found), indent=2)
    if written is not None and not wants_json():
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


LEAST_MEMORY: Final = 1 << 20


@group("hocket calibrate memory --quick", "hocket calibrate network -n 32 --hostfile hosts")
def calibrate() -> None:
    """Measure the costs of memory and of messages, which predictions use."""


calibrate.add_command(network)


@calibrate.command(
    examples=("hocket calibrate memory", "hocket calibrate memory --show --evaluate 'wC1 o 1S0'")
)
@ranks_option("one for each core", least=2)
@output_option("FILE", "File for the profile.  [default: the one in the user's cache]")
@quick_option(30)
@memory_option("Memory that each rank works on.  [default: by what is free]")
@mpi_option
@show_option("profile", "the one in use")
@option("--evaluate COMPOSITION", "Also print the rate of this composition, such as 'wC1 o 1S0'.")
@option("--width BYTES", "Size of an element in the table.", type=Whole(1, 1 << 20), default=8)
@json_option
def memory(
    ranks: int | None,
    output: str | None,
    quick: bool,
    memory_size: str | None,
    mpi_name: str | None,
    show: str | None,
    evaluate: str | None,
    width: int,
) -> None:
    """Measure memory and messages: the basic transfers of the copy-transfer model.

    All ranks of this host measure at the same time. Permuting and sorting choose their methods by the result.
    """  # fmt: skip
    if evaluate is not None:
        composed(evaluate)  # say what is wrong with it before the long work
    if show is not None:
        profile, where = read_profile(show or None), None
    else:
        profile, where = _measure(ranks, output, quick, memory_size, mpi_name)
    figures = transfers(profile, width)
    rate = None if evaluate is None else composed(evaluate, figures)
    report = {"origin": profile.origin, "width": width, "transfers": figures, "profile": where}
    if rate is not None:
        report["evaluated"] = rate
    evaluated = [] if rate is None else [f"{evaluate} = {rate:.4g} MB/s"]
    tell(report, lambda: [profile.origin, *_transfers(figures, width), *evaluated], indent=2)
    if where is not None and not wants_json():
        click.echo(f"wrote {where}", err=True)


def _measure(
    ranks: int | None, output: str | None, quick: bool, size: str | None, mpi_name: str | None
) -> tuple[_core.memory.Profile, str]:
    from hocket.launch.mpi import find_mpi
    from hocket.measure.memory import calibrate as measure

    check_writable(output)
    check_ranks_here(ranks, None, instead="")
    ranks = ranks or max(cores(), 2)
    usable = usable_memory(ranks, quick)
    memory = usable if size is None else parse_size(size, option="--memory")
    if memory < LEAST_MEMORY or memory > 4 * usable:
        raise UsageError(f"{memory} bytes per rank are too few or too many to measure with",
                         remedy=f"give from 1MiB to {4 * usable >> 20}MiB, or leave it out")  # fmt: skip
    path = output or str(kept_profile())
    mpi = find_mpi(mpi_name)
    with progress_of() as report:
        profile = measure(mpi, ranks, memory, quick, report)
    write_atomically(path, [profile.text()])
    again = "calibrate again when nothing else runs"
    if DIFFER in profile.origin:
        click.echo(f"hocket: warning: many figures {DIFFER}; {again}", err=True)
    for sort, ratio in made_slower(mpi, ranks, memory, path).items():
        click.echo(
            f"hocket: warning: sorting {sort} keys takes {ratio:.1f} times as long by this profile as by the "
            f"built-in figures; {again}, or remove {path}",
            err=True,
        )
    return profile, path


def _transfers(figures: dict[str, float], width: int) -> list[str]:
    basic = [[name, MEANINGS[name], f"{rate:,.0f}"] for name, rate in figures.items()]
    ways = [[what, way, f"{composed(way, figures):,.0f}"] for what, way in WAYS.items()]
    return [
        as_columns(["transfer", f"elements of {width} bytes, out of the caches", "MB/s"], basic),
        "",
        as_columns(["operation", "composition", "MB/s"], ways),
    ]
