"""``hocket plan``: a schedule, its proof and its plan file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

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
    planning_alpha_option,
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


@click.group()
def plan() -> None:
    """Plan an exchange."""


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
    @_rank_option(f"Only what rank R sends and receives{', at any size' if by_rank else ''}.")
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
        calibration: str | None,
        defaults: Defaults,
        as_json: bool,
        **more: Any,
    ) -> None:
        two_level = more.pop("two_level", False)
        check_outputs(output, dump, rank)
        check_two_level(two_level, rank)
        one = (output, dump, rank, more.get("contributions"), two_level or None) != (
            None,
            None,
            None,
            None,
            None,
        )
        components = _components(source, defaults, as_json, one)

        def planned(network: _core.Network) -> PlannedExchange:
            return plan_equal(collective.name, network, size, algorithm, window, as_json, **more)

        if len(components) > 1:
            tell_components(components, planned, as_json)
            return
        known = components[0]
        check_rank(known.network, rank)
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
        command = planning_alpha_option(collective)(command)
    if takes_contributions(collective):
        command = click.option(
            "--contributions", metavar="FILE",
            help="What each rank contributes: a size per line, or with commas between them.",
        )(command)  # fmt: skip
    if collective.rooted:
        command = root_option(command)
    if collective.name in TWO_LEVEL:
        command = two_level_options(command)
    note = "With --rank R the program of that rank is shown."
    if collective.pattern == ALL_TO_ALL:
        note = (
            "With --rank R the program of that rank is shown. Of many ranks nothing else is computed on trees and many "
            "grids whose links are equal, at any size, and of the whole a sample is verified."
        )
    elif by_rank:
        note = (
            "With --rank R the program of that rank is shown. Of many ranks nothing else is computed on trees with one "
            "rank a host and no link slower than a host's, at any size, and the whole is verified."
        )
    if collective.forwards:
        note = f"A message may carry parts of several ranks' blocks, and ranks pass on what has reached them. {note}"
    return click.command(
        collective.name, help=f"{collective.asks}\n\nPrints what was planned and verified. {note}"
    )(command)


for _collective in EQUAL:
    plan.add_command(_command(_collective))


@plan.command(IRREGULAR)
@network_option()
@demand_option(required=True)
@alpha_option("What a message costs its sender; some algorithms split messages by it. [0]")
@_output_option
@algorithm_option
@seed_option
@window_option(COLLECTIVES[IRREGULAR].window)
@_dump_option
@_rank_option("Only what rank R sends and receives.")
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
    two_level: bool,
    defaults: Defaults,
    as_json: bool,
) -> None:
    """Every rank sends to some others what FILE says.

    Prints what was planned and verified. Messages may be split over several phases. With --rank R the program of
    that rank is shown.
    """
    check_outputs(output, dump, rank)
    known = load_network(source, defaults, as_json)
    network = known.network
    check_rank(network, rank)
    check_two_level(two_level, rank)
    if two_level:
        demand = traffic_of(network, traffic, as_json).demand()
        between_hosts, costs = plan_two_level(known, demand, None, algorithm, window, as_json)
        finish_two_level(between_hosts, IRREGULAR, known, costs, output, dump, as_json)
        return
    planned = plan_traffic(network, traffic, algorithm, window, alpha, seed, as_json)
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
