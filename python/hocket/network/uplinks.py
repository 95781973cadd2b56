"""Uplinks, the links between two switches: which switch is above, and how fast they are by the options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final, Literal

from hocket.errors import NetworkError, UsageError, Where
from hocket.network.description import NetworkDescription
from hocket.network.measured import read_measured
from hocket.network.parts import AssumedRate, Defaults, Link, beside, distances
from hocket.units import format_rate, format_time

Provenance = Literal["stated", "measured", "assumed", "none"]


@dataclass(frozen=True, slots=True)
class KnownRates:
    """``provenance``: ``stated`` by the file or an option, ``measured`` by a run, ``assumed``, or ``none`` where there
    are no such links. ``text`` is one line for the user; ``warning``, if any, says what of the cache was not taken."""

    provenance: Provenance
    text: str
    warning: str = ""

    @property
    def assumed(self) -> bool:
        return self.provenance == "assumed"

    def as_json(self) -> dict[str, Any]:
        return {"provenance": self.provenance, "text": self.text}


CONTRADICTED: Final = 1.5  # times faster or slower than stated: what was measured is told
_REMEDY: Final = "give --rate"


def settle_host_rates(description: NetworkDescription) -> KnownRates:
    """Gives links whose rates nobody states those that a run has measured, and says how they are known.

    What is stated counts: a job measured one pair, which other ranks or a narrow uplink may have held back. The
    description's proportions stay: what is measured is how fast a host is."""
    if not (rates := host_rates(description)):
        return KnownRates("none", "host rates: no host has a link")
    rate, assumed = max(rates), all(isinstance(rate, AssumedRate) for rate in rates)
    measured, warning = read_measured(description)
    if not assumed:
        text = f"host rates: {format_rate(rate)}, as stated"
        if measured is not None and not 1 / CONTRADICTED < measured.host_rate / rate < CONTRADICTED:
            text += f"; a job measured {format_rate(measured.host_rate, 3)} on {measured.date}"
        return KnownRates("stated", text, warning=warning)
    if measured is None:
        text = f"host rates: assumed {format_rate(rate)} (not stated); {_REMEDY}"
        return KnownRates("assumed", text, warning=warning)
    _make_faster(description, measured.host_rate / rate)
    alpha = f", {format_time(measured.alpha, 3)} a message" if measured.alpha > 0 else ""
    found = f"{format_rate(measured.host_rate, 3)}{alpha}"
    return KnownRates("measured", f"host rates: measured on {measured.date} in this cluster: {found}")


def host_rates(description: NetworkDescription) -> list[float]:
    """Rates of the links of hosts, in bytes per second; those that no file states are of the type AssumedRate."""
    if description.wiring is not None:
        return [description.wiring.host_rate]
    if description.grid is not None:
        return [description.grid.rate]
    if description.routing is not None:  # the first channel of a route is the host's own
        channels = description.routing.channels
        return [channels[path[0]].rate for _, _, path in description.routing.routes if path]
    hosts = {node.name for node in description.nodes if node.is_host}
    return [link.rate for link in description.links if link.a in hosts or link.b in hosts]


def _make_faster(description: NetworkDescription, times: float) -> None:
    if description.grid is not None:
        description.grid.rate *= times
        return
    for link in description.routing.channels if description.routing is not None else description.links:
        if isinstance(link.rate, AssumedRate):
            link.rate *= times


_WAYS_OUT = "say --uplink-rate instead, or write the rates with 'hocket network convert'"


def shared_uplinks(description: NetworkDescription) -> list[int]:
    """The uplinks that two hosts can be in each other's way on: two hosts or more on each side. A host alone
    sends no faster than its own link."""
    beside: dict[str, list[tuple[str, int]]] = {node.name: [] for node in description.nodes}
    for index, link in enumerate(description.links):
        for end, other in ((link.a, link.b), (link.b, link.a)):
            if end in beside:
                beside[end].append((other, index))
    hosts = {node.name: int(node.is_host) for node in description.nodes}  # behind each node, and itself
    every, narrow = sum(hosts.values()), set[int]()
    left = {name: len(links) for name, links in beside.items()}
    ends = [name for name, count in left.items() if count == 1]
    gone: set[str] = set()
    for name in ends:  # grows: what is behind the last link of a node is known
        gone.add(name)
        for other, index in beside[name]:
            if other in gone or other not in left:
                continue
            if min(hosts[name], every - hosts[name]) < 2:
                narrow.add(index)
            hosts[other] += hosts[name]
            left[other] -= 1
            if left[other] == 1:
                ends.append(other)
    return [index for index in description.uplinks() if index not in narrow]


def apply_options(description: NetworkDescription, defaults: Defaults) -> str:
    """Gives the uplinks the rates that the user states; returns the option that did, or nothing.

    Raises :class:`UsageError` for both options at once, :class:`NetworkError` where a network has no levels."""
    if defaults.uplink_rate is not None and defaults.oversubscription != "auto":
        raise UsageError("--uplink-rate and --oversubscription both say how fast uplinks are",
                         remedy="give one of them")  # fmt: skip
    if defaults.uplink_rate is not None:
        if description.routing is not None:
            raise _only_routes(description, "--uplink-rate")
        for index in description.uplinks():
            description.links[index].rate = defaults.uplink_rate
            description.links[index].rate_given = True
        return "--uplink-rate"
    if defaults.oversubscription != "auto":
        _oversubscribe(description, defaults.oversubscription)
        return "--oversubscription"
    return ""


def _oversubscribe(description: NetworkDescription, shares: Sequence[float]) -> None:
    """Set the rates of uplinks from the leaves up: a switch's uplinks together carry what the links below it
    do, over the oversubscription of its level, and each of them the same."""
    levels = Levels.of(description)
    carried = dict.fromkeys(levels.height, 0.0)  # by the links below a switch
    for link in description.links:
        for upper, lower in ((link.a, link.b), (link.b, link.a)):
            if upper in carried and lower not in carried:
                carried[upper] += link.rate
    for name in sorted(levels.height, key=lambda name: levels.height[name]):
        if not (above := levels.above[name]):
            continue
        share = shares[min(levels.height[name], len(shares)) - 1]
        for upper, link in above:
            link.rate, link.rate_given = carried[name] / share / len(above), True
            carried[upper] += link.rate


@dataclass(slots=True)
class Levels:
    """Levels of switches: ``height`` (1: no switch below) and the switches ``above`` each, with the link to each."""

    height: dict[str, int] = field(default_factory=dict)
    above: dict[str, list[tuple[str, Link]]] = field(default_factory=dict)

    @staticmethod
    def of(description: NetworkDescription) -> Levels:
        """Levels in a tree as the file orders the ends of its links, else by the distance from the hosts."""
        if description.routing is not None:
            raise _only_routes(description, "--oversubscription")
        ordered = [(link.a, link.b, link) for link in (description.links[i] for i in description.uplinks())]
        levels = _levels(description, ordered) if description.shape == "tree" else None
        return levels or _levels(description, _by_distance(description, ordered)) or _no_levels(description)


def _levels(
    description: NetworkDescription, ordered: Sequence[tuple[str, str, Link]] | None
) -> Levels | None:
    """The levels where each link is (upper, lower, link); None unless every switch has hosts below it and
    none is above itself. In a tree each switch has one above it."""
    if ordered is None:
        return None
    levels = Levels({n.name: 0 for n in description.nodes if not n.is_host})
    levels.above = {name: [] for name in levels.height}
    below: dict[str, list[str]] = {name: [] for name in levels.height}
    for upper, lower, link in ordered:
        levels.above[lower].append((upper, link))
        below[upper].append(lower)
    if description.shape == "tree" and any(len(above) > 1 for above in levels.above.values()):
        return None
    with_hosts = {
        switch
        for link in description.links
        for switch, other in ((link.a, link.b), (link.b, link.a))
        if switch in levels.height and other not in levels.height
    }
    if not with_hosts.issuperset(name for name, lower in below.items() if not lower):
        return None
    try:
        for name in TopologicalSorter(below).static_order():  # the lower ones first
            levels.height[name] = 1 + max((levels.height[lower] for lower in below[name]), default=0)
    except CycleError:
        return None
    return levels


def _by_distance(
    description: NetworkDescription, links: Sequence[tuple[str, str, Link]]
) -> list[tuple[str, str, Link]] | None:
    """Turn each link so that the end farther from the hosts comes first; None if both ends of any are equally far."""
    hosts = (node.name for node in description.nodes if node.is_host)
    distance = distances(beside(description.nodes, description.links), hosts)
    farther = []
    for a, b, link in links:
        if distance.get(a, 0) == distance.get(b, 0):
            return None
        farther.append((a, b, link) if distance.get(a, 0) > distance.get(b, 0) else (b, a, link))
    return farther


def _no_levels(description: NetworkDescription) -> Levels:
    raise NetworkError(
        "--oversubscription is by levels, and of some switches neither is above the other",
        where=Where(description.source),
        remedy=_WAYS_OUT,
    )


def _only_routes(description: NetworkDescription, option: str) -> NetworkError:
    return NetworkError(
        f"{option}: explicit routes do not say which links are uplinks",
        where=Where(description.source),
        remedy=f"leave {option} out and correct the rates in the file",
    )
