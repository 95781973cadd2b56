"""Exchanges in two levels: ranks put what they have into the memory of their host, one message goes between two hosts.

No algorithm lives here: the core lays out the memory, verifies both levels and predicts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from hocket import _core
from hocket.demand.collectives import ALL_GATHER, ALL_REDUCE, ALL_TO_ALL, IRREGULAR, find
from hocket.errors import PlanError, UsageError
from hocket.planning.plan import AUTO, plan_demand

if TYPE_CHECKING:
    from hocket.costs.model import Costs

PATTERNS: Final = (ALL_TO_ALL, ALL_GATHER, ALL_REDUCE, IRREGULAR)


def report_of(plan: _core.Plan) -> dict[str, Any]:
    """Figures of a two-level exchange, for ``--json``."""
    both = plan.two_level
    exchange, took = both.exchange, both.time
    return {
        "algorithm": plan.algorithm,
        "hosts": len(exchange.groups),
        "messages": len(exchange.schedule),
        "direct_messages": both.direct_messages,
        "phases": exchange.schedule.phases,
        "bytes_between_hosts": sum(exchange.schedule.lengths()),
        "memory_bytes": max(exchange.memory),
        "put_seconds": None if took is None else took.put,
        "between_seconds": None if took is None else took.between,
        "take_seconds": None if took is None else took.take,
        "predicted_seconds": None if took is None else took.seconds,
        "contention_free": both.certificate.contention_free,
        "complete": both.certificate.complete,
    }


def plan_two_level(
    network: _core.Network,
    demand: _core.Demand,
    costs: Costs,
    *,
    algorithm: str = AUTO,
    window: int | None = None,
    most_compared: int = 0,
) -> _core.Plan:
    """Plans one message between any two hosts, verifies both levels, and compares up to so many messages with those of
    ranks. Raises UsageError where nothing can be aggregated."""
    if reason := network.host_groups().why_not(demand):
        raise UsageError(
            f"there is nothing to aggregate: {reason}", remedy="leave --two-level, or give --ranks-per-host"
        )
    return plan_demand(
        network,
        demand,
        algorithm,
        window,
        two_level=True,
        costs=costs.of_runs(network),
        most_compared=most_compared,
    )


def demand_of_ranks(network: _core.Network, between: _core.Demand) -> _core.Demand:
    """Demand of the ranks of ``network`` that a plan of one rank a host aggregates: its blocks divided among
    the ranks, or as many bytes a message as its aggregated messages hold. Raises PlanError if the plan does
    not say which rank has what."""
    groups = network.host_groups()
    if between.pattern == IRREGULAR:
        raise PlanError(
            "the plan of an irregular exchange between hosts does not say what each rank has",
            remedy="verify it for one rank a host",
        )
    if not between.by_blocks:
        return _core.Demand(network.ranks, between.bytes // groups.most**2)
    blocks = between.contributions or [between.bytes] * between.ranks
    if between.pattern == ALL_REDUCE:
        return find_demand(ALL_REDUCE, network.ranks, sum(blocks))
    shares = [0] * network.ranks
    for ranks, block in zip(groups.ranks, blocks, strict=True):
        for place, rank in enumerate(ranks):
            shares[rank] = block * (place + 1) // len(ranks) - block * place // len(ranks)
    return _core.Demand(network.ranks, max(shares), between.pattern, contributions=shares)


def find_demand(name: str, ranks: int, bytes: int) -> _core.Demand:
    """Demand of a collective without a root."""
    return find(name).demand(ranks, bytes, 0)
