"""A lid for each pair of hosts. On InfiniBand with lmc > 0 each port has several, with routes of their own."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hocket import _core
from hocket.errors import NetworkError
from hocket.network.parts import Forwarding
from hocket.network.paths import Route, own_routes, routed

MOST_ROUTES: Final = 2_000_000  # of all pairs and lids


@dataclass(slots=True)
class ChosenLids:
    """``lids``: of each pair of hosts, by node: the lid to write to, counted from the base lid. ``choices``: pairs with
    several different routes."""

    network: _core.Network
    lids: dict[tuple[int, int], int]
    choices: int


def said(network: _core.Network, forwarding: Forwarding) -> str:
    """One line for the user; ``network``: as it is planned for."""
    phases = _core.lower_bounds(network, _core.Demand(network.ranks, 1)).phases
    if not forwarding.choose:
        return f"ports have several lids (lmc): on the base ones an all-to-all takes {phases} phases (--lids chosen)"
    return f"a lid is chosen for each pair of hosts: an all-to-all takes {phases} phases, if messages are sent to these"


def choose_lids(network: _core.Network, forwarding: Forwarding) -> ChosenLids:
    """Choose lids such that the fullest link of an all-to-all carries little; ``network``: on the base lids.

    Lids whose tables do not lead to the host are left out. Raises :class:`NetworkError` for more than
    :data:`MOST_ROUTES` routes."""
    hosts = network.hosts
    pairs = list(itertools.permutations(hosts, 2))
    if len(pairs) * (len(forwarding.further) + 1) > MOST_ROUTES:
        raise NetworkError(
            f"{len(pairs):,} pairs of hosts have more than {MOST_ROUTES:,} routes by all lids",
            remedy="plan on the base lids: leave --lids out",
        )
    own = own_routes(network)
    head = [end for a, b in network.links for end in (b, a)]
    tables = {
        number: {(node, host): channel for node, host, channel in hops}
        for number, hops in sorted(forwarding.further.items())
    }
    items, numbers = [], []
    for src, dst in pairs:
        base = own(src, dst)
        routes = {tuple(base): 0}
        for number, table in tables.items():
            if (route := _walked(head, table, base[0], dst, network.nodes)) is not None:
                routes.setdefault(tuple(route), number)
        items.append([list(route) for route in routes])
        numbers.append(list(routes.values()))
    choices = sum(len(options) > 1 for options in items)
    picks = _core.least_load([network.rate(c) for c in range(network.channels)], items)
    chosen: dict[tuple[int, int], Route] = {
        pair: options[pick] for pair, options, pick in zip(pairs, items, picks, strict=True)
    }
    lids = {pair: of[pick] for pair, of, pick in zip(pairs, numbers, picks, strict=True)}
    return ChosenLids(routed(network, chosen), lids, choices)


def _walked(
    head: Sequence[int], table: Mapping[tuple[int, int], int], begin: int, dst: int, nodes: int
) -> Route | None:
    """Channels from one that leaves the sender; None where they do not lead there."""
    route = [begin]
    while (node := head[route[-1]]) != dst:
        if (channel := table.get((node, dst))) is None or len(route) > nodes:
            return None
        route.append(channel)
    return route
