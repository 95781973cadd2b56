"""``hocket generate``: C source with the schedule built in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from hocket.cli._shared.options import (
    algorithm_option,
    defaults_options,
    flow_option,
    json_option,
    load_network,
    loud,
    network_option,
    plan_equal,
    planning_alpha_option,
    root_option,
    size_option,
)
from hocket.cli._shared.sizes import DEFAULT_BYTES, parse_size
from hocket.cli._shared.usage import Decorator
from hocket.cli._shared.work import check_writable, with_spinner, write_atomically
from hocket.demand.collectives import (
    ALL_GATHER,
    ALL_REDUCE,
    ALL_TO_ALL,
    BROADCAST,
    COLLECTIVES,
    GATHER,
    REDUCE,
    REDUCE_SCATTER,
    SCATTER,
)

if TYPE_CHECKING:
    from hocket import _core
    from hocket.export.c_header import RoutineOptions
    from hocket.network import Defaults, KnownNetwork
    from hocket.planning.plan import PlannedExchange


@click.group()
def generate() -> None:
    """Write a scheduled collective as C source that needs nothing but MPI."""


def _function_option(default: str) -> Decorator:
    beside = default.lower().replace("mpi_", "hocket_", 1)
    return click.option(
        "--function-name", default=default, show_default=True, metavar="NAME",
        help=f"{default} replaces the library's; {beside} stands beside it.",
    )  # fmt: skip


_output_option = click.option(
    "-o", "--output", required=True, metavar="FILE.c", help="Where to write; - is standard output."
)


def _command(collective: _core.Collective, replaced: str, help: str) -> click.Command:
    @network_option()
    @_output_option
    @_function_option(replaced)
    @flow_option("token", "What holds a message back.")
    @size_option(collective)
    @algorithm_option
    @defaults_options
    @json_option
    def command(
        source: str,
        output: str,
        function_name: str,
        flow: str,
        size: str | None,
        algorithm: str,
        defaults: Defaults,
        as_json: bool,
        alpha: str | None = None,
        root: int = 0,
    ) -> None:
        from hocket.export.c_header import RoutineOptions
        from hocket.export.c_source import routine_source

        options = RoutineOptions(function_name, flow)
        known = _checked_network(output, options, source, defaults, as_json)
        network = known.network
        bytes = parse_size(size or DEFAULT_BYTES)
        if collective.name == ALL_REDUCE:
            size = str(-(-bytes // network.ranks) * network.ranks)  # equal blocks
        planned = plan_equal(
            collective.name, network, size, algorithm, options.window, as_json, alpha=alpha, root=root
        )
        planned.check_accepted()
        text = with_spinner("writing C", lambda: routine_source(planned, source, options), as_json)
        if line := loud(known):
            click.echo(line, err=True)
        _finish(planned, text, output, options, as_json)

    if collective.forwards:
        command = planning_alpha_option(collective)(command)
    if collective.rooted:
        command = root_option(command)
    return click.command(collective.name, help=help)(command)


# Collectives that there are templates of.
generate.add_command(_command(COLLECTIVES[ALL_TO_ALL], "MPI_Alltoall", """\
Write an all-to-all routine for exactly this network.

The routine serves every size of message; SIZE only sets the predictions in its comment."""))  # fmt: skip
generate.add_command(_command(COLLECTIVES[ALL_GATHER], "MPI_Allgather", """\
Write all-gather routines, for equal and for unequal contributions, for exactly this network.

The routines serve every size; SIZE and --alpha choose the schedule and set the predictions in the comment. \
NAME with a v at its end is the routine for unequal contributions."""))  # fmt: skip
generate.add_command(_command(COLLECTIVES[REDUCE_SCATTER], "MPI_Reduce_scatter", """\
Write reduce-scatter routines, for blocks of any sizes and for equal ones, for exactly this network.

The routines serve every size; SIZE, of a block, and --alpha choose the schedule. NAME with _block at its end is \
the routine for equal blocks."""))  # fmt: skip
generate.add_command(_command(COLLECTIVES[ALL_REDUCE], "MPI_Allreduce", """\
Write an all-reduce routine for exactly this network.

The routine serves every size; SIZE, of the vector, and --alpha choose the schedule."""))  # fmt: skip
generate.add_command(_command(COLLECTIVES[BROADCAST], "MPI_Bcast", """\
Write a broadcast routine for exactly this network and root.

The routine serves every size; SIZE and --alpha choose the schedule. Broadcasts of other roots go to the MPI \
library."""))  # fmt: skip
generate.add_command(_command(COLLECTIVES[REDUCE], "MPI_Reduce", """\
Write a reduce routine for exactly this network and root.

The routine serves every size; SIZE, of the vector, and --alpha choose the schedule. Calls with other roots go to \
the MPI library."""))  # fmt: skip
for _name, _replaced in ((GATHER, "MPI_Gather"), (SCATTER, "MPI_Scatter")):
    generate.add_command(_command(COLLECTIVES[_name], _replaced, f"""\
Write a {_name} routine for exactly this network and root.

The routine serves every size; SIZE, of a rank's block, sets the predictions in its comment. Calls with other roots \
go to the MPI library."""))  # fmt: skip


def _checked_network(
    output: str,
    options: RoutineOptions,
    source: str,
    defaults: Defaults,
    as_json: bool,
) -> KnownNetwork:
    """Check everything that can be wrong before the long work begins, and load the network."""
    if output != "-":
        check_writable(output)
    options.check()
    known = load_network(source, defaults, as_json)
    options.check_network(known.network)
    return known


def _finish(planned: PlannedExchange, text: str, output: str, options: RoutineOptions, as_json: bool) -> None:
    if output == "-":
        click.echo(text, nl=False)
        return
    write_atomically(output, [text])
    if as_json:
        written = {"output": output, "function": options.function, "flow": options.flow}
        click.echo(json.dumps({**written, **planned.report()}))
    else:
        click.echo(
            f"wrote {output}: {options.function} for {planned.network.ranks} ranks, "
            f"{planned.schedule.phases} phases (bound {planned.bound_phases}), {options.flow}"
        )
