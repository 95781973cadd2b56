"""``hocket plan … --rank R`` for many ranks: one rank program, without the rest of the schedule, and a
partial proof."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from hocket import _core
from hocket.cli._shared.options import loud
from hocket.cli._shared.plan_output import HEADER, MOST_ROWS, PREDICTED, row_texts
from hocket.cli._shared.request import Request
from hocket.cli._shared.work import tell, with_spinner, write_atomically
from hocket.demand.collectives import ALL_GATHER, ALL_REDUCE, ALL_TO_ALL, REDUCE_SCATTER
from hocket.errors import PlanError
from hocket.planning.figures import Figures, peak_rss_bytes, ratio
from hocket.planning.plan import BY_PHASES
from hocket.system.text import picked
from hocket.units import format_time

if TYPE_CHECKING:
    from hocket.network import KnownNetwork

TRANSFERS_AT_ONCE = 100_000  # written, of a program
SAMPLED_MESSAGES = 20_000  # of an all-to-all of which only one program is computed
_OF_RING = ("edges", "channels", "collisions", "missing", "unordered", "findings", "ok")
_OF_SAMPLE = ("messages", "channels", "collisions", "unordered", "findings", "ok")
BY_RANK = (ALL_TO_ALL, ALL_GATHER, REDUCE_SCATTER, ALL_REDUCE)


@dataclass(frozen=True, slots=True)
class Proof:
    """Result of verifying the whole schedule: one line, the findings, and fields of the report."""

    ok: bool
    text: str
    findings: list[str]
    fields: dict[str, Any]


def closed_form_of(network: _core.Network, request: Request) -> _core.ClosedForm | _core.Ring | None:
    """Rank programs of the schedule that would be planned; None if only the whole schedule determines
    them."""
    demand, algorithm, window = request.demand(network), request.algorithm, request.window
    try:
        if demand.by_blocks:
            if demand.messages <= _core.MOST_MESSAGES_COMPARED:
                return None
            form: _core.ClosedForm | _core.Ring = _core.Ring(network, demand)
        else:
            if network.ranks <= _core.MOST_RANKS_SEARCHED_FOR_WAITS or window not in (None, 1):
                return None
            form = _core.ClosedForm(network, demand, "" if algorithm == "auto" else algorithm)
    except _core.InputError as error:
        if network.ranks > _core.MAX_EXPLICIT_RANKS:
            raise PlanError(
                f"{network.ranks:,} ranks are too many for a whole {demand.pattern}, and {error}",
                remedy="cut the network to a job's hosts with 'hocket network convert --hosts'",
            ) from None
        return None
    return form if algorithm in ("auto", form.algorithm) else None


def prove(form: _core.ClosedForm | _core.Ring, messages: int) -> Proof:
    """A ring is judged as a whole, since every phase uses the same edges; of an all-to-all a sample of messages."""
    if isinstance(form, _core.Ring):
        found = form.verify()
        said = f"share none of the {found.channels:,} channels of their routes"
        if found.unordered:
            said = f"GO ON TOO EARLY BY {found.unordered:,} CHANNELS AT THE TURN"
        if found.collisions or found.missing:
            said = f"SHARE {found.collisions:,} CHANNELS AND MISS {found.missing:,} RANKS"
        return Proof(
            found.ok,
            f"all {messages:,} transfers go over {found.edges:,} edges, which {said}",
            found.findings,
            {**picked(found, "contention_free", "complete"), "ring": picked(found, *_OF_RING)},
        )
    sample = form.verify_sample(SAMPLED_MESSAGES)
    said = "none meets another, all are in order"
    if not sample.ok:
        said = f"{sample.collisions} MEET OTHERS, {sample.unordered} ARE OUT OF ORDER"
    return Proof(
        sample.ok,
        f"a sample of {sample.messages:,} of all {messages:,} messages, on {sample.channels:,} channels of their "
        f"routes: {said}",
        sample.findings,
        # Only the whole schedule can be judged.
        {"contention_free": None, "complete": None, "sample": picked(sample, *_OF_SAMPLE)},
    )


def _time_of(
    network: _core.Network, form: _core.ClosedForm | _core.Ring, demand: _core.Demand
) -> tuple[float, str]:
    """Seconds of the whole, and how they are known."""
    if isinstance(form, _core.Ring):
        return _core.seconds_by_phases(network, form.phases, form.phases * demand.bytes), BY_PHASES
    prediction = form.predict(demand)
    return prediction.seconds, prediction.kind


def show_rank_alone(
    known: KnownNetwork,
    form: _core.ClosedForm | _core.Ring,
    request: Request,
    rank: int,
    dump: str | None,
) -> None:
    """Print one rank's program without planning the rest of the schedule. Exit code 1 if the proof fails."""
    network, window = known.network, request.window
    demand = request.demand(network)
    hosts = len(network.hosts)
    bounds = _core.lower_bounds(network, demand)
    begun = time.perf_counter()
    # The program comes last: it needs most memory.
    proof = with_spinner("verifying", lambda: prove(form, demand.messages))
    verify_seconds = time.perf_counter() - begun
    given = {"window": window} if window is not None and isinstance(form, _core.Ring) else {}
    program = with_spinner("computing the program", lambda: form.program(rank, **given))
    plan_seconds = time.perf_counter() - begun - verify_seconds
    if dump is not None:
        chunks = range(0, program.transfers, TRANSFERS_AT_ONCE)
        rows = (program.csv(rank, demand.bytes, first, first + TRANSFERS_AT_ONCE) for first in chunks)
        write_atomically(dump, itertools.chain([HEADER], rows))
    predicted, kind = with_spinner("simulating", lambda: _time_of(network, form, demand))
    time_ratio = ratio(predicted, bounds.seconds)
    figures = Figures(
        pattern=str(demand.pattern), algorithm=form.algorithm, hosts=hosts, ranks=network.ranks,
        messages=demand.messages, transfers=demand.messages, bytes=demand.bytes, phases=form.phases,
        bound_phases=bounds.phases, ratio=time_ratio if demand.by_blocks else ratio(form.phases, bounds.phases),
        time_ratio=time_ratio, bound_seconds=bounds.seconds, predicted_seconds=predicted,
    )  # fmt: skip
    report = {
        **figures.as_json(),
        "rank": rank,
        "transfers_of_rank": program.transfers,
        "tokens_of_rank": program.tokens,
        "prediction": kind,
        **proof.fields,
        "plan_seconds": plan_seconds,
        "verify_seconds": verify_seconds,
        "peak_rss_bytes": peak_rss_bytes(),
        **known.rates_as_json(),
    }
    # A host may take several blocks at once, so that fewest phases are not what a ring of blocks is measured by.
    bound = f"{time_ratio:.3f} times the bound of the wires" if demand.by_blocks else f"bound {bounds.phases}"
    lines = [
        *loud(known),
        f"rank {rank} of {network.ranks}: {program.transfers // 2} sends and as many receives in "
        f"{form.phases} phases ({bound}) by '{form.algorithm}', computed in {plan_seconds:.3f} s; "
        f"its sends wait for {program.tokens} tokens",
        f"the whole takes {format_time(predicted, 4)} ({PREDICTED[kind]}), bound {format_time(bounds.seconds, 4)}",
        f"{proof.text} ({verify_seconds:.3f} s)",
        *(f"  {finding}" for finding in proof.findings),
        *row_texts(program.csv(rank, demand.bytes, 0, MOST_ROWS + 1), dump),
    ]
    tell(report, lambda: lines)
    if not proof.ok:
        click.get_current_context().exit(1)
