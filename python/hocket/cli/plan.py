"""``hocket plan``: a schedule, its proof and its plan file."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from hocket.cli.options import (
    bytes_option,
    defaults_options,
    json_option,
    load_network,
    network_option,
    parse_size,
    plan_exchange,
    scheduler_option,
    window_option,
)
from hocket.cli.work import check_writable, with_spinner, write_atomically
from hocket.errors import UsageError
from hocket.units import format_bytes, format_time

if TYPE_CHECKING:
    from hocket._core import Network, Schedule
    from hocket.planning import PlannedExchange

HEADER = b"phase,src,dst,origin,target,offset,length\n"
PHASES_AT_ONCE = 4096
MOST_ROWS = 20


@click.group()
def plan() -> None:
    """Plan an exchange."""


@plan.command("all-to-all")
@network_option()
@bytes_option
@click.option("-o", "--output", metavar="PLAN", help="Write the plan file.")
@scheduler_option
@window_option
@click.option("--dump", metavar="FILE.csv", help="Write every transfer of the schedule as CSV.")
@click.option(
    "--rank", type=click.IntRange(0), metavar="R", help="Only what rank R sends and receives, at any size."
)
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
    check_writable(output)
    check_writable(dump)
    network = load_network(source, rate, latency, ranks_per_host, as_json)
    if rank is not None:
        if output is not None:
            raise UsageError(
                "a plan file holds the rows of all ranks", remedy="use --dump with --rank, or leave --rank"
            )
        _row(network, rank, size, scheduler, dump, as_json)
        return
    planned = plan_exchange(network, size, scheduler, window, as_json)
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


def describe(planned: PlannedExchange) -> str:
    certificate, waits = planned.certificate, planned.waits
    messages = planned.demand.messages
    verdict = "verified" if certificate.ok else "REFUSED by the verifier"
    lines = [
        f"all-to-all of {planned.network.ranks} ranks, {messages} messages of "
        f"{format_bytes(planned.demand.bytes)}, by '{planned.scheduler}'",
        f"phases      {planned.schedule.phases}, bound {planned.bounds.phases}, ratio {planned.ratio:.3f}",
        f"time        {format_time(planned.predicted_seconds, 4)} predicted, "
        f"bound {format_time(planned.bounds.seconds, 4)}",
        f"waits       {len(waits)} of {waits.derived} left after reduction, window {waits.window}"
        + (f", {len(waits) / messages:.2f} per message" if messages else ""),
        f"schedule    {verdict}: {'' if certificate.contention_free else 'NOT '}contention-free, "
        f"{'complete' if certificate.complete else 'NOT complete'}",
        f"took        {planned.plan_seconds:.3f} s to plan, {planned.verify_seconds:.3f} s to verify",
    ]
    lines += [f"            {text} (phase {phase})" for _, phase, text in certificate.findings[:3]]
    return "\n".join(lines)


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
        "predicted_seconds": by_phases(network, phases.phases, bytes),
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
    if dump is not None:
        click.echo(f"wrote {dump}")
        return
    lines = text.decode().split("\n", MOST_ROWS)
    click.echo(HEADER.decode() + "\n".join(lines[:MOST_ROWS]).rstrip())
    if len(lines) > MOST_ROWS and lines[-1]:
        click.echo("… (--dump writes all)")
