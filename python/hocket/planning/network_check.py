"""Checks that a plan was made for this network, and that its header agrees with its demand."""

from __future__ import annotations

import math
from collections import Counter

from hocket import _core
from hocket.demand.collectives import ALL_GATHER, ALL_TO_ALL
from hocket.errors import PlanError
from hocket.system.text import counted
from hocket.units import format_rate, format_time

_ROUNDING = 1e-9  # of times computed from the same numbers


def check_same_network(
    plan: _core.Plan, network: _core.Network, where: str, given: str, measured: bool = False
) -> None:
    """Refuses a plan that was made for other hosts or another network than ``network``.

    ``measured``: the network's uplinks are as wide as a run has measured them, maybe after the plan was made.
    """
    compare_networks(plan.network, network, where, given, measured)
    check_header(plan, where)


def check_header(plan: _core.Plan, where: str) -> None:
    """Refuses a plan whose header states other bounds than its demand has on the plan's own network, or a
    time that is less. Messages that go whole have no size in the rows, so that nothing else tells of a changed
    one. What is 0 is not stated; what per-message cost blocks were planned for is not known.
    """
    demand, stated = plan.demand, plan.bound_seconds
    phases, least = plan.least(plan.network)
    size = f"{where}: the header says {demand.bytes} bytes"
    remedy = "make it again with 'hocket plan'"
    same = math.isclose(stated, least, rel_tol=_ROUNDING)
    if stated > 0 and not (same or (demand.by_blocks and stated > least)):
        raise PlanError(
            f"{size} and a bound of {format_time(stated, 9)}; the bound of so many bytes is {format_time(least, 9)}",
            remedy=remedy,
        )
    if demand.pattern == ALL_TO_ALL and 0 < plan.predicted_seconds < stated * (1 - _ROUNDING):
        raise PlanError(
            f"{size} in {format_time(plan.predicted_seconds)}, which is less than the bound of "
            f"{format_time(stated)}",
            remedy=remedy,
        )
    if plan.bound_phases > 0 and _is_known(plan) and plan.bound_phases != phases:
        raise PlanError(
            f"{where}: the header says a bound of {plan.bound_phases} phases; it is {phases}", remedy=remedy
        )


def _is_known(plan: _core.Plan) -> bool:
    """False where the phases depend on what an algorithm lets ranks do at once, and this version does not know it."""
    if not plan.demand.by_blocks:
        return True
    return any(one.name == plan.algorithm and one.pattern == ALL_GATHER for one in _core.Algorithm.all())


def compare_networks(
    made_for: _core.Network, network: _core.Network, where: str, given: str, measured: bool = False
) -> None:
    """Check the given network against the one that the plan was made for. Raises PlanError."""
    remedy = f"plan again with --network {given}"
    if measured and made_for.links == network.links and _hosts(made_for) == _hosts(network):
        rates = [(_rate(made_for, link), _rate(network, link)) for link in range(len(network.links))]
        link = next((link for link, (planned, now) in enumerate(rates) if planned != now), None)
        if link is None:
            return
        planned, now = rates[link]
        raise PlanError(
            f"{where}: made for other uplinks than a run has measured: {network.channel_name(2 * link)} of "
            f"{planned}, measured {now}",
            remedy=f"{remedy}, or state the same rates in both: --uplink-rate or --oversubscription",
        )
    for what, of_plan, of_network in (
        ("hosts", _hosts(made_for), _hosts(network)),
        ("channels", _channels(made_for), _channels(network)),
    ):
        if of_plan == of_network:
            continue
        raise PlanError(f"{where}: made for another network: {_difference(what, of_plan, of_network)}",
                        remedy=remedy)  # fmt: skip


def _hosts(network: _core.Network) -> list[str]:
    names, ranks, ports = network.names, network.ranks_per_node, network.ports
    several = [f", {counted(count, 'port')}" if count != 1 else "" for count in ports] or [""] * len(names)
    return [f"{names[host]} with {counted(ranks[host], 'rank')}{several[host]}" for host in network.hosts]


def _channels(network: _core.Network) -> list[str]:
    """Channels as sorted texts: the same links listed in another order are the same network."""
    rates: dict[float, str] = {}
    lines = []
    for channel in range(network.channels):
        rate = network.rate(channel)
        if rate not in rates:
            rates[rate] = format_rate(rate, 12)
        lines.append(f"{network.channel_name(channel)} of {rates[rate]}")
    return sorted(lines)


def _rate(network: _core.Network, link: int) -> str:
    return format_rate(network.rate(2 * link), 12)


def _difference(what: str, of_plan: list[str], of_network: list[str]) -> str:
    if what == "channels":
        lacking = list((Counter(of_plan) - Counter(of_network)).elements())
        if lacking:
            return f"the network has no channel {lacking[0]}"
        return f"the plan has no channel {next((Counter(of_network) - Counter(of_plan)).elements())}"
    if len(of_plan) != len(of_network):
        return f"the plan has {len(of_plan)} {what}, the network {len(of_network)}"
    index = next(i for i, pair in enumerate(zip(of_plan, of_network, strict=True)) if pair[0] != pair[1])
    return f"host {index} is {of_plan[index]}, in the network {of_network[index]}"
