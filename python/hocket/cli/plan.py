"""``hocket plan``: a schedule, its proof and its plan file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hocket import _core
from hocket.cli._shared import plan_output
from hocket.cli._shared.commands import Collectives, Command
from hocket.cli._shared.options import (
    calibration_option,
    defaults_options,
    load_components,
    load_network,
    network_option,
    output_option,
)
from hocket.cli._shared.rank_program import BY_RANK, closed_form_of, show_rank_alone
from hocket.cli._shared.request import (
    Request,
    algorithm_option,
    alpha_option,
    contributions_option,
    demand_option,
    root_option,
    seed_option,
    size_option,
    window_option,
)
from hocket.cli._shared.two_level import TWO_LEVEL, check_two_level, finish_two_level, two_level_option
from hocket.cli._shared.usage import Decorator, Whole, options
from hocket.cli._shared.work import json_option, with_spinner
from hocket.demand.collectives import ALL_TO_ALL, COLLECTIVES, IRREGULAR, takes_contributions

if TYPE_CHECKING:
    from hocket.network import Defaults


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


def _options(collective: _core.Collective, irregular: bool, by_rank: bool) -> Decorator:
    """Options of a collective's plan."""
    programs = ", at any size" if by_rank else ""
    return options(
        *([two_level_option()] if collective.name in TWO_LEVEL else []),
        *([root_option] if collective.rooted else []),
        *([contributions_option] if takes_contributions(collective) else []),
        network_option(),
        demand_option(required=True) if irregular else size_option(collective),
        *([alpha_option(collective)] if collective.forwards or irregular else []),
        output_option("PLAN", "Write the plan file."),
        algorithm_option,
        *([seed_option] if irregular else []),
        window_option(collective.window),
        click.option("--dump", metavar="FILE.csv", help="Write every transfer of the schedule as CSV."),
        click.option(
            "--rank", type=Whole(0), metavar="R", help=f"Show only what rank R sends and receives{programs}."
        ),
        click.option(
            "--compare", is_flag=True,
            help="Plan by each algorithm that can serve, and compare their predicted times.",
        ),
        *([] if irregular else [calibration_option]),
        defaults_options,
        json_option,
    )  # fmt: skip


def _command(collective: _core.Collective) -> click.Command:
    """``hocket plan`` of a collective."""
    name, irregular = collective.name, collective.name == IRREGULAR
    by_rank = collective.pattern in BY_RANK and not collective.rooted
    asks = f"{collective.asks[0].lower()}{collective.asks[1:]}"
    note = ""
    if irregular:
        asks = "every rank sends to others as the traffic matrix FILE says."
        note = "Messages may be split over several phases."
    elif collective.pattern == ALL_TO_ALL:
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
    examples = (
        f"hocket plan {name} --network cluster.toml --bytes 64KiB -o plan.hkt",
        f"hocket plan {name} --network tree:4x8 --compare",
    )
    if irregular:
        examples = (
            "hocket plan irregular --network cluster.toml --demand traffic.mtx",
            "hocket plan MPI_Alltoallv --network cluster.toml --demand traffic.json:1 -o plan.hkt",
        )

    @_options(collective, irregular, by_rank)
    def command(
        source: str,
        output: str | None,
        dump: str | None,
        rank: int | None,
        compare: bool,
        defaults: Defaults,
        two_level: bool = False,
        calibration: str | None = None,
        **asked: Any,
    ) -> None:
        request = Request(name, **asked)
        plan_output.check_outputs(output, dump, rank)
        check_two_level(two_level, rank)
        if compare:
            plan_output.check_compare(
                request.algorithm, output=output, dump=dump, rank=rank, two_level=two_level
            )
        named = (output, dump, rank, request.contributions)
        if irregular or two_level or compare or any(each is not None for each in named):
            components = [load_network(source, defaults)]
        else:
            components = load_components(source, defaults)
        if len(components) > 1:
            plan_output.tell_components(components, request)
            return
        (known,) = components
        network = known.network
        plan_output.check_rank(network, rank)
        if compare:
            plan_output.tell_compared(request, known)
        elif two_level:
            finish_two_level(request, known, calibration, output, dump)
        elif rank is None:
            from hocket.planning.candidates import forecast_of

            exchange = request.plan(network)
            forecast = None
            if not irregular:
                forecast = with_spinner(
                    "predicting", lambda: forecast_of(exchange, calibration, known.description)
                )
            plan_output.finish(exchange, known, output, dump, forecast)
        elif by_rank and (form := closed_form_of(network, request)) is not None:
            show_rank_alone(known, form, request, rank, dump)
        else:
            plan_output.show_rank(request.plan(network), known, rank, dump)

    return click.command(
        name,
        cls=Command,
        help=f"Plan {'MPI_Alltoallv and its relatives' if irregular else collective.mpi_calls}: {asks}\n\n"
        f"The schedule is verified, and its time is predicted. {note}",
        examples=examples,
    )(command)


for _collective in COLLECTIVES.values():
    plan.add_command(_command(_collective))
