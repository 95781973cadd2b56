"""Trees that are told as the layers of network nodes above each host: by AWS, by labels of Kubernetes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hocket.network.description import NetworkDescription
from hocket.network.parts import Defaults, Link
from hocket.network.readers.json_files import Lines
from hocket.network.source import Source, shown

ROOT: Final = "root"


def layered(
    source: Source, hosts: Iterable[tuple[str, list[str]]], defaults: Defaults, what: str, again: str
) -> NetworkDescription:
    """A tree of ``hosts``, in their order, each with its network nodes from the top down; with a root above those at
    the top where there are several. ``what`` a network node is, and ``again`` the remedy, are for messages."""
    lines = Lines(source)
    result = NetworkDescription(source=source.name)
    above: dict[str, str] = {}  # of each network node; "" at the top
    for host, nodes in hosts:
        for upper, lower in zip(["", *nodes], nodes, strict=False):
            if above.setdefault(lower, upper) != upper:
                raise source.error(
                    f"{what} {shown(lower)} lies below {shown(above[lower])} and below {shown(upper)}",
                    lines.of(lower), again,
                )  # fmt: skip
        where = source.at(lines.of(host))
        result.add_host(host, defaults.ranks, where)
        result.links.append(Link(nodes[-1], host, defaults.rate, defaults.latency, where, False))
    tops = [node for node, upper in above.items() if not upper]
    for node, upper in above.items():
        where = source.at(lines.of(node))
        result.add_switch(node, where)
        if upper or len(tops) > 1:
            result.links.append(Link(upper or ROOT, node, defaults.rate, defaults.latency, where, False))
    if len(tops) > 1:
        result.add_switch(ROOT)
    return result
