"""Amazon's instances: what ``aws ec2 describe-instance-topology`` prints (JSON).

An instance lies below three or four network nodes, from the top down; how fast links between these are is not told.
"""

from __future__ import annotations

import re
from typing import Final

from hocket.network.description import Defaults, Link, NetworkDescription
from hocket.network.json_files import Lines, entries, name, parse
from hocket.network.source import Source, shown

_SNIFFED: Final = re.compile(r'"NetworkNodes"\s*:')
_AGAIN: Final = "run 'aws ec2 describe-instance-topology' again, for instances of one availability zone"
ROOT: Final = "root"


def sniff(source: Source) -> bool:
    return source.is_file and source.text.lstrip()[:1] == "{" and _SNIFFED.search(source.text) is not None


def read(source: Source, defaults: Defaults) -> NetworkDescription:
    """A tree of network nodes, with a root above those at the top where there are several. Hosts are called by their
    instance ids and come in the order of the file."""
    found = parse(source)
    lines = Lines(source)
    result = NetworkDescription(source=source.name)
    above: dict[str, str] = {}  # of each network node; "" at the top
    for entry in entries(source, found.get("Instances") if isinstance(found, dict) else None, "Instances"):
        host = name(source, entry, "InstanceId")
        nodes = entry.get("NetworkNodes")
        if (
            not isinstance(nodes, list)
            or not nodes
            or not all(isinstance(node, str) and node for node in nodes)
        ):
            raise source.error(f"{shown(host)} has no NetworkNodes", lines.of(host), _AGAIN)
        for upper, lower in zip(["", *nodes], nodes, strict=False):
            if above.setdefault(lower, upper) != upper:
                raise source.error(
                    f"network node {shown(lower)} lies below {shown(above[lower])} and below {shown(upper)}",
                    lines.of(lower), _AGAIN,
                )  # fmt: skip
        where = source.at(lines.of(host))
        result.add_host(host, defaults.ranks, where)
        result.links.append(Link(nodes[-1], host, defaults.rate, defaults.latency, where, False))
    if not result.hosts:
        raise source.error("lists no instance", remedy=_AGAIN)
    tops = [node for node, upper in above.items() if not upper]
    for node, upper in above.items():
        where = source.at(lines.of(node))
        result.add_switch(node, where)
        if upper or len(tops) > 1:
            result.links.append(Link(upper or ROOT, node, defaults.rate, defaults.latency, where, False))
    if len(tops) > 1:
        result.add_switch(ROOT)
    return result
