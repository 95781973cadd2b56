"""Exchanges in two levels: ranks put what they have into the memory of their host, one message goes between two hosts.

No algorithm lives here: the core lays out the memory, verifies both levels and predicts.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from hocket import _core
from hocket.demand.collectives import ALL_GATHER, ALL_REDUCE, ALL_TO_ALL, IRREGULAR, find
from hocket.errors import PlanError, UsageError
from hocket.planning.plan import AUTO, MOST_STEPS, plan_demand, ports_of

if TYPE_CHECKING:
    from hocket.costs.model import Costs

PATTERNS: Final = (ALL_TO_ALL, ALL_GATHER, ALL_REDUCE, IRREGULAR)
MOST_CROSSING: Final = 24  # 2**24 bytes: far beyond where anything is aggregated
# Two calls of a communicator may be under way, and share its memory.
MEMORY: Final[int] = next(v.fallback for v in _core.variables() if v.name == "HOCKET_HOST_MEMORY") // 2


@dataclass(frozen=True, slots=True)
class TwoLevelPlan:
    """Two-level exchange and what is known about it."""

    network: _core.Network  # of the ranks
    exchange: _core.TwoLevelExchange
    planned: _core.Plan  # of one rank a host, as a plan file has it
    certificate: _core.TwoLevelCertificate
    time: _core.TwoLevelTime | None
    plan_seconds: float
    verify_seconds: float

    def report(self) -> dict[str, Any]:
        """Figures of the two-level exchange, for ``--json``."""
        took = self.time
        return {
            "algorithm": self.planned.algorithm,
            "hosts": len(self.exchange.groups),
            "messages": len(self.exchange.schedule),
            "direct_messages": messages_between_hosts(self.network, self.exchange.demand),
            "phases": self.exchange.schedule.phases,
            "bytes_between_hosts": sum(self.exchange.schedule.lengths()),
            "memory_bytes": max(self.exchange.memory),
            "put_seconds": None if took is None else took.put,
            "between_seconds": None if took is None else took.between,
            "take_seconds": None if took is None else took.take,
            "predicted_seconds": None if took is None else took.seconds,
            "contention_free": self.certificate.contention_free,
            "complete": self.certificate.complete,
        }


def messages_between_hosts(network: _core.Network, demand: _core.Demand) -> int:
    """Messages of ranks, one by one, that leave their host."""
    host_of = _core.groups_of(network).host_of
    if demand.pattern == IRREGULAR:
        return sum(1 for src, dst, _ in demand.list() if host_of[src] != host_of[dst])
    if demand.by_blocks:
        return int(demand.messages)
    counts = [len(ranks) for ranks in _core.groups_of(network).ranks]
    return sum(counts) ** 2 - sum(count * count for count in counts)


def plan_two_level(
    network: _core.Network,
    demand: _core.Demand,
    costs: Costs,
    *,
    algorithm: str = AUTO,
    window: int | None = None,
    steps: int = MOST_STEPS,
) -> TwoLevelPlan:
    """Plans one message between any two hosts, and verifies both levels. Raises UsageError where nothing can be
    aggregated."""
    from hocket.costs.model import read_profile

    groups, between = _core.groups_of(network), _core.one_rank_a_host(network)
    if reason := _core.why_not_two_level(groups, demand):
        raise UsageError(
            f"there is nothing to aggregate: {reason}", remedy="leave --two-level, or give --ranks-per-host"
        )
    begun = time.perf_counter()
    planned = plan_demand(between, _core.scheduled_between(groups, demand), algorithm, window, whole=True)
    exchange = _core.two_level(groups, demand, planned.schedule)
    plan_seconds = time.perf_counter() - begun
    begun = time.perf_counter()
    ports = ports_of(planned.algorithm, exchange.between.pattern)
    certificate = _core.verify_two_level(between, exchange, planned.waits, MEMORY, ports)
    verify_seconds = time.perf_counter() - begun
    most = int(max(exchange.schedule.lengths(), default=0))
    parameters = costs.parameters(between, most, segmented=True)
    took = _core.two_level_seconds(between, exchange, planned.waits, parameters, read_profile(), steps)
    return TwoLevelPlan(network, exchange, planned, certificate, took, plan_seconds, verify_seconds)


def runs_two_level(network: _core.Network, demand: _core.Demand) -> bool:
    """Return true if runs can aggregate the exchange on two levels. Exchanges with one contributing rank
    (broadcasts and the like) are not aggregated."""
    one_giver = sum(1 for each in demand.contributions if each) == 1
    if demand.pattern not in PATTERNS or one_giver:
        return False
    groups = _core.groups_of(network)
    if _core.why_not_two_level(groups, demand):
        return False
    blocks = demand.contributions
    vector = sum(blocks) if blocks else demand.ranks * demand.bytes
    return bool(_core.vectors_held(groups, demand.pattern) * vector <= MEMORY)


def seconds_of(
    network: _core.Network, demand: _core.Demand, costs: Costs, steps: int, window: int | None = None
) -> float | None:
    """Predicted seconds of the two-level exchange; None if they are unknown or the verifier refuses the plan."""
    one = plan_two_level(network, demand, costs, window=window, steps=steps)
    return float(one.time.seconds) if one.time is not None and one.certificate.ok else None


def rank_by_rank_seconds(
    network: _core.Network, demand: _core.Demand, costs: Costs, steps: int
) -> float | None:
    """Predicted seconds of the same exchange with one message for every two ranks, under the faster of the
    usual windows."""
    planned = plan_demand(network, demand)
    parameters = costs.parameters(network, demand.bytes, segmented=True)
    found = []
    for window in (1, 2):
        waits = _core.derive_waits(network, planned.schedule, window)
        flow = f"window:{window}"
        found.append(_core.seconds_within(steps, network, planned.schedule, waits, flow, parameters))
    return min((float(seconds) for seconds in found if seconds is not None), default=None)


def crossing(network: _core.Network, name: str, costs: Costs, steps: int) -> int | None:
    """Largest size of a message, or of a rank's contribution, in bytes, for which two-level messages are
    predicted to be faster: a power of two, 0 for none. The search assumes that they are faster below. None:
    too large to be simulated."""

    def faster(bytes: int) -> bool | None:
        demand = find_demand(name, network.ranks, bytes)
        if not runs_two_level(network, demand):
            return False
        two_level = seconds_of(network, demand, costs, steps)
        direct = rank_by_rank_seconds(network, demand, costs, steps)
        return None if direct is None or two_level is None else two_level < direct

    low, high = -1, MOST_CROSSING  # 2**low: faster, 2**high: not
    while high - low > 1:
        middle = (low + high) // 2
        answer = faster(1 << middle)
        if answer is None:
            return None
        low, high = (middle, high) if answer else (low, middle)
    return 0 if low < 0 else 1 << low


def demand_of_ranks(network: _core.Network, between: _core.Demand) -> _core.Demand:
    """Demand of the ranks of ``network`` that a plan of one rank a host aggregates: its blocks divided among
    the ranks, or as many bytes a message as its aggregated messages hold. Raises PlanError if the plan does
    not say which rank has what."""
    groups = _core.groups_of(network)
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
