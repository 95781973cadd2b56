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
        total = len(self.channels) + self.left_out
        return f"{self.left_out:,} of {total:,} channels left out, none busier than those shown of its kind"


def group_of(links: list[tuple[int, int]], ranks: list[int], channel: int) -> Group:
    """Where a channel lies, from the network's links and its ranks per node."""
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
    """At most ``most`` of the channels in use: first those between switches, then the other kinds alike."""
    links, ranks = network.links, network.ranks_per_node
    used = [c for c, carried in enumerate(simulation.channel_bytes) if carried > 0]
    # Rounded, so that channels of equal load keep the network's order.
    load = {c: float(f"{float(simulation.channel_bytes[c]) / network.rate(c):.6e}") for c in used}
    kinds: dict[Group, list[int]] = {group: [] for group in Group}
    for channel in sorted(used, key=lambda c: (-load[c], c)):
        kinds[group_of(links, ranks, channel)].append(channel)
    shown = {Group.TRUNK: kinds[Group.TRUNK][:most]}
    room = most - len(shown[Group.TRUNK])
    others = [group for group in Group if group is not Group.TRUNK and kinds[group]]
    for place, group in enumerate(others):
        shown[group] = kinds[group][: room // (len(others) - place)]
        room -= len(shown[group])
    channels = [c for group in Group for c in shown.get(group, [])]
    return Choice(channels, [group_of(links, ranks, c) for c in channels], len(used) - len(channels))


def label(network: Network, channel: int, most: int = 22) -> str:
    """The channel's name for a picture, cut in the middle if it is long."""
    name = network.channel_name(channel).replace("->", "→")
    return name if len(name) <= most else f"{name[: most // 2 - 1]}…{name[-most // 2 :]}"


def utilisation_of(simulation: Simulation, network: Network, channel: int) -> float:
    """Bytes carried over what the channel could have carried in the whole time; 0 to 1."""
    if simulation.seconds <= 0:
        return 0.0
    return float(simulation.channel_bytes[channel] / (network.rate(channel) * simulation.seconds))


def bound_seconds(simulation: Simulation, network: Network) -> float:
    """The time that the busiest channel needs for its bytes alone: no schedule is faster."""
    carried = simulation.channel_bytes
    return max([0.0, *(float(carried[c]) / float(network.rate(c)) for c in range(network.channels))])
