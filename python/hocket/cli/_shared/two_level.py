"""Two-level exchanges on the command line: planned, printed, and found in plan files of one rank a host."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from hocket import _core
from hocket.cli._shared.commands import Decorator, option
from hocket.cli._shared.options import loud
from hocket.cli._shared.plan_output import PREDICTED, deliver
from hocket.cli._shared.request import Request, size_text
from hocket.cli._shared.work import with_spinner
from hocket.demand.collectives import EQUAL, IRREGULAR
from hocket.errors import PlanError, UsageError
from hocket.planning import aggregation
from hocket.units import format_bytes, format_time

if TYPE_CHECKING:
    from hocket.costs.model import Costs
    from hocket.network import KnownNetwork

# Collectives that --two-level serves; those with a root are not aggregated.
TWO_LEVEL = (*(c.name for c in EQUAL if not c.rooted and c.pattern in aggregation.PATTERNS), IRREGULAR)
MOST_COMPARED = 5_000  # messages of ranks; with more no crossing point is looked for


def two_level_option(help: str = "One message between two hosts for all their ranks.") -> Decorator:
    return option("--two-level", help)


def plan_two_level(known: KnownNetwork, request: Request, most_compared: int = 0) -> tuple[_core.Plan, Costs]:
    """Plan a two-level exchange by the costs known for the network, which are returned, too."""
    from hocket.planning.candidates import costs_of

    demand = request.demand(known.network)
    costs = costs_of(known.network, request.calibration, known.description)
    planned = with_spinner(
        f"planning aggregates of {len(known.network.hosts)} hosts",
        lambda: aggregation.plan_two_level(
            known.network,
            demand,
            costs,
            algorithm=request.algorithm,
            window=request.window,
            most_compared=most_compared,
        ),
    )
    return planned, costs


def finish_two_level(request: Request, known: KnownNetwork) -> None:
    """Plans, writes what was asked for and says what was planned. The plan file is of one rank a host: runs follow it
    when they aggregate messages. Raises UsageError for that of an irregular exchange."""
    planned, costs = plan_two_level(known, request, MOST_COMPARED)
    name, both = request.collective, planned.two_level
    if request.output is not None and name == IRREGULAR:
        raise UsageError("a plan file of aggregates does not say what each rank sends", remedy="leave -o")
    report = {
        "collective": name, "ranks": known.network.ranks, **aggregation.report_of(planned), "costs": costs.origin,
        "rank_by_rank_seconds": both.direct_seconds, "faster_up_to_bytes": both.faster_up_to,
        "plan_seconds": planned.plan_seconds, "verify_seconds": planned.verify_seconds,
        **known.rates_as_json(),
    }  # fmt: skip
    lines = partial(_lines, report, planned, known)
    deliver(request, report, lines, both.certificate.ok, planned, both.exchange.schedule)


def _lines(report: dict[str, Any], planned: _core.Plan, known: KnownNetwork) -> list[str]:
    """The report for people."""
    both = planned.two_level
    certificate, time = both.certificate, both.time
    verdict = "verified" if certificate.ok else "REFUSED by the verifier"
    lines = [
        f"{report['collective']} of {report['ranks']} ranks on {report['hosts']} hosts, "
        f"{size_text(both.exchange.demand)}, aggregated: {report['messages']} messages instead of "
        f"{report['direct_messages']}, by '{report['algorithm']}'",
        f"phases      {report['phases']}, window {planned.waits.window}, {len(planned.waits)} waits",
        memory_line(time, both.exchange),
    ]
    if time is not None:
        direct = report["rank_by_rank_seconds"]
        other = "" if direct is None else f"; rank by rank {format_time(direct, 4)}"
        lines.append(
            f"time        {format_time(time.seconds, 4)} {PREDICTED['simulated']}, of it "
            f"{format_time(time.between, 4)} between hosts{other}"
        )
    if (limit := report["faster_up_to_bytes"]) is not None:
        told = (
            f"predicted to be faster up to {format_bytes(limit)}" if limit else "not predicted to be faster"
        )
        lines.append(f"aggregates  {told}")
    lines += [
        *loud(known),
        f"both levels {verdict}: {'' if certificate.contention_free else 'NOT '}contention-free, "
        f"{'every byte to its target, once' if certificate.complete else 'NOT complete'}",
        *[f"            {text} (phase {phase})" for _, phase, text in certificate.findings[:3]],
        f"took        {planned.plan_seconds:.3f} s to plan, {planned.verify_seconds:.3f} s to verify",
        f"costs       {report['costs']}",
    ]
    return lines


def memory_line(time: _core.TwoLevelTime | None, exchange: _core.TwoLevelExchange) -> str:
    """Line on the memory that a host needs, and on the time of copying into and out of its messages."""
    took = (
        ""
        if time is None
        else f", put in {format_time(time.put, 3)}, taken out in {format_time(time.take, 3)}"
    )
    return f"memory      {format_bytes(max(exchange.memory))} a host{took}"


def check_two_level_plan(plan: _core.Plan, network: _core.Network, where: str) -> None:
    """Raises HocketError unless the plan has one rank on every host, and the network more."""
    if max(network.ranks_per_node) == 1:
        raise UsageError("--two-level: the network has one rank a host, so there is nothing to aggregate",
                         remedy="say how many there are: --ranks-per-host")  # fmt: skip
    if max(plan.network.ranks_per_node) > 1:
        raise PlanError(f"{where}: aggregates follow plans of one rank a host, and this one has more",
                        remedy="plan with --two-level, or verify without it")  # fmt: skip


def exchange_of(plan: _core.Plan, network: _core.Network) -> _core.TwoLevelExchange:
    """Two-level exchange as runs make it of a plan of one rank a host, whose schedule carries all ranks' messages."""
    demand = aggregation.demand_of_ranks(network, plan.demand)
    return _core.TwoLevelExchange(network.host_groups(), demand, plan.schedule)
