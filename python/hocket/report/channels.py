"""Which channels a picture shows: those between switches first, then by load."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hocket._core import Network, Simulation


class Group(Enum):
    """Where a channel lies."""

    TRUNK = "between switches"
    UP = "from hosts"
    DOWN = "to hosts"
    LINK = "channels"  # hosts are wired to each other, or the network is a list of routes


@dataclass(frozen=True, slots=True)
class Choice:
    """The channels shown, most important first, and how many are not."""

    channels: list[int]
    groups: list[Group]
    left_out: int

    def note(self) -> str:
        if not self.left_out:
            return ""
        noun = "channel is" if self.left_out == 1 else "channels are"
        return f"{self.left_out} less loaded {noun} not shown"


def group_of(network: Network, channel: int) -> Group:
    links, ranks = network.links, network.ranks_per_node
    return _group(links, ranks, channel)


def _group(links: list[tuple[int, int]], ranks: list[int], channel: int) -> Group:
    if not links:
        return Group.LINK
    ends = links[channel // 2]
    source, sink = ends if channel % 2 == 0 else ends[::-1]
    if ranks[source] == 0 and ranks[sink] == 0:
        return Group.TRUNK
    if ranks[source] > 0 and ranks[sink] > 0:
        return Group.LINK
    return Group.UP if ranks[source] > 0 else Group.DOWN


def choose(simulation: Simulation, network: Network, most: int) -> Choice:
    """At most ``most`` of the channels in use."""
    links, ranks = network.links, network.ranks_per_node
    order = list(Group)
    load = [float(b) / network.rate(c) for c, b in enumerate(simulation.channel_bytes)]
    group = {c: _group(links, ranks, c) for c in range(network.channels)}
    used = [c for c in range(network.channels) if load[c] > 0]

    # Rounded, so that channels of equal load keep the network's order.
    def key(c: int) -> tuple[bool, float, int, int]:
        return group[c] is not Group.TRUNK, -float(f"{load[c]:.6e}"), order.index(group[c]), c

    shown = sorted(used, key=key)[:most]
    shown.sort(key=lambda c: (order.index(group[c]), -float(f"{load[c]:.6e}"), c))
    return Choice(shown, [group[c] for c in shown], len(used) - len(shown))


def utilisation_of(simulation: Simulation, network: Network, channel: int) -> float:
    """Bytes carried over what the channel could have carried in the whole time; 0 to 1."""
    if simulation.seconds <= 0:
        return 0.0
    return float(simulation.channel_bytes[channel]) / (network.rate(channel) * simulation.seconds)


def bound_seconds(simulation: Simulation, network: Network) -> float:
    """The time that the busiest channel needs for its bytes alone: no schedule is faster."""
    carried = simulation.channel_bytes
    return max((float(carried[c]) / network.rate(c) for c in range(network.channels)), default=0.0)
