"""``hocket generate``: C source with the schedule built in."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hocket.cli.options import (
    DEFAULT_BYTES,
    bytes_option,
    defaults_options,
    flow_option,
    gather_bytes_option,
    json_option,
    load_network,
    network_option,
    parse_size,
    plan_exchange,
    plan_gather,
    scheduler_option,
    startup_option,
)
from hocket.cli.work import check_writable, with_spinner, write_atomically
from hocket.errors import UsageError

if TYPE_CHECKING:
    from hocket._core import Network
    from hocket.export.c_source import RoutineOptions
    from hocket.planning import PlannedExchange

F = TypeVar("F", bound=Callable[..., Any])


@click.group()
def generate() -> None:
    """Write a scheduled collective as C source that needs nothing but MPI."""


def _function_option(default: str, beside: str) -> Callable[[F], F]:
    return click.option(
        "--function-name", default=default, show_default=True, metavar="NAME",
        help=f"{default} replaces the library's; {beside} stands beside it.",
    )  # fmt: skip


def _output_option(function: F) -> F:
    return click.option(
        "-o", "--output", required=True, metavar="FILE.c", help="Where to write; - is standard output."
    )(function)


@generate.command("all-to-all")
@network_option()
@_output_option
@_function_option("MPI_Alltoall", "hocket_alltoall")
@flow_option("token", "What holds a message back.")
@bytes_option
@scheduler_option
@defaults_options
@json_option
def all_to_all(
    source: str,
    output: str,
    function_name: str,
    flow: str,
    size: str,
    scheduler: str,
    rate: str | None,
    latency: str | None,
    ranks_per_host: int | None,
    as_json: bool,
) -> None:
    """Write an all-to-all routine for exactly this network.

    The routine serves every size of message; SIZE only sets the predictions in its comment.
    """
    from hocket.export.c_source import RoutineOptions, all_to_all_source

    options = RoutineOptions(function_name, flow)
    network = _checked_network(output, options, source, rate, latency, ranks_per_host, as_json)
    planned = plan_exchange(network, size, scheduler, options.window, as_json)
    planned.check_accepted()
    text = with_spinner("writing C", lambda: all_to_all_source(planned, source, options), as_json)
    _finish(planned, text, output, options, as_json)


@generate.command("all-gather")
@network_option()
@_output_option
@_function_option("MPI_Allgather", "hocket_allgather")
@flow_option("token", "What holds a message back.")
@gather_bytes_option
@startup_option("What a message costs its sender; schedules trade messages for bytes by it. [0]")
@scheduler_option
@defaults_options
@json_option
def all_gather(
    source: str,
    output: str,
    function_name: str,
    flow: str,
    size: str | None,
    startup: str,
    scheduler: str,
    rate: str | None,
    latency: str | None,
    ranks_per_host: int | None,
    as_json: bool,
) -> None:
    """Write all-gather routines, for equal and for unequal contributions, for exactly this network.

    The routines serve every size; SIZE and --startup choose the schedule and set the predictions in the
    comment. NAME with a v at its end is the routine for unequal contributions.
    """
    from hocket.export.c_source import RoutineOptions, all_gather_source

    options = RoutineOptions(function_name, flow)
    network = _checked_network(output, options, source, rate, latency, ranks_per_host, as_json)
    if parse_size(size or DEFAULT_BYTES, least=0) == 0:
        raise UsageError("--bytes 0 is nothing to send", remedy="give the size that the routine is meant for")
    planned = plan_gather(network, size, scheduler, options.window, None, startup, as_json)
    planned.check_accepted()
    text = with_spinner("writing C", lambda: all_gather_source(planned, source, options), as_json)
    _finish(planned, text, output, options, as_json)


def _checked_network(
    output: str,
    options: RoutineOptions,
    source: str,
    rate: str | None,
    latency: str | None,
    ranks_per_host: int | None,
    as_json: bool,
) -> Network:
    """Everything that can be wrong before the long work begins."""
    if output != "-":
        check_writable(output)
    options.check()
    network = load_network(source, rate, latency, ranks_per_host, as_json)
    options.check_network(network)
    return network


def _finish(planned: PlannedExchange, text: str, output: str, options: RoutineOptions, as_json: bool) -> None:
    if output == "-":
        click.echo(text, nl=False)
        return
    write_atomically(output, [text.encode()])
    if as_json:
        written = {"output": output, "function": options.function, "flow": options.flow}
        click.echo(json.dumps({**written, **planned.report()}))
    else:
        click.echo(
            f"wrote {output}: {options.function} for {planned.network.ranks} ranks, "
            f"{planned.schedule.phases} phases (bound {planned.bound_phases}), {options.flow}"
        )
