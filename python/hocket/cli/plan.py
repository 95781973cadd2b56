"""``hocket plan``: a schedule, its proof and its plan file."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from hocket.cli._shared.commands import Collectives, Command
from hocket.cli._shared.compare import check_compare, compare_option, tell_compared
from hocket.cli._shared.irregular import demand_option, plan_traffic, seed_option, traffic_of
from hocket.cli._shared.options import (
    algorithm_option,
    alpha_option,
    calibration_option,
    defaults_options,
    equal_demand,
    json_option,
    load_components,
    load_network,
    network_option,
    plan_equal,
    root_option,
    size_option,
    window_option,
)
from hocket.cli._shared.plan_output import check_outputs, check_rank, finish, show_rank, tell_components
from hocket.cli._shared.rank_program import BY_RANK, closed_form_of, show_rank_alone
from hocket.cli._shared.two_level import (
    TWO_LEVEL,
    check_two_level,
    finish_two_level,
    plan_two_level,
    two_level_options,
)
from hocket.cli._shared.usage import Decorator, Whole
from hocket.cli._shared.work import with_spinner
from hocket.demand.collectives import ALL_TO_ALL, COLLECTIVES, EQUAL, IRREGULAR, takes_contributions

if TYPE_CHECKING:
    from hocket import _core
    from hocket.network import Defaults, KnownNetwork
    from hocket.planning.candidates import Forecast
    from hocket.planning.plan import PlannedExchange


@click.group(
    cls=Collectives,
    examples=(
        "hocket plan all-to-all --network cluster.toml -o plan.hkt",
        "hocket plan MPI_Allgather --network tree:4x8 --bytes 64KiB --compare",
    ),
)
def plan() -> None:
    """Compute and verify the schedule of a collective.

    A collective may be called by its MPI name: alltoall, MPI_Alltoall and all-to-all are the same.
    """


_output_option = click.option("-o", "--output", metavar="PLAN", help="Write the plan file.")
_dump_option = click.option("--dump", metavar="FILE.csv", help="Write every transfer of the schedule as CSV.")


def _rank_option(help: str) -> Decorator:
    return click.option("--rank", type=Whole(0), metavar="R", help=help)


def _command(collective: _core.Collective) -> click.Command:
    """``hocket plan`` of a collective that a name and a size say everything of."""
    by_rank = collective.pattern in BY_RANK and not collective.rooted

    @network_option()
    @size_option(collective)
    @_output_option
    @algorithm_option
    @window_option(collective.window)
    @_dump_option
    @_rank_option(f"Show only what rank R sends and receives{', at any size' if by_rank else ''}.")
    @compare_option
    @calibration_option
    @defaults_options
    @json_option
    def command(
        source: str,
        size: str | None,
        output: str | None,
        algorithm: str,
        window: int | None,
        dump: str | None,
        rank: int | None,
        compare: bool,
        calibration: str | None,
        defaults: Defaults,
        as_json: bool,
        **more: Any,
    ) -> None:
        two_level = more.pop("two_level", False)
        check_outputs(output, dump, rank)
        check_two_level(two_level, rank)
        if compare:
            check_compare(algorithm, output=output, dump=dump, rank=rank, two_level=two_level)
        asked = (output, dump, rank, more.get("contributions"))
        one = two_level or compare or any(each is not None for each in asked)
        components = _components(source, defaults, as_json, one)

        def planned(network: _core.Network, by: str = algorithm) -> PlannedExchange:
            return plan_equal(collective.name, network, size, by, window, as_json, **more)

        if len(components) > 1:
            tell_components(components, planned, as_json)
            return
        known = components[0]
        check_rank(known.network, rank)
        if compare:
            tell_compared(partial(planned, known.network), known, as_json)
            return
        if two_level:
            demand = equal_demand(collective.name, known.network, size, more.get("contributions"))
            between_hosts, costs = plan_two_level(known, demand, calibration, algorithm, window, as_json)
            finish_two_level(between_hosts, collective.name, known, costs, output, dump, as_json)
            return
        if rank is not None and by_rank:
            demand = equal_demand(collective.name, known.network, size, more.get("contributions"))
            form = closed_form_of(known.network, demand, algorithm, window)
            if form is not None:
                if not show_rank_alone(known, form, demand, rank, window, dump, as_json):
                    raise SystemExit(1)
                return
        if rank is not None:
            show_rank(planned(known.network), known, rank, dump, as_json)
        else:
            exchange = planned(known.network)
            forecast = _forecast(exchange, known, calibration, as_json)
            finish(exchange, known, output, dump, as_json, forecast)

    if collective.forwards:
        command = alpha_option(collective)(command)
    if takes_contributions(collective):
        command = click.option(
            "--contributions", metavar="FILE",
            help="File of each rank's contribution: sizes, one a line or separated by commas.",
        )(command)  # fmt: skip
    if collective.rooted:
        command = root_option(command)
    if collective.name in TWO_LEVEL:
        command = two_level_options(command)
    note = ""
    if collective.pattern == ALL_TO_ALL:
        note = (
            "For many ranks, --rank computes that rank's program alone, on trees and many grids with equal links. Then "
            "a sample of the whole is verified."
        )
    elif by_rank:
        note = (
            "For many ranks, --rank computes that rank's program alone, on trees with one rank a host and no link "
            "slower than a host's. The whole is verified."
        )
    if collective.forwards:
        note = f"A message may carry parts of several ranks' blocks. Ranks forward what they have received. {note}"
    name = collective.name
    return click.command(
        name,
        cls=Command,
        help=f"Plan {collective.mpi_calls}: {collective.asks[0].lower()}{collective.asks[1:]}\n\n"
        f"The schedule is verified, and its time is predicted. {note}",
        examples=(
            f"hocket plan {name} --network cluster.toml --bytes 64KiB -o plan.hkt",
            f"hocket plan {name} --network tree:4x8 --compare",
        ),
    )(command)


for _collective in EQUAL:
    plan.add_command(_command(_collective))


@plan.command(
    IRREGULAR,
    examples=(
        "hocket plan irregular --network cluster.toml --demand traffic.mtx",
        "hocket plan MPI_Alltoallv --network cluster.toml --demand traffic.json:1 -o plan.hkt",
    ),
)
@network_option()
@demand_option(required=True)
@alpha_option(COLLECTIVES[IRREGULAR])
@_output_option
@algorithm_option
@seed_option
@window_option(COLLECTIVES[IRREGULAR].window)
@_dump_option
@_rank_option("Show only what rank R sends and receives.")
@compare_option
@two_level_options
@defaults_options
@json_option
def irregular(
    source: str,
    traffic: str,
    alpha: str | None,
    output: str | None,
    algorithm: str,
    seed: int,
    window: int | None,
    dump: str | None,
    rank: int | None,
    compare: bool,
    two_level: bool,
    defaults: Defaults,
    as_json: bool,
) -> None:
    """Plan MPI_Alltoallv and its relatives: every rank sends to others as the traffic matrix FILE says.

    The schedule is verified, and its time is predicted. Messages may be split over several phases.
    """
    check_outputs(output, dump, rank)
    if compare:
        check_compare(algorithm, output=output, dump=dump, rank=rank, two_level=two_level)
    known = load_network(source, defaults, as_json)
    network = known.network
    check_rank(network, rank)
    check_two_level(two_level, rank)
    if two_level:
        demand = traffic_of(network, traffic, as_json).demand()
        between_hosts, costs = plan_two_level(known, demand, None, algorithm, window, as_json)
        finish_two_level(between_hosts, IRREGULAR, known, costs, output, dump, as_json)
        return

    def planned_by(name: str, quiet: bool = as_json) -> PlannedExchange:
        return plan_traffic(network, traffic, name, window, alpha, seed, quiet)

    if compare:
        tell_compared(partial(planned_by, quiet=True), known, as_json)
        return
    planned = planned_by(algorithm)
    if rank is not None:
        show_rank(planned, known, rank, dump, as_json)
        return
    finish(planned, known, output, dump, as_json)


def _forecast(
    planned: PlannedExchange, known: KnownNetwork, calibration: str | None, quiet: bool
) -> Forecast | None:
    """Predict the times of a run's candidates."""
    from hocket.planning.candidates import forecast_of

    return with_spinner("predicting", lambda: forecast_of(planned, calibration, known.description), quiet)


def _components(source: str, defaults: Defaults, as_json: bool, one: bool) -> list[KnownNetwork]:
    """Every component of the network. With ``one``, for a plan file or a single rank's program, there must be
    only one."""
    return [load_network(source, defaults, as_json)] if one else load_components(source, defaults, as_json)
