"""Whether a plan belongs to a network."""

from __future__ import annotations

from collections import Counter

from hocket import _core
from hocket.errors import PlanError


def check_same_network(plan: _core.Plan, network: _core.Network, where: str, given: str) -> None:
    """Refuses a plan that was made for other hosts or another network than ``network``."""
    compare_networks(plan.build_network(), network, where, given)


def compare_networks(made_for: _core.Network, network: _core.Network, where: str, given: str) -> None:
    """The same, given the network that the plan was made for."""
    remedy = f"plan again with --network {given}"
    for what, of_plan, of_network in (
        ("hosts", _hosts(made_for), _hosts(network)),
        ("channels", _channels(made_for), _channels(network)),
    ):
        if of_plan == of_network:
            continue
        raise PlanError(f"{where}: made for another network: {_difference(what, of_plan, of_network)}",
                        remedy=remedy)  # fmt: skip


def _hosts(network: _core.Network) -> list[str]:
    names, ranks = network.names, network.ranks_per_node
    return [f"{names[host]} with {_counted(ranks[host], 'rank')}" for host in network.hosts]


def _channels(network: _core.Network) -> list[str]:
    """In an order of their own: the same links listed in another order are the same network."""
    from hocket.units import format_rate

    rates: dict[float, str] = {}
    lines = []
    for channel in range(network.channels):
        rate = network.rate(channel)
        if rate not in rates:
            rates[rate] = format_rate(rate, 12)
        lines.append(f"{network.channel_name(channel)} of {rates[rate]}")
    return sorted(lines)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


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
