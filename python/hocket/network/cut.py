"""A part of a network: some of its hosts, and what lies between them."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import replace

from hocket._core import Network
from hocket.errors import NetworkError, Where
from hocket.network.description import NetworkDescription
from hocket.network.parts import MAX_ENTRIES, Forwarding, beside, without_dead_ends


def cut(description: NetworkDescription, names: Collection[str]) -> NetworkDescription:
    """The hosts ``names`` in the order of the description, and the switches on paths between them.

    Links keep their rates. Messages between these hosts take the paths that they take in the whole
    network: where others would be chosen in the part, it has forwarding tables. Raises
    :class:`NetworkError` for a grid or explicit routes, which have no such part.
    """
    if description.grid is not None or description.routing is not None:
        raise _whole(description)
    left = set(names)
    nodes = [
        node if node.name in left or not node.is_host else replace(node, ranks=0)
        for node in description.nodes
    ]
    kept = _between(replace(description, nodes=nodes))
    links = [index for index, link in enumerate(description.links) if link.a in kept and link.b in kept]
    part = NetworkDescription(
        [node for node in nodes if node.name in kept],
        [replace(description.links[index]) for index in links],
        description.source,
        description.shape,
    )
    if part.shape == "graph":
        whole = description.build()
        if whole.shape.name == "routed":  # other routes to a host from each: no table tells them
            raise _whole(description)
        _keep_routes(whole, part, links)
    return part


def _between(description: NetworkDescription) -> set[str]:
    """Names of the hosts, and of the switches that do not lead to a dead end."""
    hosts = {node.name for node in description.nodes if node.is_host}
    return set(without_dead_ends(beside(description.nodes, description.links), hosts))


def _keep_routes(whole: Network, part: NetworkDescription, links: Sequence[int]) -> None:
    """Gives ``part`` forwarding tables if without them its hosts' messages would go elsewhere. ``links`` are
    the numbers of its links in the whole network."""
    built = part.build()
    channel_of = {2 * old + way: 2 * new + way for new, old in enumerate(links) for way in (0, 1)}
    leaves = [end for link in built.links for end in link]  # of each channel, the node where it begins
    was, now = _first_ranks(whole), _first_ranks(built)
    number = {name: node for node, name in enumerate(built.names)}
    hops: dict[tuple[int, int], int] = {}
    differ = False
    for src, dst in itertools.permutations(now, 2):
        route = [channel_of[channel] for channel in whole.route(was[src], was[dst])]
        differ = differ or route != built.route(now[src], now[dst])
        hops.update(((leaves[channel], number[dst]), channel) for channel in route)
    if not differ:
        return
    if len(hops) > MAX_ENTRIES:
        raise NetworkError(
            f"the part needs more than {MAX_ENTRIES:,} forwarding entries to keep its routes",
            where=Where(part.source),
            remedy="name fewer hosts, or use the whole network",
        )
    entries = [(at, to, channel) for (at, to), channel in sorted(hops.items())]
    part.forwarding = Forwarding(part.source, list(entries), [0] * len(entries))


def _first_ranks(network: Network) -> dict[str, int]:
    """The first rank of every host, by the host's name."""
    ranks = network.ranks_per_node
    first = itertools.accumulate((ranks[host] for host in network.hosts), initial=0)
    return {network.name_of(host): rank for host, rank in zip(network.hosts, first, strict=False)}


def _whole(description: NetworkDescription) -> NetworkError:
    what = "the routes of this network are given one by one"
    if description.grid is not None:
        what = f"in a {description.grid.kind} messages travel through other hosts"
    return NetworkError(
        f"{what}, so that it cannot be cut",
        where=Where(description.source),
        remedy="use the whole network: a job may have any of its hosts",
    )
