"""``hocket plan``: a schedule, its proof and its plan file."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hocket.cli.options import (
    ALL_GATHER,
    ALL_TO_ALL,
    bytes_option,
    defaults_options,
    gather_bytes_option,
    json_option,
    load_network,
    network_option,
    parse_size,
    plan_exchange,
    plan_gather,
    scheduler_option,
    startup_option,
    window_option,
)
from hocket.cli.work import check_writable, with_spinner, write_atomically
from hocket.errors import UsageError
from hocket.units import format_bytes, format_time

if TYPE_CHECKING:
    from hocket._core import Network, Schedule
    from hocket.planning import PlannedExchange

F = TypeVar("F", bound=Callable[..., Any])

HEADER = b"phase,src,dst,origin,target,offset,length\n"
PHASES_AT_ONCE = 4096
ROW_PHASES_AT_ONCE = 64
MOST_ROWS = 20


@click.group()
def plan() -> None:
    """Plan an exchange."""


def _output_option(function: F) -> F:
    return click.option("-o", "--output", metavar="PLAN", help="Write the plan file.")(function)


def _dump_option(function: F) -> F:
    return click.option(
        "--dump", metavar="FILE.csv", help="Write every transfer of the schedule as CSV."
    )(function)  # fmt: skip


def _rank_option(help: str) -> Callable[[F], F]:
    return click.option("--rank", type=click.IntRange(0), metavar="R", help=help)


@plan.command("all-to-all")
@network_option()
@bytes_option
@_output_option
@scheduler_option
@window_option
@_dump_option
@_rank_option("Only what rank R sends and receives, at any size.")
@defaults_options
@json_option
def all_to_all(
    source: str,
    size: str,
    output: str | None,
    scheduler: str,
    window: int,
    dump: str | None,
    rank: int | None,
    rate: str | None,
    latency: str | None,
    ranks_per_host: int | None,
    as_json: bool,
) -> None:
    """Every rank has a different message of SIZE for every other rank.

    Prints what was planned and verified. With --rank R nothing but the row of that rank is computed, which
    takes a second for 100,000 hosts.
    """
    _check_outputs(output, dump, rank)
    network = load_network(source, rate, latency, ranks_per_host, as_json)
    if rank is not None:
        _row(network, rank, size, scheduler, dump, as_json)
        return
    planned = plan_exchange(network, size, scheduler, window, as_json)
    _finish(planned, output, dump, as_json)


@plan.command("all-gather")
@network_option()
@gather_bytes_option
@click.option("--contributions", metavar="FILE",
              help="What each rank contributes: a size per line, or with commas between them.")  # fmt: skip
@startup_option("What a message costs its sender; schedules trade messages for bytes by it. [0]")
@_output_option
@scheduler_option
@window_option
@_dump_option
@_rank_option("Only what rank R sends and receives.")
@defaults_options
@json_option
def all_gather(
    source: str,
    size: str | None,
    contributions: str | None,
    startup: str,
    output: str | None,
    scheduler: str,
    window: int,
    dump: str | None,
    rank: int | None,
    rate: str | None,
    latency: str | None,
    ranks_per_host: int | None,
    as_json: bool,
) -> None:
    """Every rank contributes SIZE, and every rank gets all contributions.

    Prints what was planned and verified. A message may carry the contributions of several ranks, and ranks
    forward what has reached them. With --rank R the row of that rank is shown.
    """
    _check_outputs(output, dump, rank)
    network = load_network(source, rate, latency, ranks_per_host, as_json)
    if rank is not None and rank >= network.ranks:
        raise UsageError(f"there is no rank {rank}",
                         remedy=f"the network has ranks 0 to {network.ranks - 1}")  # fmt: skip
    planned = plan_gather(network, size, scheduler, window, contributions, startup, as_json)
    if rank is not None:
        _row_of(planned, rank, dump, as_json)
        return
    _finish(planned, output, dump, as_json)


def _check_outputs(output: str | None, dump: str | None, rank: int | None) -> None:
    check_writable(output)
    check_writable(dump)
    if rank is not None and output is not None:
        raise UsageError(
            "a plan file holds the rows of all ranks", remedy="use --dump with --rank, or leave --rank"
        )


def _finish(planned: PlannedExchange, output: str | None, dump: str | None, as_json: bool) -> None:
    """Writes what was asked for and says what was planned."""
    if output is not None:
        data = with_spinner("encoding the plan", planned.plan().encode, as_json)
        write_atomically(output, [data])
    if dump is not None:
        lines = dump_lines(planned.schedule)
        with_spinner(f"writing {dump}", lambda: write_atomically(dump, lines), as_json)
    click.echo(json.dumps(planned.report()) if as_json else describe(planned))
    if not as_json:
        for path in (output, dump):
            if path is not None:
                click.echo(f"wrote {path}")


def dump_lines(schedule: Schedule) -> Iterator[bytes]:
    yield HEADER
    for first in range(0, schedule.phases, PHASES_AT_ONCE):
        yield schedule.csv(first, first + PHASES_AT_ONCE)


def row_lines(schedule: Schedule, rank: int) -> Iterator[bytes]:
    """The lines that rank sends or receives."""
    me = str(rank).encode()
    yield HEADER
    for first in range(0, schedule.phases, ROW_PHASES_AT_ONCE):
        lines = schedule.csv(first, first + ROW_PHASES_AT_ONCE).splitlines(keepends=True)
        yield b"".join(line for line in lines if me in line.split(b",", 3)[1:3])


def describe(planned: PlannedExchange) -> str:
    certificate, waits = planned.certificate, planned.waits
    transfers = len(planned.schedule)
    verdict = "verified" if certificate.ok else "REFUSED by the verifier"
    share = f", ratio {planned.ratio:.3f}"
    gather = planned.demand.pattern == ALL_GATHER
    lines = [
        _headline(planned),
        f"phases      {planned.schedule.phases}, bound {planned.bound_phases}{'' if gather else share}",
        f"time        {format_time(planned.predicted_seconds, 4)} predicted, "
        f"bound {format_time(planned.bound_seconds, 4)}{share if gather else ''}",
        f"waits       {len(waits)} of {waits.derived} left after reduction, window {waits.window}"
        + (f", {len(waits) / transfers:.2f} per message" if transfers else ""),
        f"schedule    {verdict}: {'' if certificate.contention_free else 'NOT '}contention-free, "
        f"{'complete' if certificate.complete else 'NOT complete'}",
        f"took        {planned.plan_seconds:.3f} s to plan, {planned.verify_seconds:.3f} s to verify",
    ]
    lines += [f"            {text} (phase {phase})" for _, phase, text in certificate.findings[:3]]
    return "\n".join(lines)


def _headline(planned: PlannedExchange) -> str:
    demand = planned.demand
    if demand.pattern != ALL_GATHER:
        return (
            f"all-to-all of {planned.network.ranks} ranks, {demand.messages} messages of "
            f"{format_bytes(demand.bytes)}, by '{planned.scheduler}'"
        )
    what = f"{format_bytes(demand.bytes)} from each"
    if demand.contributions:
        what = f"{format_bytes(sum(demand.contributions))} in all"
    return (
        f"all-gather of {planned.network.ranks} ranks, {what}, {len(planned.schedule)} messages, "
        f"by '{planned.scheduler}'"
    )


def _row(network: Network, rank: int, size: str, scheduler: str, dump: str | None, as_json: bool) -> None:
    """One rank's row in closed form, without the rest of the schedule."""
    from hocket import _core
    from hocket.planning import by_phases, peak_rss_bytes, ratio

    if scheduler not in ("auto", "tree"):
        raise UsageError(
            f"'{scheduler}' has no closed form for one rank", remedy="use --scheduler tree or leave --rank"
        )
    bytes = parse_size(size)
    bounds = _core.lower_bounds(network, _core.Demand(network.ranks, bytes))
    begun = time.perf_counter()
    phases = _core.TreePhases(network)
    text = phases.row_csv(network, rank, bytes)
    plan_seconds = time.perf_counter() - begun
    if dump is not None:
        write_atomically(dump, [HEADER, text])
    report: dict[str, Any] = {
        "pattern": ALL_TO_ALL,
        "scheduler": "tree",
        "rank": rank,
        "hosts": len(network.hosts),
        "ranks": network.ranks,
        "messages": network.ranks * (network.ranks - 1),
        "bytes": bytes,
        "transfers_of_rank": 2 * (network.ranks - 1),
        "phases": phases.phases,
        "bound_phases": bounds.phases,
        "ratio": ratio(phases.phases, bounds.phases),
        "bound_seconds": bounds.seconds,
        "predicted_seconds": by_phases(network, phases.phases, phases.phases * bytes),
        # Only the whole schedule can be judged.
        "contention_free": None,
        "complete": None,
        "waits": None,
        "waits_before_reduction": None,
        "plan_seconds": plan_seconds,
        "verify_seconds": None,
        "peak_rss_bytes": peak_rss_bytes(),
    }
    if as_json:
        click.echo(json.dumps(report))
        return
    click.echo(
        f"rank {rank} of {network.ranks}: {network.ranks - 1} sends and as many receives in "
        f"{phases.phases} phases (bound {bounds.phases}), computed in {plan_seconds:.3f} s"
    )
    _show_rows(text, dump)


def _row_of(planned: PlannedExchange, rank: int, dump: str | None, as_json: bool) -> None:
    """One rank's row of a whole schedule."""
    text = b"".join(row_lines(planned.schedule, rank)).removeprefix(HEADER)
    if dump is not None:
        write_atomically(dump, [HEADER, text])
    hops = planned.schedule.hops()
    sends = sum(1 for src, _ in hops if src == rank)
    receives = sum(1 for _, dst in hops if dst == rank)
    if as_json:
        click.echo(json.dumps({**planned.report(), "rank": rank, "transfers_of_rank": sends + receives}))
        return
    click.echo(
        f"rank {rank} of {planned.network.ranks}: {sends} sends and {receives} receives in "
        f"{planned.schedule.phases} phases (bound {planned.bound_phases}), by '{planned.scheduler}'"
    )
    _show_rows(text, dump)


def _show_rows(text: bytes, dump: str | None) -> None:
    if dump is not None:
        click.echo(f"wrote {dump}")
        return
    lines = text.decode().split("\n", MOST_ROWS)
    click.echo(HEADER.decode() + "\n".join(lines[:MOST_ROWS]).rstrip())
    if len(lines) > MOST_ROWS and lines[-1]:
        click.echo("… (--dump writes all)")
