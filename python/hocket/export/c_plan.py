"""The exchange of a plan file, as a generated routine carries it out."""

from __future__ import annotations

from dataclasses import replace

from hocket import _core
from hocket.demand.collectives import ALL_REDUCE, IRREGULAR, call_of
from hocket.errors import UsageError
from hocket.export.c_header import RoutineOptions
from hocket.export.c_source import ROUTINES
from hocket.planning.plan import Exchange, PlannedExchange, flow_of, plan_collective


def routine_options(plan: _core.Plan, function: str | None, flow: str | None) -> RoutineOptions:
    """Name and flow control of a routine: by default the call that it replaces, and as planned. Raises UsageError."""
    options = RoutineOptions(
        function or ROUTINES[collective_of(plan.header.demand)].replaced, flow or flow_of(plan.waits)
    )
    options.check()
    return options


def collective_of(demand: _core.Demand) -> str:
    """The collective that a routine is written of. Raises UsageError for a demand of none."""
    call = call_of(demand)
    if call is None and demand.pattern == IRREGULAR:
        raise UsageError(
            "no routine is written of an irregular exchange",
            remedy=f"export a plan of {', '.join(ROUTINES)}",
        )
    return str(demand.pattern) if call is None else call[0]


def exchange_of(plan: _core.Plan, options: RoutineOptions) -> PlannedExchange:
    """The exchange of a plan under the routine's window, verified. Raises UsageError and PlanError.

    Blocks of an all-reduce differ by a byte where its vector cannot be shared out evenly. A routine cuts every block
    alike, so such a plan is made again for the next larger vector.
    """
    stated = Exchange.of_file(plan)
    options.check_network(stated.network)
    collective = collective_of(stated.demand)
    if collective == ALL_REDUCE and stated.demand.contributions:
        ranks = stated.network.ranks
        bytes = -(-sum(stated.demand.contributions) // ranks) * ranks
        planned = plan_collective(collective, stated.network, bytes, stated.algorithm, options.window)
    else:
        if options.window != stated.waits.window:
            waits = _core.derive_waits(stated.network, stated.schedule, options.window)
            stated = replace(stated, waits=waits)
        planned = PlannedExchange(
            **vars(stated),
            certificate=stated.prove(),
            plan_seconds=0.0,
            verify_seconds=0.0,
            collective=collective,
        )
    planned.check_accepted()
    return planned
