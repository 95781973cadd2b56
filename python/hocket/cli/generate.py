"""``hocket generate``: C source with the schedule built in."""

from __future__ import annotations

import click

from hocket.cli.options import (
    bytes_option,
    defaults_options,
    flow_option,
    json_option,
    load_network,
    network_option,
    plan_exchange,
    scheduler_option,
)
from hocket.cli.work import check_writable, with_spinner, write_atomically


@click.group()
def generate() -> None:
    """Write a scheduled collective as C source that needs nothing but MPI."""


@generate.command("all-to-all")
@network_option()
@click.option("-o", "--output", required=True, metavar="FILE.c", help="Where to write; - is standard output.")
@click.option("--function-name", default="MPI_Alltoall", show_default=True, metavar="NAME",
              help="MPI_Alltoall replaces the library's; hocket_alltoall stands beside it.")  # fmt: skip
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
    import json

    from hocket.export.c_source import RoutineOptions, all_to_all_source

    if output != "-":
        check_writable(output)
    options = RoutineOptions(function_name, flow)
    options.check()
    network = load_network(source, rate, latency, ranks_per_host, as_json)
    options.check_network(network)
    planned = plan_exchange(network, size, scheduler, options.window, as_json)
    text = with_spinner("writing C", lambda: all_to_all_source(planned, source, options), as_json)
    if output == "-":
        click.echo(text, nl=False)
        return
    write_atomically(output, [text.encode()])
    if as_json:
        click.echo(
            json.dumps({"output": output, "function": function_name, "flow": flow, **planned.report()})
        )
    else:
        click.echo(
            f"wrote {output}: {function_name} for {network.ranks} ranks, {planned.schedule.phases} phases "
            f"(bound {planned.bounds.phases}), {flow}"
        )
