"""Channels of each row of a picture: each channel is in exactly one row."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING

from hocket import _core
from hocket._core import Network, Simulation
from hocket.network.families import coordinates_of, dimension_of, sides_of
from hocket.network.parts import around, distances

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Group(Enum):
    """Position of a channel in the network."""

    SWITCH_LINK = "between switches"
    UP = "from hosts"
    DOWN = "to hosts"
    LINK = "channels"  # hosts are wired to each other, or the network is a list of routes


@dataclass(frozen=True)
class Band:
    """Channels of one kind, in the order of the picture's rows."""

    name: str
    channels: list[int]
    group: Group = Group.LINK


@dataclass(frozen=True)
class Row:
    """Channels of a band that share a row of the picture."""

    band: Band
    channels: list[int]


def group_of(links: list[tuple[int, int]], ranks: list[int], channel: int) -> Group:
    """Position of a channel, from the network's links and its ranks per node."""
    if not links:
        return Group.LINK
    source, sink = _ends(links, channel)
    if ranks[source] == 0 and ranks[sink] == 0:
        return Group.SWITCH_LINK
    if ranks[source] > 0 and ranks[sink] > 0:
        return Group.LINK
    return Group.UP if ranks[source] > 0 else Group.DOWN


def _ends(links: list[tuple[int, int]], channel: int) -> tuple[int, int]:
    a, b = links[channel // 2]
    return (a, b) if channel % 2 == 0 else (b, a)


def bands(network: Network) -> list[Band]:
    """Grids: by dimension and direction, the channels of a line of nodes next to each other. Other networks:
    by where a channel lies, those between switches also by level and direction."""
    if network.shape not in (_core.Shape.torus, _core.Shape.mesh, _core.Shape.hypercube):
        return _bands_by_level(network)
    sides = sides_of(network)
    found: dict[tuple[int, bool], list[tuple[list[int], int, int]]] = {}
    for link, ends in enumerate(network.links):
        first, dimension = coordinates_of(ends[0], sides), dimension_of(ends, sides)
        line = [x for d, x in enumerate(first) if d != dimension]
        # Links run from a coordinate to the next one.
        found.setdefault((dimension, True), []).append((line, first[dimension], 2 * link))
        found.setdefault((dimension, False), []).append((line, first[dimension], 2 * link + 1))
    return [
        Band(f"dimension {dimension + 1} {'up' if up else 'down'}", [c for *_, c in sorted(rows)])
        for (dimension, up), rows in sorted(found.items(), key=lambda item: (item[0][0], not item[0][1]))
    ]


def _bands_by_level(network: Network) -> list[Band]:
    links, ranks = network.links, network.ranks_per_node
    levels = node_levels(links, ranks)
    kinds: dict[tuple[Group, int, int], list[int]] = {}
    for channel in range(network.channels):
        group, pair = group_of(links, ranks, channel), (0, 0)
        if group is Group.SWITCH_LINK:
            source, sink = (levels[node] for node in _ends(links, channel))
            pair = (source, sink) if source != sink else (0, 0)
        kinds.setdefault((group, *pair), []).append(channel)
    order = list(Group)
    return [
        Band(f"switch level {source} → {sink}" if source != sink else group.value, channels, group)
        for (group, source, sink), channels in sorted(
            kinds.items(), key=lambda item: (order.index(item[0][0]), item[0][1:])
        )
    ]


def node_levels(links: list[tuple[int, int]], ranks: list[int]) -> list[int]:
    """Links from each node to the nearest host: 0 for hosts, 1 for leaf switches."""
    nodes = range(len(ranks))
    level = distances(around(nodes, links), (node for node in nodes if ranks[node]))
    return [level.get(node, -1) for node in nodes]


def share_out(network: Network, busy: NDArray[np.float64], most: int) -> list[Row]:
    """Divide all channels among at most ``most`` rows, but at least one row for each band.

    Bands with few channels have a row for each; others divide the rest into rows of nearly equal numbers
    of channels: in the band's order, or by ``busy``, their times, where the order says nothing.
    """
    found = bands(network)
    room, parts = most, {}
    for place, band in enumerate(sorted(found, key=lambda band: len(band.channels))):
        parts[band.name] = max(1, min(len(band.channels), room // (len(found) - place)))
        room -= parts[band.name]
    rows = []
    for band in found:
        channels, count = band.channels, parts[band.name]
        if band.name == Group.LINK.value and count < len(channels):
            # Rounded, so that channels of equal time keep the network's order.
            channels = sorted(channels, key=lambda c: (-float(f"{float(busy[c]):.6e}"), c))
        cuts = [len(channels) * part // count for part in range(count + 1)]
        rows += [Row(band, channels[a:b]) for a, b in pairwise(cuts)]
    return rows


def counts(rows: list[Row]) -> str:
    """Number of channels and of rows, as text."""
    channels = sum(len(row.channels) for row in rows)
    return f"{channels:,} channel{'s' * (channels != 1)} in {len(rows):,} row{'s' * (len(rows) != 1)}"


def label(network: Network, row: Row, most: int = 22) -> str:
    """The name of the row's first channel, cut in the middle if it is long, and how many more there are."""
    name = network.channel_name(row.channels[0]).replace("->", "→")
    more = f" +{len(row.channels) - 1:,} more" if len(row.channels) > 1 else ""
    room = most - len(more)
    return (name if len(name) <= room else f"{name[: room // 2 - 1]}…{name[-(room // 2) :]}") + more


def utilisation_of(simulation: Simulation, network: Network, channel: int) -> float:
    """Bytes carried over what the channel could have carried in the whole time; 0 to 1."""
    if simulation.seconds <= 0:
        return 0.0
    return float(simulation.channel_bytes[channel] / (network.rate(channel) * simulation.seconds))


def bound_seconds(simulation: Simulation, network: Network) -> float:
    """The time that the busiest channel needs for its bytes alone: no schedule on these routes is faster."""
    carried = simulation.channel_bytes
    return max([0.0, *(float(carried[c]) / float(network.rate(c)) for c in range(network.channels))])
