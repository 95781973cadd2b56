"""Components: parts of a network that no path joins. Slurm's files may have several roots."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hocket.errors import NetworkError, Where
from hocket.network.description import NetworkDescription
from hocket.network.source import shown

REMEDY = "name hosts of one: 'hocket network convert NETWORK --hosts HOSTS -o FILE.toml'"


def components_of(description: NetworkDescription) -> list[NetworkDescription]:
    """The parts, in the order of their first nodes; the description itself where it is in one piece.

    A part without hosts is a mistake, so is a host that nothing is wired to, and so is a gap in a network with
    forwarding tables: they stay as they are, for the core to refuse.
    """
    if description.shape not in ("tree", "graph") or description.forwarding is not None:
        return [description]
    if description.wiring is not None:
        return [description]  # all families are in one piece
    if description.shape == "tree" and len(description.links) >= len(description.nodes) - 1:
        return [description]  # in one piece, or with a circle
    parts = _parts(description)
    if len(parts) == 1 or not all(part.hosts and part.links for part in parts):
        return [description]
    parts[0].notes = description.notes
    return parts


def _parts(description: NetworkDescription) -> list[NetworkDescription]:
    beside: dict[str, list[str]] = {node.name: [] for node in description.nodes}
    for link in description.links:
        beside[link.a].append(link.b)
        beside[link.b].append(link.a)
    part_of: dict[str, NetworkDescription] = {}
    parts = []
    for first in beside:
        if first in part_of:
            continue
        part = NetworkDescription(source=description.source, shape=description.shape)
        parts.append(part)
        part_of[first] = part
        reached = [first]
        for name in reached:  # grows
            for other in beside[name]:
                if other not in part_of:
                    part_of[other] = part
                    reached.append(other)
    for node in description.nodes:
        part_of[node.name].nodes.append(node)
    for link in description.links:
        part_of[link.a].links.append(link)
    return parts


def component_with(components: Sequence[NetworkDescription], hosts: Collection[str]) -> NetworkDescription:
    """The one that has all these hosts; what is no host of the network at all does not count.

    Raises :class:`NetworkError` where there is none: nothing is ever sent over wires that nobody named.
    """
    if len(components) == 1:
        return components[0]
    wanted = set(hosts)
    found = [
        (component, here)
        for component in components
        if (here := [host.name for host in component.hosts if host.name in wanted])
    ]
    if len(found) == 1:
        return found[0][0]
    what, (one, other) = "", [component.hosts[0].name for component in components[:2]]
    if found:
        what, (one, other) = "the hosts are in several components: ", [here[0] for _, here in found[:2]]
    raise NetworkError(
        what
        + f"no path leads from {shown(one)} to {shown(other)}; the network has {len(components)} components",
        where=Where(components[0].source),
        remedy=REMEDY,
    )
