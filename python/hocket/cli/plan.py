"""``hocket plan``: a schedule, its proof and its plan file; of many ranks one rank's program and a partial proof."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING, Any

import click

from hocket import _core
from hocket.cli._shared import plan_output
from hocket.cli._shared.commands import Collectives, Command, Decorator, Whole, options
from hocket.cli._shared.options import (
    calibration_option,
    defaults_options,
    load_components,
    load_network,
    loud,
    network_option,
    output_option,
)
from hocket.cli._shared.plan_output import HEADER, MOST_ROWS, PREDICTED, row_texts
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
from hocket.cli._shared.two_level import TWO_LEVEL, finish_two_level, two_level_option
from hocket.cli._shared.work import json_option, tell, with_spinner, write_atomically
from hocket.demand.collectives import (
    ALL_GATHER,
    ALL_REDUCE,
    ALL_TO_ALL,
    COLLECTIVES,
    IRREGULAR,
    REDUCE_SCATTER,
    takes_contributions,
)
from hocket.errors import PlanError, UsageError
from hocket.planning.plan import peak_rss_bytes, ratio
from hocket.system.text import picked
from hocket.units import format_time

if TYPE_CHECKING:
    from hocket.network import Defaults, KnownNetwork


TRANSFERS_AT_ONCE = 100_000  # written, of a program
SAMPLED_MESSAGES = 20_000  # of an all-to-all of which only one program is computed
_OF_RING = ("edges", "channels", "collisions", "missing", "unordered", "findings", "ok")
_OF_SAMPLE = ("messages", "channels", "collisions", "unordered", "findings", "ok")
BY_RANK = (ALL_TO_ALL, ALL_GATHER, REDUCE_SCATTER, ALL_REDUCE)


def closed_form_of(network: _core.Network, request: Request) -> _core.ClosedForm | _core.Ring | None:
    """Rank programs of the schedule that would be planned; None if only the whole schedule determines
    them."""
    demand, algorithm, window = request.demand(network), request.algorithm, request.window
    try:
        if demand.by_blocks:
            if demand.messages <= _core.limits.most_messages_compared:
                return None
            form: _core.ClosedForm | _core.Ring = _core.Ring(network, demand)
        else:
            if network.ranks <= _core.limits.most_ranks_searched_for_waits or window not in (None, 1):
                return None
            form = _core.ClosedForm(network, demand, "" if algorithm == "auto" else algorithm)
    except _core.InputError as error:
        if network.ranks > _core.limits.max_explicit_ranks:
            raise PlanError(
                f"{network.ranks:,} ranks are too many for a whole {demand.pattern}, and {error}",
                remedy="cut the network to a job's hosts with 'hocket network convert --hosts'",
            ) from None
        return None
    return form if algorithm in ("auto", form.algorithm) else None


def prove(
    form: _core.ClosedForm | _core.Ring, messages: int
) -> tuple[_core.Ring.Certificate | _core.ClosedForm.Certificate, str, dict[str, Any]]:
    """Certificate, a line on it, and what the report says of it. A ring is judged as a whole, as every phase uses the
    same edges; of an all-to-all a sample of messages."""
    if isinstance(form, _core.Ring):
        found = form.verify()
        said = f"share none of the {found.channels:,} channels of their routes"
        if found.unordered:
            said = f"GO ON TOO EARLY BY {found.unordered:,} CHANNELS AT THE TURN"
        if found.collisions or found.missing:
            said = f"SHARE {found.collisions:,} CHANNELS AND MISS {found.missing:,} RANKS"
        text = f"all {messages:,} transfers go over {found.edges:,} edges, which {said}"
        return found, text, {**picked(found, "contention_free", "complete"), "ring": picked(found, *_OF_RING)}
    sample = form.verify_sample(SAMPLED_MESSAGES)
    said = "none meets another, all are in order"
    if not sample.ok:
        said = f"{sample.collisions} MEET OTHERS, {sample.unordered} ARE OUT OF ORDER"
    text = (
        f"a sample of {sample.messages:,} of all {messages:,} messages, on {sample.channels:,} channels of their "
        f"routes: {said}"
    )
    # Only the whole schedule can be judged.
    return sample, text, {"contention_free": None, "complete": None, "sample": picked(sample, *_OF_SAMPLE)}


def show_rank_alone(
    form: _core.ClosedForm | _core.Ring, request: Request, known: KnownNetwork, rank: int
) -> None:
    """Print one rank's program without planning the rest of the schedule. Exit code 1 if the proof fails."""
    network, window, dump = known.network, request.window, request.dump
    demand = request.demand(network)
    bounds = _core.lower_bounds(network, demand)
    begun = time.perf_counter()
    # The program comes last: it needs most memory.
    certificate, proof, fields = with_spinner("verifying", lambda: prove(form, demand.messages))
    verify_seconds = time.perf_counter() - begun
    given = {"window": window} if window is not None and isinstance(form, _core.Ring) else {}
    program = with_spinner("computing the program", lambda: form.program(rank, **given))
    plan_seconds = time.perf_counter() - begun - verify_seconds
    if dump is not None:
        chunks = range(0, program.transfers, TRANSFERS_AT_ONCE)
        rows = (program.csv(rank, demand.bytes, first, first + TRANSFERS_AT_ONCE) for first in chunks)
        write_atomically(dump, itertools.chain([HEADER], rows))
    predicted, kind = with_spinner("simulating", lambda: form.predict(demand))
    time_ratio = ratio(predicted, bounds.seconds)
    report = {
        "pattern": demand.pattern, "algorithm": form.algorithm, "hosts": len(network.hosts), "ranks": network.ranks,
        "messages": demand.messages, "transfers": demand.messages, "bytes": demand.bytes, "phases": form.phases,
        "bound_phases": bounds.phases,
        "ratio": time_ratio if demand.by_blocks else ratio(form.phases, bounds.phases), "time_ratio": time_ratio,
        "bound_seconds": bounds.seconds, "predicted_seconds": predicted,
        # Not known, where one rank's row stands for a schedule.
        "waits": None, "waits_before_reduction": None, "window": None,
        "rank": rank,
        "transfers_of_rank": program.transfers,
        "tokens_of_rank": program.tokens,
        "prediction": kind,
        **fields,
        "plan_seconds": plan_seconds,
        "verify_seconds": verify_seconds,
        "peak_rss_bytes": peak_rss_bytes(),
        **known.rates_as_json(),
    }  # fmt: skip
    # A host may take several blocks at once, so that fewest phases are not what a ring of blocks is measured by.
    bound = f"{time_ratio:.3f} times the bound of the wires" if demand.by_blocks else f"bound {bounds.phases}"
    lines = [
        *loud(known),
        f"rank {rank} of {network.ranks}: {program.transfers // 2} sends and as many receives in "
        f"{form.phases} phases ({bound}) by '{form.algorithm}', computed in {plan_seconds:.3f} s; "
        f"its sends wait for {program.tokens} tokens",
        f"the whole takes {format_time(predicted, 4)} ({PREDICTED[kind]}), bound {format_time(bounds.seconds, 4)}",
        f"{proof} ({verify_seconds:.3f} s)",
        *(f"  {finding}" for finding in certificate.findings),
        *row_texts(program.csv(rank, demand.bytes, 0, MOST_ROWS + 1), dump),
    ]
    tell(report, lambda: lines)
    if not certificate.ok:
        click.get_current_context().exit(1)


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
    def command(source: str, defaults: Defaults, **asked: Any) -> None:
        request = Request(name, **asked)
        plan_output.check_options(request)
        rank = request.rank
        named = (request.output, request.dump, rank, request.contributions)
        if irregular or request.two_level or request.compare or any(each is not None for each in named):
            components = [load_network(source, defaults)]
        else:
            components = load_components(source, defaults)
        if len(components) > 1:
            plan_output.tell_components(components, request)
            return
        (known,) = components
        network = known.network
        if rank is not None and rank >= network.ranks:
            raise UsageError(
                f"there is no rank {rank}", remedy=f"the network has ranks 0 to {network.ranks - 1}"
            )
        if request.compare:
            plan_output.tell_compared(request, known)
        elif request.two_level:
            finish_two_level(request, known)
        elif rank is None:
            plan_output.finish(request, known)
        elif by_rank and (form := closed_form_of(network, request)) is not None:
            show_rank_alone(form, request, known, rank)
        else:
            plan_output.show_rank(request.plan(network), request, known, rank)

    return click.command(
        name,
        cls=Command,
        help=f"Plan {'MPI_Alltoallv and its relatives' if irregular else collective.mpi_calls}: {asks}\n\n"
        f"The schedule is verified, and its time is predicted. {note}",
        examples=examples,
    )(command)


for _collective in COLLECTIVES.values():
    plan.add_command(_command(_collective))
