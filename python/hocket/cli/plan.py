"""``hocket plan``: a schedule, its proof and its plan file."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hocket.cli.irregular import demand_option, plan_traffic, seed_option
from hocket.cli.options import (
    bytes_option,
    defaults_options,
    gather_bytes_option,
    json_option,
    load_islands,
    load_network,
    loud,
    network_option,
    parse_size,
    plan_exchange,
    plan_gather,
    scheduler_option,
    startup_option,
    window_option,
)
from hocket.cli.plan_output import (
    HEADER,
    check_outputs,
    check_rank,
    finish,
    show_lines,
    show_row,
    tell_islands,
)
from hocket.cli.work import write_atomically
from hocket.errors import UsageError
from hocket.figures import ALL_GATHER, ALL_TO_ALL, IRREGULAR

if TYPE_CHECKING:
    from hocket.network import Defaults, KnownNetwork

F = TypeVar("F", bound=Callable[..., Any])


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
@window_option(ALL_TO_ALL)
@_dump_option
@_rank_option("Only what rank R sends and receives, at any size.")
@defaults_options
@json_option
def all_to_all(
    source: str,
    size: str,
    output: str | None,
    scheduler: str,
    window: int | None,
    dump: str | None,
    rank: int | None,
    defaults: Defaults,
    as_json: bool,
) -> None:
    """Every rank has a different message of SIZE for every other rank.

    Prints what was planned and verified. With --rank R nothing but the row of that rank is computed, which
    takes a second for 100,000 hosts.
    """
    check_outputs(output, dump, rank)
    islands = _islands(source, defaults, as_json, one=(output, dump, rank) != (None, None, None))
    if len(islands) > 1:
        tell_islands(islands, lambda net: plan_exchange(net, size, scheduler, window, as_json), as_json)
        return
    known = islands[0]
    network = known.network
    if rank is not None:
        check_rank(network, rank)
        _row(known, rank, size, scheduler, dump, as_json)
        return
    planned = plan_exchange(network, size, scheduler, window, as_json)
    finish(planned, known.uplinks, output, dump, as_json)


@plan.command("all-gather")
@network_option()
@gather_bytes_option
@click.option("--contributions", metavar="FILE",
              help="What each rank contributes: a size per line, or with commas between them.")  # fmt: skip
@startup_option("What a message costs its sender; schedules trade messages for bytes by it. [0]")
@_output_option
@scheduler_option
@window_option(ALL_GATHER)
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
    window: int | None,
    dump: str | None,
    rank: int | None,
    defaults: Defaults,
    as_json: bool,
) -> None:
    """Every rank contributes SIZE, and every rank gets all contributions.

    Prints what was planned and verified. A message may carry the contributions of several ranks, and ranks
    forward what has reached them. With --rank R the row of that rank is shown.
    """
    check_outputs(output, dump, rank)
    one = (output, dump, rank, contributions) != (None, None, None, None)
    islands = _islands(source, defaults, as_json, one)
    if len(islands) > 1:
        tell_islands(
            islands, lambda net: plan_gather(net, size, scheduler, window, None, startup, as_json), as_json
        )
        return
    known = islands[0]
    network = known.network
    check_rank(network, rank)
    planned = plan_gather(network, size, scheduler, window, contributions, startup, as_json)
    if rank is not None:
        show_row(planned, known.uplinks, rank, dump, as_json)
        return
    finish(planned, known.uplinks, output, dump, as_json)


@plan.command("irregular")
@network_option()
@demand_option(required=True)
@startup_option("What a message costs its sender; some schedulers split messages by it. [0]")
@_output_option
@scheduler_option
@seed_option
@window_option(IRREGULAR)
@_dump_option
@_rank_option("Only what rank R sends and receives.")
@defaults_options
@json_option
def irregular(
    source: str,
    traffic: str,
    startup: str,
    output: str | None,
    scheduler: str,
    seed: int,
    window: int | None,
    dump: str | None,
    rank: int | None,
    defaults: Defaults,
    as_json: bool,
) -> None:
    """Every rank sends to some others what FILE says.

    Prints what was planned and verified. Messages may be split over several phases. With --rank R the row of
    that rank is shown.
    """
    check_outputs(output, dump, rank)
    known = load_network(source, defaults, as_json)
    network = known.network
    check_rank(network, rank)
    planned = plan_traffic(network, traffic, scheduler, window, startup, seed, as_json)
    if rank is not None:
        show_row(planned, known.uplinks, rank, dump, as_json)
        return
    finish(planned, known.uplinks, output, dump, as_json)


def _islands(source: str, defaults: Defaults, as_json: bool, one: bool) -> list[KnownNetwork]:
    """Every island of the network; where a file or a row of ``one`` plan is wanted, it must have one."""
    return [load_network(source, defaults, as_json)] if one else load_islands(source, defaults, as_json)


def _row(known: KnownNetwork, rank: int, size: str, scheduler: str, dump: str | None, as_json: bool) -> None:
    """One rank's row in closed form, without the rest of the schedule."""
    from hocket import _core
    from hocket.figures import Figures, peak_rss_bytes, ratio
    from hocket.planning import BY_PHASES

    if scheduler not in ("auto", "tree"):
        raise UsageError(
            f"'{scheduler}' has no closed form for one rank", remedy="use --scheduler tree or leave --rank"
        )
    network, bytes = known.network, parse_size(size)
    bounds = _core.lower_bounds(network, _core.Demand(network.ranks, bytes))
    begun = time.perf_counter()
    phases = _core.TreePhases(network)
    text = phases.row_csv(network, rank, bytes)
    plan_seconds = time.perf_counter() - begun
    if dump is not None:
        write_atomically(dump, [HEADER, text])
    predicted = _core.seconds_by_phases(network, phases.phases, phases.phases * bytes)
    messages = network.ranks * (network.ranks - 1)
    figures = Figures(
        pattern=ALL_TO_ALL, scheduler="tree", hosts=len(network.hosts), ranks=network.ranks,
        messages=messages, transfers=messages, bytes=bytes, phases=phases.phases, bound_phases=bounds.phases,
        ratio=ratio(phases.phases, bounds.phases), time_ratio=ratio(predicted, bounds.seconds),
        bound_seconds=bounds.seconds, predicted_seconds=predicted,
    )  # fmt: skip
    report: dict[str, Any] = {
        **figures.as_json(),
        "rank": rank,
        "transfers_of_rank": 2 * (network.ranks - 1),
        "prediction": BY_PHASES,
        # Only the whole schedule can be judged.
        "contention_free": None,
        "complete": None,
        "plan_seconds": plan_seconds,
        "verify_seconds": None,
        "peak_rss_bytes": peak_rss_bytes(),
        "uplinks": known.uplinks.as_json(),
    }
    if as_json:
        click.echo(json.dumps(report))
        return
    if line := loud(known.uplinks):
        click.echo(line)
    click.echo(
        f"rank {rank} of {network.ranks}: {network.ranks - 1} sends and as many receives in "
        f"{phases.phases} phases (bound {bounds.phases}), computed in {plan_seconds:.3f} s"
    )
    show_lines(text, dump)
